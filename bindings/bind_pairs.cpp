#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrow.hpp"
#include "buffer.hpp"
#include "decisions.hpp"
#include "objects.hpp"
#include "pairs.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

constexpr const char* kFaultNames[kFaults] = {"missing", "fractional", "outside", "sum", "mixed", "unreadable"};

// An Arrow column from an object that offers the PyCapsule interface.
std::shared_ptr<const ArrowColumn> import_arrow(nb::handle source) {
  if (nb::hasattr(source, "__arrow_c_stream__")) {
    const nb::object capsule = source.attr("__arrow_c_stream__")();
    auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
    if (stream == nullptr) throw nb::python_error();
    if (stream->release == nullptr) throw nb::value_error("the Arrow stream was read before");
    ArrowSchema schema{};
    if (stream->get_schema(stream, &schema) != 0) throw nb::value_error("the Arrow stream has no schema");
    Owned<ArrowSchema> owned(&schema);
    std::vector<Owned<ArrowArray>> arrays;
    while (true) {
      ArrowArray array{};
      if (stream->get_next(stream, &array) != 0) throw nb::value_error("the Arrow stream ended with an error");
      if (array.release == nullptr) break;
      arrays.emplace_back(&array);
    }
    return std::make_shared<const ArrowColumn>(std::move(owned), std::move(arrays));
  }
  const nb::object pair = source.attr("__arrow_c_array__")();
  auto* schema = static_cast<ArrowSchema*>(PyCapsule_GetPointer(nb::object(pair[0]).ptr(), "arrow_schema"));
  auto* array = static_cast<ArrowArray*>(PyCapsule_GetPointer(nb::object(pair[1]).ptr(), "arrow_array"));
  if (schema == nullptr || array == nullptr) throw nb::python_error();
  if (schema->release == nullptr || array->release == nullptr) throw nb::value_error("the Arrow array was read before");
  std::vector<Owned<ArrowArray>> arrays;
  Owned<ArrowSchema> owned(schema);
  arrays.emplace_back(array);
  return std::make_shared<const ArrowColumn>(std::move(owned), std::move(arrays));
}

// One input of labels: what it holds on to, its rows, and its reader.
class Input {
 public:
  Input(nb::handle source, nb::handle normal, bool fractions) {
    if (PyList_Check(source.ptr()) || PyTuple_Check(source.ptr())) {
      rows_ = static_cast<std::size_t>(Py_SIZE(source.ptr()));  // a subclass may say anything about its length
      holds_objects_ = true;
      reader_ = std::make_unique<ObjectReader>(nb::borrow(source), nullptr, nb::borrow(normal), fractions);
    } else if (PyObject_CheckBuffer(source.ptr()) != 0) {
      from_buffer(source, normal, fractions);
    } else {
      const auto column = import_arrow(source);
      if (!column->readable()) throw nb::value_error("these Arrow data are not labels");
      rows_ = column->rows();
      if (const auto plain = column->plain()) {
        kept_ = column;
        reader_ = read_numbers(*plain, rows_, fractions);
      } else {
        reader_ = std::make_unique<ArrowReader>(column, fractions);
      }
    }
  }
  Input(nb::handle source, const Decision& decision) {
    numbers_.emplace(source);
    rows_ = numbers_->rows();
    auto columns = numbers_->columns();
    if (columns.empty()) throw nb::value_error("there are no columns");
    if (columns.size() == 2 && decision.positive > 2) throw nb::value_error("there is no such column");
    reader_ = std::make_unique<DecisionReader>(std::move(columns), decision);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input() {
    reader_.reset();
    if (exported_) PyBuffer_Release(&view_);
  }

  std::size_t rows() const { return rows_; }
  bool holds_objects() const { return holds_objects_; }
  LabelReader& reader() { return *reader_; }

 private:
  void from_buffer(nb::handle source, nb::handle normal, bool fractions) {
    if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_FULL_RO) != 0) throw nb::python_error();
    exported_ = true;
    const std::string format = view_.format == nullptr ? "B" : view_.format;
    if (view_.ndim != 1) throw_released("labels must have one dimension");
    rows_ = static_cast<std::size_t>(view_.shape[0]);
    if (format == "O") {
      holds_objects_ = true;
      reader_ = std::make_unique<ObjectReader>(nb::object(), &view_, nb::borrow(normal), fractions);
    } else if (format.back() == 'w' || format.back() == 's') {
      if (format[0] == '>') throw_released("texts must be in this machine's byte order");
      FixedTexts texts{static_cast<const char*>(view_.buf), view_.strides[0], static_cast<std::size_t>(view_.itemsize),
                       format.back() == 'w'};
      reader_ = std::make_unique<TextReader>(texts);
    } else {
      throw_if_unreadable(source);
      reader_ = read_numbers(numbers_->columns().front(), rows_, fractions);
    }
  }
  void throw_if_unreadable(nb::handle source) {
    try {
      numbers_.emplace(source);
    } catch (...) {
      PyBuffer_Release(&view_);
      exported_ = false;
      throw;
    }
  }
  [[noreturn]] void throw_released(const char* what) {
    PyBuffer_Release(&view_);  // a constructor that throws has no destructor
    exported_ = false;
    throw nb::value_error(what);
  }

  std::size_t rows_ = 0;
  bool holds_objects_ = false, exported_ = false;
  Py_buffer view_{};
  std::optional<Buffer> numbers_;
  std::shared_ptr<const ArrowColumn> kept_;
  std::unique_ptr<LabelReader> reader_;
};

nb::object to_python(const Label& label) {
  PyObject* out = nullptr;
  switch (label.form) {
    case Label::Form::integer: out = PyLong_FromLongLong(label.integer); break;
    case Label::Form::large: out = PyLong_FromUnsignedLongLong(static_cast<std::uint64_t>(label.integer)); break;
    case Label::Form::real:
      out = std::trunc(label.real) == label.real ? PyLong_FromDouble(label.real) : PyFloat_FromDouble(label.real);
      break;
    case Label::Form::utf8:
      out = PyUnicode_DecodeUTF8(label.text.data(), static_cast<Py_ssize_t>(label.text.size()), nullptr);
      break;
    case Label::Form::ucs4: {
      std::vector<Py_UCS4> characters(label.text.size() / 4);
      std::memcpy(characters.data(), label.text.data(), characters.size() * 4);
      for (const Py_UCS4 c : characters)
        if (c > 0x10ffff) throw nb::value_error("a string holds a number that is no character");
      out = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, characters.data(),
                                      static_cast<Py_ssize_t>(characters.size()));
      break;
    }
    case Label::Form::object: return nb::borrow(static_cast<PyObject*>(label.object));
  }
  if (out == nullptr) throw nb::python_error();
  return nb::steal(out);
}

// Labels that occur, in their order, and the place of each code among them.
struct Ordered {
  nb::list labels;
  std::vector<std::uint32_t> place;

  template <class Entries>
  Ordered(const LabelReader& reader, const Entries& entries, bool columns) : place(reader.size(), kNoLabel) {
    std::vector<std::uint32_t> used;
    for (const auto& e : entries) {
      const std::uint32_t code = columns ? e.column : e.row;
      if (place[code] != kNoLabel) continue;
      place[code] = 0;
      used.push_back(code);
    }
    reader.sort(used);
    for (std::size_t k = 0; k < used.size(); ++k) {
      place[used[k]] = static_cast<std::uint32_t>(k);
      labels.append(to_python(reader.label(used[k])));
    }
  }
};

nb::object to_python(Wide value) {
  const auto low = static_cast<std::uint64_t>(value), high = static_cast<std::uint64_t>(value >> 64);
  const nb::object bottom = nb::steal(PyLong_FromUnsignedLongLong(low));
  if (high == 0) return bottom;
  const nb::object top = nb::steal(PyLong_FromUnsignedLongLong(high)), shift = nb::steal(PyLong_FromLong(64));
  const nb::object shifted = nb::steal(PyNumber_Lshift(top.ptr(), shift.ptr()));
  return nb::steal(PyNumber_Or(shifted.ptr(), bottom.ptr()));
}

nb::bytes to_bytes(const std::vector<std::int64_t>& values) {
  return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t));
}

// What every count returns: labels of both sides, rows and columns of the cells, and their values.
template <class Cell, class Values>
nb::tuple result(Input& truth, Input& prediction, PairCounts<Cell>& found, Values&& values) {
  const Ordered y(truth.reader(), found.entries, false), p(prediction.reader(), found.entries, true);
  auto& entries = found.entries;
  for (auto& e : entries) {
    e.row = y.place[e.row];
    e.column = p.place[e.column];
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.row != b.row ? a.row < b.row : a.column < b.column; });
  std::vector<std::int64_t> rows, columns;
  rows.reserve(entries.size());
  columns.reserve(entries.size());
  for (const auto& e : entries) {
    rows.push_back(e.row);
    columns.push_back(e.column);
  }
  return nb::make_tuple(y.labels, p.labels, to_bytes(rows), to_bytes(columns), values(entries), truth.rows());
}

void list_faults(nb::list& out, int side, const Faults& faults) {
  for (std::size_t k = 0; k < kFaults; ++k)
    if (faults.entries[k].count != 0)
      out.append(nb::make_tuple(side, kFaultNames[k], faults.entries[k].count, faults.entries[k].first));
}

template <class Cell>
bool has_faults(const PairCounts<Cell>& found, nb::list& out) {
  list_faults(out, 0, found.truth);
  list_faults(out, 1, found.prediction);
  return out.size() != 0;
}

// Runs work without the interpreter's lock, unless a reader needs it.
template <class Work>
auto run(bool locked, Work&& work) {
  if (locked) return work();
  nb::gil_scoped_release release;
  return work();
}

using DecisionTuple = std::tuple<double, bool, bool, std::size_t>;

nb::object count(nb::handle truth, nb::handle prediction, nb::handle weight, bool fractions,
                 const std::optional<DecisionTuple>& decision, nb::handle normal) {
  Input y(truth, normal, fractions);
  std::optional<Input> p;
  if (decision) {
    const auto& [threshold, margin, normalize, positive] = *decision;
    p.emplace(prediction, Decision{threshold, margin, normalize, positive});
  } else {
    p.emplace(prediction, normal, fractions);
  }
  const std::size_t rows = y.rows();
  if (p->rows() != rows) throw nb::value_error("truth and prediction differ in length");
  const bool locked = y.holds_objects() || p->holds_objects();
  nb::list faults;
  if (weight.is_none()) {
    auto found = run(locked, [&] { return count_rows(y.reader(), p->reader(), rows); });
    if (has_faults(found, faults)) return faults;
    return result(y, *p, found, [](const auto& entries) {
      std::vector<std::int64_t> counts;
      counts.reserve(entries.size());
      for (const auto& e : entries) counts.push_back(static_cast<std::int64_t>(e.value));
      return nb::object(to_bytes(counts));
    });
  }
  const Buffer held(weight);
  const auto columns = held.columns();
  if (held.rows() != rows || columns.size() != 1) throw nb::value_error("weight must be one number per row");
  const WeightRange range = run(false, [&] { return range_of_weights(columns.front(), rows); });
  if (range.bad) return nb::none();
  const int unit = range.unit();
  const bool whole = range.whole;
  if (range.width(rows) < 128) {
    auto found = run(locked, [&] { return weigh_rows(y.reader(), p->reader(), rows, columns.front(), unit); });
    if (has_faults(found, faults)) return faults;
    return result(y, *p, found, [unit, whole](const auto& entries) {
      nb::list values;
      for (const auto& e : entries) values.append(to_python(e.value));
      return nb::object(nb::make_tuple(values, unit, whole));
    });
  }
  auto found = run(locked, [&] { return sum_rows(y.reader(), p->reader(), rows, columns.front()); });
  if (has_faults(found, faults)) return faults;
  return result(y, *p, found, [whole](auto& entries) {
    nb::list values;
    for (auto& e : entries) {
      unsigned char raw[ExactSum::kBytes];
      const auto written = e.value.write(raw);
      values.append(nb::make_tuple(nb::bytes(raw, written.length), 32 * written.skipped));
    }
    return nb::object(nb::make_tuple(values, nb::none(), whole));
  });
}

// Labels in their order, and the place of each row's label among them.
nb::object encode(nb::handle source, bool fractions, nb::handle normal) {
  Input input(source, normal, fractions);
  struct Entry {
    std::uint32_t row, column;
  };
  std::vector<std::int64_t> codes(input.rows());
  std::vector<Entry> used;
  run(input.holds_objects(), [&] {
    std::uint32_t block[kBlock];
    for (std::size_t first = 0; first < codes.size(); first += kBlock) {
      const std::size_t n = std::min(kBlock, codes.size() - first);
      input.reader().read(first, n, block);
      std::copy(block, block + n, codes.begin() + static_cast<std::ptrdiff_t>(first));
    }
    std::vector<bool> seen(input.reader().size());
    for (const std::int64_t code : codes) {
      if (code == kNoLabel || seen[static_cast<std::size_t>(code)]) continue;
      seen[static_cast<std::size_t>(code)] = true;
      used.push_back({static_cast<std::uint32_t>(code), 0});
    }
  });
  nb::list faults;
  list_faults(faults, 0, input.reader().faults);
  if (faults.size() != 0) return faults;
  const Ordered order(input.reader(), used, false);
  for (std::int64_t& code : codes) code = order.place[static_cast<std::size_t>(code)];
  return nb::make_tuple(order.labels, to_bytes(codes));
}

// What a decision makes of one column of numbers: 0 or 1 per row.
nb::object decide(nb::handle column, const DecisionTuple& decision) {
  const auto& [threshold, margin, normalize, positive] = decision;
  Input input(column, Decision{threshold, margin, normalize, positive});
  std::string out(input.rows(), '\0');
  {
    nb::gil_scoped_release release;
    std::uint32_t codes[kBlock];
    for (std::size_t first = 0; first < out.size(); first += kBlock) {
      const std::size_t n = std::min(kBlock, out.size() - first);
      input.reader().read(first, n, codes);
      for (std::size_t i = 0; i < n; ++i) out[first + i] = static_cast<char>(codes[i] == 1 ? 1 : 0);
    }
  }
  nb::list faults;
  list_faults(faults, 1, input.reader().faults);
  if (faults.size() != 0) return faults;
  return nb::bytes(out.data(), out.size());
}

// An array of int64.
std::vector<std::int64_t> read_places(nb::handle source) {
  const Buffer held(source);
  const auto columns = held.columns();
  if (columns.size() != 1 || columns.front().type != Type::i64) throw nb::value_error("places must be int64");
  std::vector<std::int64_t> out(held.rows());
  read_keys(columns.front(), 0, out.size(), out.data());
  return out;
}

// Sums of cells by class: what is right, what is true, what was predicted. A map tells the class of each label; none
// says that they are the same.
nb::tuple class_counts(nb::handle rows, nb::handle columns, nb::handle counts, nb::handle row_class,
                       nb::handle column_class, std::size_t classes) {
  const auto y = read_places(rows), p = read_places(columns), n = read_places(counts);
  if (p.size() != y.size() || n.size() != y.size()) throw nb::value_error("cells differ in length");
  std::vector<std::int64_t> maps[2];
  if (!row_class.is_none()) maps[0] = read_places(row_class);
  if (!column_class.is_none()) maps[1] = read_places(column_class);
  const bool mapped[2] = {!row_class.is_none(), !column_class.is_none()};
  const auto place = [&](std::size_t side, std::int64_t label) {
    const std::size_t known = mapped[side] ? maps[side].size() : classes;
    if (label < 0 || static_cast<std::size_t>(label) >= known) throw nb::value_error("no such label");
    const std::int64_t found = mapped[side] ? maps[side][static_cast<std::size_t>(label)] : label;
    if (found < 0 || static_cast<std::size_t>(found) >= classes) throw nb::value_error("no such class");
    return static_cast<std::size_t>(found);
  };
  std::vector<std::int64_t> right(classes), truth(classes), predicted(classes);
  for (std::size_t k = 0; k < y.size(); ++k) {
    const std::size_t true_class = place(0, y[k]), said = place(1, p[k]);
    truth[true_class] += n[k];
    predicted[said] += n[k];
    if (true_class == said) right[said] += n[k];
  }
  const auto to_list = [](const std::vector<std::int64_t>& values) {
    nb::list out;
    for (const std::int64_t v : values) out.append(v);
    return out;
  };
  return nb::make_tuple(to_list(right), to_list(truth), to_list(predicted));
}

// How many columns of each row lie strictly above the one at its place.
nb::bytes count_above(nb::handle table, nb::handle places) {
  const Buffer held(table);
  const auto columns = held.columns();
  const auto at = read_places(places);
  if (at.size() != held.rows()) throw nb::value_error("table and places differ in length");
  for (const std::int64_t place : at)
    if (place < 0 || static_cast<std::size_t>(place) >= columns.size()) throw nb::value_error("no such column");
  std::vector<std::int64_t> above(at.size());
  {
    nb::gil_scoped_release release;
    const std::size_t blocks = (at.size() + kBlock - 1) / kBlock;
    for_ranges(blocks, threads_for(at.size() * columns.size()), [&](std::size_t, std::size_t first, std::size_t last) {
      std::vector<double> block(columns.size() * kBlock);
      for (std::size_t b = first; b < last; ++b) {
        const std::size_t row = b * kBlock, n = std::min(kBlock, at.size() - row);
        for (std::size_t k = 0; k < columns.size(); ++k) read_rows(columns[k], row, n, &block[k * kBlock]);
        for (std::size_t i = 0; i < n; ++i) {
          const double own = block[static_cast<std::size_t>(at[row + i]) * kBlock + i];
          std::int64_t count = 0;
          for (std::size_t k = 0; k < columns.size(); ++k) count += block[k * kBlock + i] > own ? 1 : 0;
          above[row + i] = count;
        }
      }
    });
  }
  return to_bytes(above);
}

}  // namespace

void bind_pairs(nb::module_& m) {
  m.def(
      "count_pairs", &count, nb::arg("truth"), nb::arg("prediction"), nb::arg("weight").none(), nb::arg("fractions"),
      nb::arg("decision").none(), nb::arg("normal"),
      nb::sig(
          "def count_pairs(truth: object, prediction: object, weight: object | None, fractions: bool, "
          "decision: tuple[float, bool, bool, int] | None, normal: object) -> "
          "tuple[list[int | float | str], list[int | float | str], bytes, bytes, object, int] | list[tuple[int, str, "
          "int, int]] | None"),
      "Count the pairs of labels.\n\nLabels of both sides in order, rows and columns of the cells (int64), and counts\n"
      "(int64), or weights, their unit and whether each is whole; and the number of rows.\n\nA list of (side, fault, "
      "count, first row) if labels must be refused; "
      "None "
      "if a weight must.");
  m.def("encode_labels", &encode, nb::arg("source"), nb::arg("fractions"), nb::arg("normal"),
        nb::sig("def encode_labels(source: object, fractions: bool, normal: object) -> "
                "tuple[list[int | float | str], bytes] | list[tuple[int, str, int, int]]"),
        "The labels of a column in order, and the place of each row's label among them (int64).\n\nA list of (side, "
        "fault, count, first row) if labels must be refused.");
  m.def(
      "decide", &decide, nb::arg("column"), nb::arg("decision"),
      nb::sig("def decide(column: object, decision: tuple[float, bool, bool, int]) -> "
              "bytes | list[tuple[int, str, int, int]]"),
      "Whether each row of a column of probabilities or margins reaches the threshold: a byte of 0 or 1 per row.\n\nA "
      "list of (side, fault, count, first row) if rows must be refused.");
  m.def("class_counts", &class_counts, nb::arg("rows"), nb::arg("columns"), nb::arg("counts"),
        nb::arg("row_class").none(), nb::arg("column_class").none(), nb::arg("classes"),
        nb::sig("def class_counts(rows: object, columns: object, counts: object, row_class: object | None, "
                "column_class: object | None, classes: int) -> tuple[list[int], list[int], list[int]]"),
        "Sum cells by class: what is right, what is true, what was predicted.");
  m.def("count_above", &count_above, nb::arg("table"), nb::arg("places"),
        nb::sig("def count_above(table: object, places: object) -> bytes"),
        "How many columns of each row lie strictly above the one at its place (int64).");
}

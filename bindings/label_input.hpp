// What a caller holds, as labels that the core can read: lists, arrays, Arrow columns, numbers to decide on. And the
// way back: labels, places and faults as Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrow.hpp"
#include "buffer.hpp"
#include "decisions.hpp"
#include "objects.hpp"
#include "own_copy.hpp"

namespace tallymark {

namespace nb = nanobind;

using DecisionTuple = std::tuple<double, bool, bool, std::size_t, bool>;

// An Arrow column from an object that offers the PyCapsule interface.
inline std::shared_ptr<const ArrowColumn> import_arrow(nb::handle source) {
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

// A buffer that an object exports, given back when nobody holds it any more.
class View {
 public:
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() {
    if (held_) PyBuffer_Release(&view_);
  }
  const Py_buffer& hold(nb::handle source) {
    if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_FULL_RO) != 0) throw nb::python_error();
    held_ = true;
    return view_;
  }

 private:
  Py_buffer view_{};
  bool held_ = false;
};

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

  std::size_t rows() const { return rows_; }
  bool holds_objects() const { return holds_objects_; }
  LabelReader& reader() { return *reader_; }

 private:
  void from_buffer(nb::handle source, nb::handle normal, bool fractions) {
    const Py_buffer& view = view_.hold(source);
    const std::string format = view.format == nullptr ? "B" : view.format;
    if (view.ndim != 1) throw nb::value_error("labels must have one dimension");
    rows_ = static_cast<std::size_t>(view.shape[0]);
    if (format == "O") {
      holds_objects_ = true;
      reader_ = std::make_unique<ObjectReader>(nb::object(), &view, nb::borrow(normal), fractions);
    } else if (format.back() == 'w' || format.back() == 's') {
      if (format[0] == '>') throw nb::value_error("texts must be in this machine's byte order");
      FixedTexts texts{static_cast<const char*>(view.buf), view.strides[0], static_cast<std::size_t>(view.itemsize),
                       format.back() == 'w'};
      reader_ = std::make_unique<TextReader>(texts);
    } else {
      numbers_.emplace(source);
      if (numbers_->rows() != rows_ || numbers_->columns().size() != 1) throw InputChanged("labels of another shape");
      reader_ = read_numbers(numbers_->columns().front(), rows_, fractions);
    }
  }
  std::size_t rows_ = 0;
  bool holds_objects_ = false;
  View view_;
  std::optional<Buffer> numbers_;
  std::shared_ptr<const ArrowColumn> kept_;
  std::unique_ptr<LabelReader> reader_;
};

inline nb::object to_python(const Label& label) {
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
      for (std::size_t i = 0; i < label.text.size(); i += 4) {
        Py_UCS4 c;
        std::memcpy(&c, label.text.data() + i, 4);
        if (c > 0x10ffff) throw nb::value_error("a string holds a number that is no character");
      }
      int order = std::endian::native == std::endian::little ? -1 : 1;
      out =
          PyUnicode_DecodeUTF32(label.text.data(), static_cast<Py_ssize_t>(label.text.size()), "surrogatepass", &order);
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

// Bytes that are still to be written, for this many items. A view can claim more rows than any memory holds.
inline nb::object new_bytes(std::size_t count, std::size_t item_size) {
  if (item_size != 0 && count > static_cast<std::size_t>(PY_SSIZE_T_MAX) / 2 / item_size) throw std::bad_alloc();
  nb::object out = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(count * item_size)));
  if (!out.is_valid()) throw nb::python_error();
  return out;
}

inline nb::bytes to_bytes(const std::vector<std::int64_t>& values) {
  return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t));
}

// An array of int64.
inline std::vector<std::int64_t> read_places(nb::handle source) {
  const Buffer held(source);
  const auto columns = held.columns();
  if (columns.size() != 1 || columns.front().type != Type::i64) throw nb::value_error("places must be int64");
  std::vector<std::int64_t> out(held.rows());
  read_keys(columns.front(), 0, out.size(), out.data());
  return out;
}

inline constexpr const char* kFaultNames[kFaults] = {"missing", "fractional", "outside",  "sum",
                                                     "mixed",   "unreadable", "malformed"};

inline void list_faults(nb::list& out, int side, const Faults& faults) {
  for (std::size_t k = 0; k < kFaults; ++k)
    if (faults.entries[k].count != 0)
      out.append(nb::make_tuple(side, kFaultNames[k], faults.entries[k].count, faults.entries[k].first));
}

// Runs work without the interpreter's lock, unless a reader needs it.
template <class Work>
auto run(bool locked, Work&& work) {
  if (locked) return work();
  nb::gil_scoped_release release;
  return work();
}

}  // namespace tallymark

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "label_input.hpp"
#include "pairs.hpp"
#include "wide.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

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

template <class Cell>
bool has_faults(const PairCounts<Cell>& found, nb::list& out) {
  list_faults(out, 0, found.truth);
  list_faults(out, 1, found.prediction);
  return out.size() != 0;
}

nb::object count(nb::handle truth, nb::handle prediction, nb::handle weight, bool fractions,
                 const std::optional<DecisionTuple>& decision, nb::handle normal) {
  Input y(truth, normal, fractions);
  std::optional<Input> p;
  if (decision) {
    const auto& [threshold, margin, normalize, positive, by_margin] = *decision;
    p.emplace(prediction, Decision{threshold, margin, normalize, positive, by_margin});
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
    auto found = run(locked, [&] { return weigh_rows(y.reader(), p->reader(), rows, columns.front(), range); });
    if (has_faults(found, faults)) return faults;
    return result(y, *p, found, [unit, whole](const auto& entries) {
      nb::list values;
      for (const auto& e : entries) values.append(to_python(e.value));
      return nb::object(nb::make_tuple(values, unit, whole));
    });
  }
  auto found = run(locked, [&] { return sum_rows(y.reader(), p->reader(), rows, columns.front(), range); });
  if (has_faults(found, faults)) return faults;
  return result(y, *p, found, [whole](auto& entries) {
    nb::list values;
    for (auto& e : entries) values.append(to_python(e.value));
    return nb::object(nb::make_tuple(values, nb::none(), whole));
  });
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

}  // namespace

void bind_pairs(nb::module_& m) {
  m.def(
      "count_pairs", &count, nb::arg("truth"), nb::arg("prediction"), nb::arg("weight").none(), nb::arg("fractions"),
      nb::arg("decision").none(), nb::arg("normal"),
      nb::sig(
          "def count_pairs(truth: object, prediction: object, weight: object | None, fractions: bool, "
          "decision: tuple[float, bool, bool, int, bool] | None, normal: object) -> "
          "tuple[list[int | float | str], list[int | float | str], bytes, bytes, object, int] | list[tuple[int, str, "
          "int, int]] | None"),
      "Count the pairs of labels.\n\nLabels of both sides in order, rows and columns of the cells (int64), and counts\n"
      "(int64), or weights, their unit and whether each is whole; and the number of rows.\n\nA list of (side, fault, "
      "count, first row) if labels must be refused; "
      "None "
      "if a weight must.");
  m.def("class_counts", &class_counts, nb::arg("rows"), nb::arg("columns"), nb::arg("counts"),
        nb::arg("row_class").none(), nb::arg("column_class").none(), nb::arg("classes"),
        nb::sig("def class_counts(rows: object, columns: object, counts: object, row_class: object | None, "
                "column_class: object | None, classes: int) -> tuple[list[int], list[int], list[int]]"),
        "Sum cells by class: what is right, what is true, what was predicted.");
}

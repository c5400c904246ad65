#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "array.hpp"
#include "bins.hpp"
#include "label_input.hpp"
#include "probabilities.hpp"
#include "wide.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

using Rows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kMostClasses = 1 << 16;  // more are better looked up
constexpr std::size_t kMostBins = 1 << 20;

nb::list read_columns(nb::handle source, nb::handle places, bool margin, bool normalize, std::size_t positive,
                      const std::vector<int>& wanted, const Rows& out) {
  const Buffer held(source);
  const Array<std::int64_t> place(places, "places");
  ProbabilityTable table{held.columns(), place.data(), held.rows(), margin, normalize, positive};
  const std::size_t count = table.columns.size();
  if (count < 2) throw nb::value_error("there must be two columns or more");
  if (place.size() != table.rows) throw nb::value_error("table and places differ in length");
  if (positive >= count) throw nb::value_error("no such column");
  if (out.shape(0) != wanted.size() || out.shape(1) != table.rows)
    throw nb::value_error("out must have one row per quantity and one column per row of the table");
  std::vector<Wanted> all;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (wanted[k] < 0 || wanted[k] >= kQuantities) throw nb::value_error("no such quantity");
    if (count == 2 && margin && wanted[k] != static_cast<int>(Quantity::positive))
      throw nb::value_error("margins of two columns have the probability of the positive one only");
    all.push_back({static_cast<Quantity>(wanted[k]), out.data() + k * table.rows});
  }
  Faults faults;
  {
    nb::gil_scoped_release release;
    faults = read_probabilities(table, all);
  }
  nb::list found;
  list_faults(found, 1, faults);
  return found;
}

nb::object present(nb::handle places, std::size_t count) {
  const Array<std::int64_t> place(places, "places");
  if (count > kMostClasses) return nb::none();
  std::vector<bool> found;
  {
    nb::gil_scoped_release release;
    found = classes_present(place.data(), place.size(), count);
  }
  if (found.empty()) return nb::none();
  nb::list out;
  for (const bool seen : found) out.append(nb::bool_(seen));
  return out;
}

// Every probability of a table, one row of out per column.
nb::list read_all(nb::handle source, bool margin, bool normalize, const Rows& out) {
  const Buffer held(source);
  const ProbabilityTable table{held.columns(), nullptr, held.rows(), margin, normalize, 0};
  if (table.columns.size() < 3) throw nb::value_error("there must be three columns or more");
  if (out.shape(0) != table.columns.size() || out.shape(1) != table.rows)
    throw nb::value_error("out must have one row per column and one column per row of the table");
  Faults faults;
  {
    nb::gil_scoped_release release;
    faults = read_probabilities(table, {{Quantity::each, out.data()}});
  }
  nb::list found;
  list_faults(found, 1, faults);
  return found;
}

bool squash_column(nb::handle margins, const Rows& out) {
  const Buffer held(margins);
  const auto columns = held.columns();
  if (columns.size() != 1) throw nb::value_error("there must be one column");
  if (out.shape(0) != 1 || out.shape(1) != held.rows()) throw nb::value_error("out must have one column per row");
  nb::gil_scoped_release release;
  return read_margins(columns.front(), held.rows(), out.data());
}

nb::list bin_rows(nb::handle truth, nb::handle probability, nb::handle weight, std::size_t bins) {
  const Buffer y(truth), p(probability);
  std::optional<Buffer> w;
  const auto column = [](const Buffer& held) {
    const auto columns = held.columns();
    if (columns.size() != 1) throw nb::value_error("there must be one column");
    return columns.front();
  };
  BinTable table;
  table.truth = column(y);
  table.probability = column(p);
  table.rows = y.rows();
  if (p.rows() != table.rows) throw nb::value_error("truth and probability differ in length");
  if (bins < 1 || bins > kMostBins) throw nb::value_error("no such number of bins");
  if (!weight.is_none()) {
    w.emplace(weight);
    table.weight = column(*w);
    table.weighted = true;
    if (w->rows() != table.rows) throw nb::value_error("truth and weight differ in length");
  }
  std::vector<Bin> found;
  {
    nb::gil_scoped_release release;
    found = total_bins(table, bins);
  }
  nb::list out;
  for (Bin& b : found) out.append(nb::make_tuple(to_python(b.weight), to_python(b.probability), to_python(b.happened)));
  return out;
}

}  // namespace

void bind_probabilities(nb::module_& m) {
  m.def("read_probabilities", &read_columns, nb::arg("table"), nb::arg("places"), nb::arg("margin"),
        nb::arg("normalize"), nb::arg("positive"), nb::arg("wanted"), nb::arg("out").noconvert(),
        nb::sig("def read_probabilities(table: object, places: object, margin: bool, normalize: bool, positive: int, "
                "wanted: list[int], out: object) -> list[tuple[int, str, int, int]]"),
        "Write what is wanted of every row of probabilities, one quantity per row of out (float64).\n\n"
        "A list of (side, fault, count, first row) if rows must be refused, else an empty one.");
  m.def("classes_present", &present, nb::arg("places"), nb::arg("count"),
        nb::sig("def classes_present(places: object, count: int) -> list[bool] | None"),
        "Which of the classes 0 to count - 1 occur (int64); None if there is any other number.");
  m.def("read_margins", &squash_column, nb::arg("margins"), nb::arg("out").noconvert(),
        nb::sig("def read_margins(margins: object, out: object) -> bool"),
        "Write what the sigmoid makes of a column to the one row of out (float64); whether all margins are finite.");
  m.def("read_probability_columns", &read_all, nb::arg("table"), nb::arg("margin"), nb::arg("normalize"),
        nb::arg("out").noconvert(),
        nb::sig("def read_probability_columns(table: object, margin: bool, normalize: bool, out: object) -> "
                "list[tuple[int, str, int, int]]"),
        "Write every probability, one row of out (float64) per column: of margins by softmax, of others divided by "
        "their sum.\n\nA list of (side, fault, count, first row) if rows must be refused, else an empty one.");
  m.def("total_bins", &bin_rows, nb::arg("truth"), nb::arg("probability"), nb::arg("weight").none(), nb::arg("bins"),
        nb::sig("def total_bins(truth: object, probability: object, weight: object | None, bins: int) -> "
                "list[tuple[tuple[bytes, int], tuple[bytes, int], tuple[bytes, int]]]"),
        "Per bin of equal width the exact totals of weight, probability and what happened, each as bytes and a shift.");
}

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "array.hpp"
#include "label_input.hpp"
#include "ranking.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

constexpr double kMostExponential = 1000.0;

// A total as the bytes of an integer and how many bits they are shifted by.
nb::tuple written(ExactSum sum) {
  unsigned char raw[ExactSum::kBytes];
  const auto done = sum.write(raw);
  return nb::make_tuple(nb::bytes(raw, done.length), 32 * done.skipped);
}

Rankings rank(nb::handle relevance, nb::handle score, nb::handle codes, std::size_t queries, nb::handle weights,
              bool stable) {
  const Array<double> gains(relevance, "relevance"), scores(score, "score");
  const std::size_t n = gains.size();
  if (scores.size() != n) throw nb::value_error("relevance and score differ in length");
  if (queries > n || (codes.is_none() && (queries == 0 ? n != 0 : n % queries != 0)))
    throw nb::value_error("rows must divide into queries");
  std::optional<Array<std::int64_t>> places;
  if (!codes.is_none()) {
    places.emplace(codes, "codes");
    if (places->size() != n) throw nb::value_error("codes and score differ in length");
  }
  std::optional<Array<double>> heavy;
  if (!weights.is_none()) {
    heavy.emplace(weights, "weights");
    if (heavy->size() != queries) throw nb::value_error("weights must be one per query");
    for (std::size_t q = 0; q < queries; ++q)
      if (!(heavy->data()[q] >= 0.0 && heavy->data()[q] < HUGE_VAL))
        throw nb::value_error("weights must be finite and not negative");
  }
  const QueryRows rows{
      gains.data(), scores.data(), places ? places->data() : nullptr, heavy ? heavy->data() : nullptr, n, queries};
  nb::gil_scoped_release release;
  return Rankings(rows, stable);
}

nb::tuple total(const Rankings& rankings, int measure, double k, bool exponential, bool strict) {
  if (measure < 0 || measure >= kMeasures) throw nb::value_error("no such measure");
  if (!(k >= 1.0)) throw nb::value_error("k must be at least 1");
  if (exponential && rankings.highest > kMostExponential) throw nb::value_error("relevance must be at most 1000");
  ExactSum sum;
  {
    nb::gil_scoped_release release;
    sum = rankings.total({static_cast<Measure>(measure), k, exponential, strict});
  }
  return written(sum);
}

// Reads any numbers as float64 into a bytes object, row by row, and finds the lowest and the highest.
nb::object read_table(nb::handle table) {
  const Buffer held(table);
  const auto columns = held.columns();
  const std::size_t n = held.rows(), width = columns.size();
  const nb::object out = new_bytes(n, width * sizeof(double));
  auto* at = reinterpret_cast<double*>(PyBytes_AsString(out.ptr()));
  double low = HUGE_VAL, high = -HUGE_VAL;
  bool finite = true;
  {
    nb::gil_scoped_release release;
    double block[kBlock];
    for (std::size_t first = 0; first < n; first += kBlock) {
      const std::size_t rows = std::min(kBlock, n - first);
      for (std::size_t k = 0; k < width; ++k) {
        read_rows(columns[k], first, rows, block);
        for (std::size_t i = 0; i < rows; ++i) {
          low = block[i] < low ? block[i] : low;
          high = block[i] > high ? block[i] : high;
          finite = finite && magnitude(block[i]) < kInfinity;
        }
        if (width == 1)
          std::copy(block, block + rows, at + first);
        else
          for (std::size_t i = 0; i < rows; ++i) at[(first + i) * width + k] = block[i];
      }
    }
  }
  if (!finite) return nb::none();
  return nb::make_tuple(out, low, high);
}

}  // namespace

void bind_ranking(nb::module_& m) {
  m.def("read_table", &read_table, nb::arg("table"),
        nb::sig("def read_table(table: object) -> tuple[bytes, float, float] | None"),
        "Numbers as float64, row by row, with the lowest and the highest; None if one is not finite.");
  nb::class_<Rankings>(m, "Rankings", "Rows brought together by query and sorted by score.")
      .def(
          "__init__",
          [](Rankings* self, nb::handle relevance, nb::handle score, nb::handle codes, std::size_t queries,
             nb::handle weights,
             bool stable) { new (self) Rankings(rank(relevance, score, codes, queries, weights, stable)); },
          nb::arg("relevance"), nb::arg("score"), nb::arg("codes").none(), nb::arg("queries"),
          nb::arg("weights").none(), nb::arg("stable"),
          nb::sig("def __init__(self, relevance: numpy.typing.NDArray[numpy.float64], score: "
                  "numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64] | None, queries: int, "
                  "weights: numpy.typing.NDArray[numpy.float64] | None, stable: bool) -> None"),
          "Codes name the query of each row; without them all queries have as many rows. Weights are per query.")
      .def("total", &total, nb::arg("measure"), nb::arg("k"), nb::arg("exponential"), nb::arg("strict"),
           nb::sig("def total(self, measure: int, k: float, exponential: bool, strict: bool) -> tuple[bytes, int]"),
           "The exact total of weight times measure over queries with a relevant row, as bytes and a shift.\n\nIf "
           "strict, rows of equal scores are taken in their order; else the measure is the mean over all orders.")
      .def_prop_ro(
          "counts", [](const Rankings& r) { return nb::make_tuple(r.present, r.absent, r.single); },
          nb::sig("def counts(self) -> tuple[int, int, int]"),
          "Queries with a relevant row, those without, and those of the former that have one row only.")
      .def_prop_ro(
          "weights",
          [](const Rankings& r) { return nb::make_tuple(written(r.present_weight), written(r.absent_weight)); },
          nb::sig("def weights(self) -> tuple[tuple[bytes, int], tuple[bytes, int]]"),
          "The exact weights of queries with and without a relevant row, where there are weights.")
      .def_ro("highest", &Rankings::highest, "The highest relevance.");
}

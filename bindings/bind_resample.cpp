#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <memory>
#include <optional>

#include "array.hpp"
#include "resample.hpp"
#include "resampled_cells.hpp"
#include "resampled_ranks.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

template <class T, int dimensions>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<dimensions>>;

constexpr std::size_t kMostNumbers = std::size_t{1} << 40;  // that anybody could hold
constexpr std::size_t kMostResamples = std::size_t{1} << 24;

// An array of this shape that `fill` writes without the interpreter's lock.
template <class T, int dimensions, class Fill>
Out<T, dimensions> filled(std::initializer_list<std::size_t> shape, Fill&& fill) {
  std::size_t size = 1;
  for (const std::size_t side : shape) size *= side;
  auto out = std::make_unique_for_overwrite<T[]>(size);
  {
    nb::gil_scoped_release release;
    fill(out.get());
  }
  const nb::capsule owner(out.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Out<T, dimensions>(out.release(), shape, owner);
}

Out<std::uint8_t, 1> counts_of_keys(std::uint64_t seed, std::uint64_t replicate, nb::handle keys) {
  const Array<std::uint64_t> held(keys, "keys");
  return filled<std::uint8_t, 1>({held.size()},
                                 [&](auto* out) { poisson_counts(seed, replicate, held.data(), 0, held.size(), out); });
}

Out<std::uint8_t, 1> counts_of_places(std::uint64_t seed, std::uint64_t replicate, std::uint64_t first,
                                      std::size_t rows) {
  if (rows > kMostNumbers) throw nb::value_error("there are too many rows");
  return filled<std::uint8_t, 1>({rows},
                                 [&](auto* out) { poisson_counts(seed, replicate, nullptr, first, rows, out); });
}

template <auto kWalk>
Out<double, 1> areas(nb::handle keys, nb::handle steps, nb::handle weights, std::uint64_t seed, std::uint64_t first,
                     std::size_t resamples) {
  const Array<std::uint64_t> key(keys, "keys");
  const Array<std::uint8_t> step(steps, "steps");
  std::optional<Array<double>> weight;
  if (!weights.is_none()) weight.emplace(weights, "weights");
  const RankedRows rows{key.data(), step.data(), weight ? weight->data() : nullptr, key.size()};
  if (step.size() != rows.n || (weight && weight->size() != rows.n))
    throw nb::value_error("keys, steps and weights differ in length");
  if (rows.n > kMostRankedRows || resamples > kMostResamples)
    throw nb::value_error("there are too many rows or resamples");
  return filled<double, 1>({resamples}, [&](auto* out) { kWalk(rows, seed, first, resamples, out); });
}

Out<std::int64_t, 2> cells(nb::handle cells, std::size_t count, nb::handle keys, std::uint64_t seed,
                           std::uint64_t first, std::size_t resamples) {
  const Array<std::int64_t> cell(cells, "cells");
  std::optional<Array<std::uint64_t>> key;
  if (!keys.is_none()) key.emplace(keys, "keys");
  const CellRows rows{key ? key->data() : nullptr, cell.data(), cell.size(), count};
  if (key && key->size() != rows.n) throw nb::value_error("cells and keys differ in length");
  if (rows.n > kMostCellRows || count > kMostCells || resamples > kMostResamples)
    throw nb::value_error("there are too many rows, cells or resamples");
  return filled<std::int64_t, 2>({resamples, count},
                                 [&](auto* out) { resampled_cells(rows, seed, first, resamples, out); });
}

}  // namespace

void bind_resample(nb::module_& m) {
  m.def("poisson_counts", &counts_of_keys, nb::arg("seed"), nb::arg("replicate"), nb::arg("keys"),
        nb::sig("def poisson_counts(seed: int, replicate: int, keys: numpy.typing.NDArray[numpy.uint64]) -> "
                "numpy.typing.NDArray[numpy.uint8]"),
        "How often the rows with these keys count in a replicate of the bootstrap.");
  m.def("poisson_counts_of_places", &counts_of_places, nb::arg("seed"), nb::arg("replicate"), nb::arg("first"),
        nb::arg("rows"),
        nb::sig("def poisson_counts_of_places(seed: int, replicate: int, first: int, rows: int) -> "
                "numpy.typing.NDArray[numpy.uint8]"),
        "The same where the key of a row is its place: first, first + 1, …");
  m.def("resampled_areas", &areas<resampled_areas>, nb::arg("keys"), nb::arg("steps"), nb::arg("weights").none(),
        nb::arg("seed"), nb::arg("first"), nb::arg("resamples"),
        nb::sig("def resampled_areas(keys: numpy.typing.NDArray[numpy.uint64], steps: "
                "numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float64] | None, seed: int, "
                "first: int, resamples: int) -> numpy.typing.NDArray[numpy.float64]"),
        "The area under the ROC curve in every replicate, of rows in the order of their scores.");
  m.def("resampled_precision", &areas<resampled_precision>, nb::arg("keys"), nb::arg("steps"),
        nb::arg("weights").none(), nb::arg("seed"), nb::arg("first"), nb::arg("resamples"),
        nb::sig("def resampled_precision(keys: numpy.typing.NDArray[numpy.uint64], steps: "
                "numpy.typing.NDArray[numpy.uint8], weights: numpy.typing.NDArray[numpy.float64] | None, seed: int, "
                "first: int, resamples: int) -> numpy.typing.NDArray[numpy.float64]"),
        "The area under the steps of precision by recall in every replicate, of rows from the highest score down.");
  m.def("resampled_cells", &cells, nb::arg("cells"), nb::arg("count"), nb::arg("keys").none(), nb::arg("seed"),
        nb::arg("first"), nb::arg("resamples"),
        nb::sig("def resampled_cells(cells: numpy.typing.NDArray[numpy.int64], count: int, keys: "
                "numpy.typing.NDArray[numpy.uint64] | None, seed: int, first: int, resamples: int) -> "
                "numpy.typing.NDArray[numpy.int64]"),
        "How many rows there are in every cell, in every replicate.");
}

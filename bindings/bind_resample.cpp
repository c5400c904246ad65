#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>

#include "array.hpp"
#include "resample.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

using Counts = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;

Counts counts(std::uint64_t seed, std::uint64_t replicate, const std::uint64_t* keys, std::uint64_t first,
              std::size_t n) {
  auto out = std::make_unique_for_overwrite<std::uint8_t[]>(n);
  {
    nb::gil_scoped_release release;
    poisson_counts(seed, replicate, keys, first, n, out.get());
  }
  const nb::capsule owner(out.get(), [](void* p) noexcept { delete[] static_cast<std::uint8_t*>(p); });
  return Counts(out.release(), {n}, owner);
}

Counts counts_of_keys(std::uint64_t seed, std::uint64_t replicate, nb::handle keys) {
  const Array<std::uint64_t> held(keys, "keys");
  return counts(seed, replicate, held.data(), 0, held.size());
}

Counts counts_of_places(std::uint64_t seed, std::uint64_t replicate, std::uint64_t first, std::size_t rows) {
  return counts(seed, replicate, nullptr, first, rows);
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
}

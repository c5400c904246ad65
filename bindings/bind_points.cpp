#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>
#include <vector>

#include "array.hpp"
#include "points.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

using Vector = nb::ndarray<nb::numpy, double, nb::ndim<1>>;
using Matrix = nb::ndarray<nb::numpy, double, nb::ndim<2>>;

// Hands the numbers to NumPy without a copy.
template <class Out>
Out array_of(std::vector<double>&& values, std::initializer_list<std::size_t> shape) {
  auto owned = std::make_unique<std::vector<double>>(std::move(values));
  const nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return Out(owned.release()->data(), shape, owner);
}

class Arguments {
 public:
  Arguments(nb::handle points, nb::handle codes, nb::handle weights, std::int64_t clusters)
      : points_(points, "points", 2), codes_(codes, "codes") {
    const std::size_t n = points_.size(0), d = points_.size(1);
    if (codes_.size() != n) throw nb::value_error("points and codes differ in length");
    if (clusters < 0 || static_cast<std::size_t>(clusters) > n)
      throw nb::value_error("clusters must lie between 0 and the number of points");
    for (std::size_t i = 0; i < n * d; ++i)
      if (magnitude(points_.data()[i]) >= kInfinity) throw nb::value_error("points must be finite");
    if (!weights.is_none()) {
      weights_.emplace(weights, "weights");
      if (weights_->size() != n) throw nb::value_error("points and weights differ in length");
      for (std::size_t i = 0; i < n; ++i)
        if (const double w = weights_->data()[i]; !(w >= 1.0 && w <= 0x1p53 && w == std::floor(w)))
          throw nb::value_error("weights must be positive whole numbers up to 2**53");
    }
    table = {
        points_.data(), codes_.data(), weights_ ? weights_->data() : nullptr, n, d, static_cast<std::size_t>(clusters)};
  }

  Points table;

 private:
  Array<double> points_;
  Array<std::int64_t> codes_;
  std::optional<Array<double>> weights_;
};

Vector silhouette_of(nb::handle points, nb::handle codes, nb::handle weights, std::int64_t clusters) {
  const Arguments given(points, codes, weights, clusters);
  std::vector<double> out(given.table.n);
  {
    nb::gil_scoped_release release;
    silhouette(given.table, out.data());
  }
  return array_of<Vector>(std::move(out), {given.table.n});
}

nb::tuple centroid_spread_of(nb::handle points, nb::handle codes, nb::handle weights, std::int64_t clusters) {
  const Arguments given(points, codes, weights, clusters);
  const std::size_t k = given.table.clusters, d = given.table.d;
  Spread spread;
  {
    nb::gil_scoped_release release;
    spread = centroid_spread(given.table);
  }
  return nb::make_tuple(
      array_of<Matrix>(std::move(spread.centroids), {k, d}), array_of<Matrix>(std::move(spread.rests), {k, d}),
      array_of<Vector>(std::move(spread.centre), {d}), array_of<Vector>(std::move(spread.centre_rest), {d}),
      array_of<Vector>(std::move(spread.weights), {k}), array_of<Vector>(std::move(spread.distances), {k}),
      array_of<Vector>(std::move(spread.squares), {k}), spread.exponent);
}

}  // namespace

void bind_points(nb::module_& m) {
  m.def("silhouette", &silhouette_of, nb::arg("points"), nb::arg("codes"), nb::arg("weights").none(),
        nb::arg("clusters"),
        nb::sig("def silhouette(points: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64], "
                "weights: numpy.typing.NDArray[numpy.float64] | None, clusters: int) -> "
                "numpy.typing.NDArray[numpy.float64]"),
        "The silhouette of every row of points. Weights stand for repeats of a row.");
  m.def("centroid_spread", &centroid_spread_of, nb::arg("points"), nb::arg("codes"), nb::arg("weights").none(),
        nb::arg("clusters"),
        nb::sig("def centroid_spread(points: numpy.typing.NDArray[numpy.float64], codes: "
                "numpy.typing.NDArray[numpy.int64], weights: numpy.typing.NDArray[numpy.float64] | None, clusters: "
                "int) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
                "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
                "numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], "
                "numpy.typing.NDArray[numpy.float64], int]"),
        "Centroids and what rounding left out of them, the same of all rows, weights, totals of distances and of\n"
        "squared distances, exponent.\n\n"
        "The totals are per cluster, to its centroid. All lengths are in units of 2**exponent, and coordinates in\n"
        "which all rows agree are read as 0.");
}

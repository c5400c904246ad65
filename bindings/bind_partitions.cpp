#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "array.hpp"
#include "own_copy.hpp"
#include "partitions.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

double mutual_information_of(nb::handle rows, nb::handle columns, nb::handle counts, nb::handle truth,
                             nb::handle prediction, double total) {
  const Array<std::int64_t> row(rows, "rows"), column(columns, "columns");
  const Array<double> count(counts, "counts"), a(truth, "truth"), b(prediction, "prediction");
  if (row.size() != count.size() || column.size() != count.size())
    throw nb::value_error("rows, columns and counts differ in length");
  const auto of_row = own_indices(row.data(), row.size(), a.size(), "rows must be indices into truth");
  const auto of_column = own_indices(column.data(), column.size(), b.size(), "columns must be indices into prediction");
  const Cells cells{of_row.data(), of_column.data(), count.data(), a.data(), b.data(), count.size(), total};
  nb::gil_scoped_release release;
  return mutual_information(cells);
}

double entropy_of(nb::handle sizes, double total) {
  const Array<double> size(sizes, "sizes");
  nb::gil_scoped_release release;
  return entropy(size.data(), size.size(), total);
}

std::vector<std::int64_t> own_sizes(const Array<std::int64_t>& sizes, std::int64_t total) {
  std::vector<std::int64_t> out(sizes.data(), sizes.data() + sizes.size());
  std::int64_t left = total;
  for (const std::int64_t size : out) {
    if (size < 1 || size > left) throw nb::value_error("sizes must be positive and sum to total");
    left -= size;
  }
  if (left != 0) throw nb::value_error("sizes must be positive and sum to total");
  return out;
}

double expected_mutual_information_of(nb::handle truth, nb::handle prediction, std::int64_t total) {
  const Array<std::int64_t> a(truth, "truth"), b(prediction, "prediction");
  if (total < 0 || total > std::int64_t{1} << 53) throw nb::value_error("total must lie between 0 and 2**53");
  const auto rows = own_sizes(a, total), columns = own_sizes(b, total);
  nb::gil_scoped_release release;
  return expected_mutual_information(rows.data(), rows.size(), columns.data(), columns.size(), total);
}

}  // namespace

void bind_partitions(nb::module_& m) {
  m.def("mutual_information", &mutual_information_of, nb::arg("rows"), nb::arg("columns"), nb::arg("counts"),
        nb::arg("truth"), nb::arg("prediction"), nb::arg("total"),
        nb::sig("def mutual_information(rows: numpy.typing.NDArray[numpy.int64], columns: "
                "numpy.typing.NDArray[numpy.int64], counts: "
                "numpy.typing.NDArray[numpy.float64], truth: numpy.typing.NDArray[numpy.float64], prediction: "
                "numpy.typing.NDArray[numpy.float64], total: "
                "float) -> float"),
        "In nats, from the non-empty cells of the table of two partitions and the sizes of their clusters.");
  m.def("entropy", &entropy_of, nb::arg("sizes"), nb::arg("total"),
        nb::sig("def entropy(sizes: numpy.typing.NDArray[numpy.float64], total: float) -> float"),
        "In nats, from the sizes of the clusters.");
  m.def("expected_mutual_information", &expected_mutual_information_of, nb::arg("truth"), nb::arg("prediction"),
        nb::arg("total"),
        nb::sig("def expected_mutual_information(truth: numpy.typing.NDArray[numpy.int64], prediction: "
                "numpy.typing.NDArray[numpy.int64], "
                "total: int) -> float"),
        "In nats, over all pairs of partitions of total rows with these cluster sizes.");
}

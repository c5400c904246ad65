#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "label_input.hpp"
#include "parallel.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

// Labels in their order, and the place of each row's label among them.
nb::object encode(nb::handle source, bool fractions, nb::handle normal) {
  Input input(source, normal, fractions);
  struct Entry {
    std::uint32_t row, column;
  };
  const std::size_t rows = input.rows();
  const nb::object out = new_bytes(rows, sizeof(std::int64_t));
  auto* codes = reinterpret_cast<std::int64_t*>(PyBytes_AsString(out.ptr()));
  std::vector<Entry> used;
  run(input.holds_objects(), [&] {
    std::uint32_t block[kBlock];
    for (std::size_t first = 0; first < rows; first += kBlock) {
      const std::size_t n = std::min(kBlock, rows - first);
      input.reader().read(first, n, block);
      std::copy(block, block + n, codes + first);
    }
    std::vector<bool> seen(input.reader().size());
    for (std::size_t i = 0; i < rows; ++i) {
      const auto code = static_cast<std::size_t>(codes[i]);
      if (code == kNoLabel || seen[code]) continue;
      seen[code] = true;
      used.push_back({static_cast<std::uint32_t>(code), 0});
    }
  });
  nb::list faults;
  list_faults(faults, 0, input.reader().faults);
  if (faults.size() != 0) return faults;
  const Ordered order(input.reader(), used, false);
  for (std::size_t i = 0; i < rows; ++i) codes[i] = order.place[static_cast<std::size_t>(codes[i])];
  return nb::make_tuple(order.labels, out);
}

// What a decision makes of one column of numbers: 0 or 1 per row.
nb::object decide(nb::handle column, const DecisionTuple& decision) {
  const auto& [threshold, margin, normalize, positive, by_margin] = decision;
  Input input(column, Decision{threshold, margin, normalize, positive, by_margin});
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

// How many columns of each row lie strictly above the one at its place.
nb::bytes count_above(nb::handle table, nb::handle places) {
  const Buffer held(table);
  const auto columns = held.columns();
  const auto at = read_places(places);
  if (at.size() != held.rows()) throw nb::value_error("table and places differ in length");
  for (const std::int64_t place : at)
    if (place < 0 || static_cast<std::size_t>(place) >= columns.size()) throw InputChanged("no such column");
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

// The first row that points outside of its column, -1 where none does, None where the core does not read the type.
nb::object malformed_row(nb::handle source) {
  const auto column = import_arrow(source);
  if (!column->readable()) return nb::none();
  auto row = column->malformed();
  if (!row && column->coded() && column->rows() != 0) {
    nb::gil_scoped_release release;
    ArrowReader reader(column, true);
    std::uint32_t codes[kBlock];
    for (std::size_t first = 0; first < column->rows(); first += kBlock)
      reader.read(first, std::min(kBlock, column->rows() - first), codes);
    const auto& found = reader.faults.entries[static_cast<std::size_t>(Fault::malformed)];
    if (found.count != 0) row = found.first;
  }
  return nb::int_(row ? static_cast<std::int64_t>(*row) : -1);
}

}  // namespace

void bind_labels(nb::module_& m) {
  m.def("encode_labels", &encode, nb::arg("source"), nb::arg("fractions"), nb::arg("normal"),
        nb::sig("def encode_labels(source: object, fractions: bool, normal: object) -> "
                "tuple[list[int | float | str], bytes] | list[tuple[int, str, int, int]]"),
        "The labels of a column in order, and the place of each row's label among them (int64).\n\nA list of (side, "
        "fault, count, first row) if labels must be refused.");
  m.def(
      "decide", &decide, nb::arg("column"), nb::arg("decision"),
      nb::sig("def decide(column: object, decision: tuple[float, bool, bool, int, bool]) -> "
              "bytes | list[tuple[int, str, int, int]]"),
      "Whether each row of a column of probabilities or margins reaches the threshold: a byte of 0 or 1 per row.\n\nA "
      "list of (side, fault, count, first row) if rows must be refused.");
  m.def("malformed_row", &malformed_row, nb::arg("column"), nb::sig("def malformed_row(column: object) -> int | None"),
        "The first row of an Arrow column that points outside of it, or -1; None for types that are not read here.");
  m.def("count_above", &count_above, nb::arg("table"), nb::arg("places"),
        nb::sig("def count_above(table: object, places: object) -> bytes"),
        "How many columns of each row lie strictly above the one at its place (int64).");
}

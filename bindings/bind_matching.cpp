#include <nanobind/nanobind.h>

#include <memory>
#include <utility>
#include <vector>

#include "label_input.hpp"
#include "matching.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

bool holds_texts(const ArrowColumn& column) {
  const ArrowForm form = column.type().form;
  return column.readable() && !column.coded() &&
         (form == ArrowForm::text || form == ArrowForm::large_text || form == ArrowForm::text_view);
}

// Codes of the rows of each column, and the row in which each code appears first.
nb::object code_texts(nb::sequence sources, bool firsts) {
  std::vector<std::shared_ptr<const ArrowColumn>> columns;
  for (const nb::handle source : sources) {
    columns.push_back(import_arrow(source));
    if (!holds_texts(*columns.back())) throw nb::value_error("these Arrow data are not texts");
  }
  const std::size_t count = columns.size();
  TextCodes texts(std::move(columns));
  const nb::object out = new_bytes(texts.rows(), sizeof(std::int32_t));
  auto* codes = reinterpret_cast<std::int32_t*>(PyBytes_AS_STRING(out.ptr()));
  {
    nb::gil_scoped_release release;
    texts.write(codes);
  }
  nb::list ends;
  for (std::size_t k = 0; k < count; ++k) ends.append(texts.end(k));
  return nb::make_tuple(out, ends, to_bytes(firsts ? texts.firsts() : std::vector<std::int64_t>()));
}

}  // namespace

void bind_matching(nb::module_& m) {
  m.def("code_texts", &code_texts, nb::arg("columns"), nb::arg("firsts") = true,
        nb::sig(
            "def code_texts(columns: typing.Sequence[object], firsts: bool = True) -> tuple[bytes, list[int], bytes]"),
        "The texts of Arrow columns as codes in the order of their first appearance over all columns (int32; −1: "
        "none).\n\n"
        "Also where each column ends, and in which row of all columns each code appears first (int64; if asked for).");
}

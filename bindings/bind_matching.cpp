#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <utility>

#include "label_input.hpp"
#include "matching.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

std::shared_ptr<const ArrowColumn> import_texts(nb::handle source) {
  auto column = import_arrow(source);
  const ArrowForm form = column->type().form;
  if (!column->readable() || column->coded() ||
      (form != ArrowForm::text && form != ArrowForm::large_text && form != ArrowForm::text_view))
    throw nb::value_error("these Arrow data are not texts");
  if (column->malformed()) throw nb::value_error("these Arrow data are malformed");
  return column;
}

// Texts as codes, for one thread at a time.
class LockedCodes {
 public:
  nb::object code(nb::handle source) {
    auto column = import_texts(source);
    const nb::object out = new_bytes(column->rows(), sizeof(std::int32_t));
    auto* codes = reinterpret_cast<std::int32_t*>(PyBytes_AsString(out.ptr()));
    nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> held(lock_);
    texts_.code(std::move(column), codes);
    return out;
  }
  nb::bytes firsts() {
    std::vector<std::int64_t> found;
    {
      nb::gil_scoped_release release;
      const std::lock_guard<std::mutex> held(lock_);
      found = texts_.firsts();
    }
    return to_bytes(found);
  }

 private:
  std::mutex lock_;
  TextCodes texts_;
};

bool plain(nb::handle source) {
  const auto column = import_texts(source);
  nb::gil_scoped_release release;
  return are_plain(*column);
}

}  // namespace

void bind_matching(nb::module_& m) {
  nb::class_<LockedCodes>(m, "TextCodes",
                          "Texts of Arrow columns as codes, in the order of their first appearance over all columns.")
      .def(nb::init<>())
      .def("code", &LockedCodes::code, nb::arg("column"), nb::sig("def code(self, column: object) -> bytes"),
           "The codes of one more column (int32; −1 where there is no text).")
      .def("firsts", &LockedCodes::firsts,
           "The row, counted over all columns, in which each code appears first (int64).");
  m.def("are_plain", &plain, nb::arg("column"), nb::sig("def are_plain(column: object) -> bool"),
        "Whether all texts of an Arrow column are ASCII without blanks at their ends, and none is empty.");
}

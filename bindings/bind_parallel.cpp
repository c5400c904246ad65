#include <nanobind/nanobind.h>

#include "parallel.hpp"

namespace nb = nanobind;

void bind_parallel(nb::module_& m) {
  m.def(
      "set_threads", [](int n) { tallymark::thread_limit().store(n < 1 ? 1 : n); }, nb::arg("n"),
      "Use at most n threads for one call.");
  m.def("get_threads", [] { return tallymark::thread_limit().load(); }, "The most threads one call may use.");
}

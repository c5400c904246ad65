#include <nanobind/nanobind.h>

#include "parallel.hpp"

namespace nb = nanobind;

void bind_parallel(nb::module_& m) {
  m.def(
      "set_threads", [](int n) { tallymark::thread_limit().store(n < 1 ? 1 : n); }, nb::arg("n"),
      "Use at most n threads for one call.");
  m.def(
      "set_own_threads", [](int n) { tallymark::own_thread_limit() = n < 1 ? 0 : n; }, nb::arg("n"),
      "Use at most n threads for one call from this thread; 0 for as many as any call may.");
  m.def("get_threads", [] { return tallymark::thread_limit().load(); }, "The most threads one call may use.");
}

// The table of contents of tallymark._core: one line per topic.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_parallel(nb::module_& m);
void bind_regression(nb::module_& m);

NB_MODULE(_core, m) {
  m.doc() = "The native core: exact sums over rows.";
  bind_parallel(m);
  bind_regression(m);
}

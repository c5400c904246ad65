// The table of contents of tallymark._core: one line per topic.
#include <nanobind/nanobind.h>

#include <exception>

#include "own_copy.hpp"

namespace nb = nanobind;

void bind_labels(nb::module_& m);
void bind_matching(nb::module_& m);
void bind_pairs(nb::module_& m);
void bind_parallel(nb::module_& m);
void bind_partitions(nb::module_& m);
void bind_points(nb::module_& m);
void bind_probabilities(nb::module_& m);
void bind_ranking(nb::module_& m);
void bind_ranks(nb::module_& m);
void bind_regression(nb::module_& m);
void bind_resample(nb::module_& m);
void bind_scores(nb::module_& m);

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // metrics keep their tasks until the interpreter ends
  nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
    try {
      std::rethrow_exception(raised);
    } catch (const tallymark::InputChanged& error) {
      PyErr_SetString(nb::module_::import_("tallymark.errors").attr("InputError").ptr(), error.what());
    }
  });
  m.doc() = "The native core: exact sums and counts over rows.";
  bind_labels(m);
  bind_matching(m);
  bind_pairs(m);
  bind_parallel(m);
  bind_partitions(m);
  bind_points(m);
  bind_probabilities(m);
  bind_ranking(m);
  bind_ranks(m);
  bind_regression(m);
  bind_resample(m);
  bind_scores(m);
}

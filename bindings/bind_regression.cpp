#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <vector>

#include "buffer.hpp"
#include "regression.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

using TaskTuple = std::tuple<int, double, std::size_t, std::size_t>;

constexpr int kPower = 64;  // added to the number of a term that stands for its square, twice for its cube, and so on

struct Tasks {
  explicit Tasks(const std::vector<TaskTuple>& list) {
    for (const auto& [code, parameter, truth, prediction] : list) {
      if (code < 0 || code % kPower >= kTerms || code / kPower > 3) throw nb::value_error("no such term");
      const Term term = static_cast<Term>(code % kPower);
      const int power = 1 + code / kPower;
      if (power > 1 && !has_powers(term)) throw nb::value_error("no such term");
      tasks.push_back({term, parameter, truth, prediction, power});
    }
  }

  // Totals the tasks over the rows, and the weights after them if there are any. Per task: the exact total as
  // little-endian bytes and how many bits to shift them up to be in units of 2^-1074; counts of +inf, -inf and NaN
  // terms; the lowest and highest value seen. None where an input must be refused.
  nb::object run(nb::handle truth, nb::handle prediction, nb::handle weight, int link) const {
    if (link < 0 || link >= kLinks) throw nb::value_error("no such link");
    const Buffer y(truth), p(prediction);
    Table table;
    table.truth = y.columns();
    table.prediction = p.columns();
    table.rows = y.rows();
    table.link = static_cast<Link>(link);
    if (p.rows() != table.rows) throw nb::value_error("truth and prediction differ in length");
    std::optional<Buffer> w;
    if (!weight.is_none()) {
      w.emplace(weight);
      if (w->rows() != table.rows) throw nb::value_error("truth and weight differ in length");
      const auto columns = w->columns();
      if (columns.size() != 1) throw nb::value_error("weight must be one column");
      table.weight = columns.front();
      table.weighted = true;
    }
    std::vector<Task> all = tasks;
    if (table.weighted) all.push_back({Term::weight, 0.0, 0, 0, 1});
    for (const Task& task : all) {
      const std::size_t wanted = reads_two(task.term) ? 2 : 1;
      if (task.truth >= table.truth.size()) throw nb::value_error("no such truth column");
      if (task.prediction >= table.prediction.size() || table.prediction.size() - task.prediction < wanted)
        throw nb::value_error("no such prediction column");
    }
    Totals totals;
    {
      nb::gil_scoped_release release;
      totals = total(table, all);
    }
    if (totals.bad_value || totals.bad_weight) return nb::none();
    nb::list out;
    for (Tally& t : totals.tallies) {
      unsigned char raw[ExactSum::kBytes];
      const auto written = t.sum.write(raw);
      out.append(nb::make_tuple(nb::bytes(raw, written.length), 32 * written.skipped, t.sum.above(), t.sum.below(),
                                t.sum.undefined(), t.lowest, t.highest));
    }
    return out;
  }

  std::vector<Task> tasks;
};

}  // namespace

void bind_regression(nb::module_& m) {
  nb::class_<Tasks>(m, "Tasks", "Terms to total over rows of truth, prediction and weight.")
      .def(nb::init<const std::vector<TaskTuple>&>(), nb::arg("tasks"),
           "Each task is (term, parameter, truth column, prediction column).")
      .def("run", &Tasks::run, nb::arg("truth"), nb::arg("prediction"), nb::arg("weight").none(), nb::arg("link"),
           nb::sig("def run(self, truth: object, prediction: object, weight: object | None, link: int) -> "
                   "list[tuple[bytes, int, int, int, int, float, float]] | None"),
           "One (total, shift, above, below, undefined, lowest, highest) per task; None if an input must be refused.");
}

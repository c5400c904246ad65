#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "curve_points.hpp"
#include "given_runs.hpp"
#include "pairs.hpp"
#include "placements.hpp"
#include "wide.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

nb::tuple list_counts(RankCounts& found) {
  const Signed farthest = std::max(found.highest, -found.lowest);
  return nb::make_tuple(found.positives, found.negatives, to_python(static_cast<Wide>(found.twice_wins)),
                        to_python(static_cast<Wide>(farthest)), found.steps.nearest(), found.trapezoids.nearest());
}

// Exact sums where there are no weights: positives, negatives, twice the wins, the largest distance, and the two areas
// under precision; the values themselves where there are.
nb::object rank_sums(nb::handle negative, nb::handle positive, bool steps, bool trapezoids, bool distance) {
  const GivenRuns n(negative), p(positive);
  n.check();
  p.check();
  if (n.runs.weights == nullptr && p.runs.weights == nullptr) {
    RankCounts found;
    {
      nb::gil_scoped_release release;
      found = count_ranks(n.runs, p.runs, {steps, trapezoids, distance});
    }
    return list_counts(found);
  }
  RankWeights found;
  {
    nb::gil_scoped_release release;
    found = weigh_ranks(n.runs, p.runs, {steps, trapezoids, distance});
  }
  return nb::make_tuple(found.positives, found.negatives, found.area, found.distance, found.steps, found.trapezoids);
}

// A stretch of the scores of two classes without weights. `whole` and `above` count negatives and positives, of all
// scores and of those above the stretch.
class GivenStretch {
 public:
  using Rows = std::pair<std::uint64_t, std::uint64_t>;

  GivenStretch(nb::handle negative, nb::handle positive, const Rows& whole, const Rows& above)
      : negative_(negative), positive_(positive), whole_(whole), above_(above) {
    negative_.check();
    positive_.check();
    if (this->negative().weights != nullptr || this->positive().weights != nullptr)
      throw nb::value_error("a stretch has no weights");
    const RankCounts own = count_classes(this->negative(), this->positive());
    const auto fits = [](std::uint64_t all, std::uint64_t higher, std::uint64_t here) {
      return all <= GivenRuns::kMostRows && higher <= all && here <= all - higher;
    };
    if (!fits(whole.first, above.first, own.negatives) || !fits(whole.second, above.second, own.positives))
      throw nb::value_error("a stretch and what lies above it must be a part of the whole");
  }
  const Runs& negative() const { return negative_.runs; }
  const Runs& positive() const { return positive_.runs; }

  RankCounts count(const RankWants& wanted) const {
    RankCounts classes;
    classes.negatives = whole_.first;
    classes.positives = whole_.second;
    const std::size_t threads = threads_for(negative().size + positive().size);
    return count_stretch(negative(), positive(), wanted, threads, classes, above_.first, above_.second);
  }
  PlacementSums place() const {
    return sum_placements(negative(), positive(), whole_.first, above_.first, above_.second);
  }

 private:
  GivenRuns negative_, positive_;
  Rows whole_, above_;
};

// Twice the wins, the largest distance, and the exact areas under precision.
nb::tuple stretch_sums(nb::handle negative, nb::handle positive, const GivenStretch::Rows& whole,
                       const GivenStretch::Rows& above, bool steps, bool trapezoids, bool distance) {
  const GivenStretch given(negative, positive, whole, above);
  RankCounts found;
  {
    nb::gil_scoped_release release;
    found = given.count({steps, trapezoids, distance});
  }
  return nb::make_tuple(to_python(static_cast<Wide>(found.twice_wins)),
                        to_python(static_cast<Wide>(std::max(found.highest, -found.lowest))), to_python(found.steps),
                        to_python(found.trapezoids));
}

// Twice the wins, and the squares of the places of either class among the other.
nb::tuple placement_sums(nb::handle negative, nb::handle positive, const GivenStretch::Rows& whole,
                         const GivenStretch::Rows& above) {
  const GivenStretch given(negative, positive, whole, above);
  PlacementSums found;
  {
    nb::gil_scoped_release release;
    found = given.place();
  }
  return nb::make_tuple(to_python(static_cast<Wide>(found.twice_wins)), to_python(found.of_negatives.digits()),
                        to_python(found.of_positives.digits()));
}

// How one class stands to every other in a column: its rows, theirs, and twice the wins; with weights whether there are
// any, and the area.
nb::list class_sums(const nb::list& groups, std::size_t own) {
  std::vector<std::unique_ptr<GivenRuns>> given;
  for (const nb::handle group : groups) {
    given.push_back(std::make_unique<GivenRuns>(group));
  }
  if (own >= given.size()) throw nb::value_error("no such class");
  const Runs& positive = given[own]->runs;
  const auto plain = [&](std::size_t g) { return given[g]->runs.weights == nullptr && positive.weights == nullptr; };
  std::vector<RankCounts> counts(given.size());
  std::vector<RankWeights> weights(given.size());
  {
    nb::gil_scoped_release release;
    std::size_t rows = 0;
    for (const auto& group : given) rows += group->runs.size;
    std::atomic<std::size_t> next{0};
    const std::size_t threads = std::min(threads_for(rows), given.size());
    for_ranges(given.size(), threads, [&](std::size_t, std::size_t first, std::size_t last) {
      for (std::size_t g = first; g < last; ++g) given[g]->check();
    });
    for_ranges(threads, threads, [&](std::size_t, std::size_t, std::size_t) {
      for (std::size_t g = next++; g < given.size(); g = next++) {
        if (g == own) continue;
        if (plain(g))
          counts[g] = count_ranks(given[g]->runs, positive, {}, 1);
        else
          weights[g] = weigh_ranks(given[g]->runs, positive, {});
      }
    });
  }
  nb::list out;
  for (std::size_t g = 0; g < given.size(); ++g) {
    if (plain(g))
      out.append(
          nb::make_tuple(counts[g].positives, counts[g].negatives, to_python(static_cast<Wide>(counts[g].twice_wins))));
    else
      out.append(nb::make_tuple(weights[g].positives, weights[g].negatives, weights[g].area));
  }
  return out;
}

// Every distinct score, the highest first, with the weight of positives and of negatives from there on up, and below.
nb::tuple score_steps(nb::handle negative, nb::handle positive) {
  const GivenRuns n(negative), p(positive);
  n.check();
  p.check();
  StepList found;
  {
    nb::gil_scoped_release release;
    found = list_steps(n.runs, p.runs);
  }
  return nb::make_tuple(
      to_array(found.scores.get(), found.size, found.scores), to_array(found.hits.get(), found.size, found.hits),
      to_array(found.alarms.get(), found.size, found.alarms), to_array(found.missed.get(), found.size, found.missed),
      to_array(found.spared.get(), found.size, found.spared));
}

// Two classes without weights.
struct GivenClasses {
  GivenRuns negative, positive;

  GivenClasses(nb::handle n, nb::handle p) : negative(n), positive(p) {
    negative.check();
    positive.check();
    if (negative.runs.weights != nullptr || positive.runs.weights != nullptr)
      throw nb::value_error("there must be no weights");
  }
};

nb::tuple list_columns(const CurvePoints& found) {
  nb::list columns;
  for (std::size_t k = 0; k < found.columns; ++k) columns.append(to_array(found.column(k), found.size, found.held));
  return nb::tuple(columns);
}

// A curve of runs without weights: thresholds and its columns.
nb::tuple curve_points(std::string_view curve, nb::handle negative, nb::handle positive, bool drop) {
  const GivenClasses given(negative, positive);
  const auto list = curve == "roc"                ? list_points<RocCurve>
                    : curve == "precision_recall" ? list_points<PrecisionRecallCurve>
                    : curve == "det"              ? list_points<DetCurve>
                    : curve == "lift"             ? list_points<LiftCurve>
                                                  : throw nb::value_error("no such curve");
  CurvePoints found;
  {
    nb::gil_scoped_release release;
    found = list(given.negative.runs, given.positive.runs, drop);
  }
  return list_columns(found);
}

// The ROC curve, and the sums of the same walk as `rank_sums` gives them, without the trapezoids.
nb::tuple roc_and_sums(nb::handle negative, nb::handle positive, bool drop, bool steps) {
  const GivenClasses given(negative, positive);
  RankCounts counts;
  CurvePoints found;
  {
    nb::gil_scoped_release release;
    found = list_roc(given.negative.runs, given.positive.runs, drop, steps, counts);
  }
  return nb::make_tuple(list_columns(found), list_counts(counts));
}

}  // namespace

void bind_ranks(nb::module_& m) {
  m.def("rank_sums", &rank_sums, nb::arg("negative"), nb::arg("positive"), nb::arg("steps"), nb::arg("trapezoids"),
        nb::arg("distance"),
        nb::sig("def rank_sums(negative: object, positive: object, steps: bool, trapezoids: bool, "
                "distance: bool) -> tuple[int, int, int, int, float, float] | "
                "tuple[bool, bool, float, float, float, float]"),
        "Counts of both classes and sums over them, or with weights whether there are any and the values.");
  m.def(
      "stretch_sums", &stretch_sums, nb::arg("negative"), nb::arg("positive"), nb::arg("whole"), nb::arg("above"),
      nb::arg("steps"), nb::arg("trapezoids"), nb::arg("distance"),
      nb::sig("def stretch_sums(negative: " TM_RUNS ", positive: " TM_RUNS ", whole: tuple[int, int], above: "
              "tuple[int, int], steps: bool, trapezoids: bool, distance: bool) -> tuple[int, int, tuple[bytes, int], "
              "tuple[bytes, int]]"),
      "Twice the wins, the largest distance and the exact areas of a stretch of the scores of two classes.\n\n`whole` "
      "and `above` count the negatives and positives of all scores, and of those above the stretch.");
  m.def("placement_sums", &placement_sums, nb::arg("negative"), nb::arg("positive"), nb::arg("whole"), nb::arg("above"),
        nb::sig("def placement_sums(negative: " TM_RUNS ", positive: " TM_RUNS ", whole: tuple[int, int], above: "
                "tuple[int, int]) -> tuple[int, int, int]"),
        "Twice the wins of a stretch of scores, and the squares of twice the places of negatives and of positives.");
  m.def("class_sums", &class_sums, nb::arg("groups"), nb::arg("own"),
        nb::sig("def class_sums(groups: list[" TM_RUNS "], own: int) -> list[tuple[int, int, int] | tuple[bool, bool, "
                "float]]"),
        "Per class the counts of both and twice the wins of one's own; with weights whether there are any, and the "
        "area.");
  m.def("score_steps", &score_steps, nb::arg("negative"), nb::arg("positive"),
        nb::sig("def score_steps(negative: object, positive: object) -> "
                "tuple[" TM_REALS ", " TM_REALS ", " TM_REALS ", " TM_REALS " | None, " TM_REALS " | None]"),
        "Distinct scores, the highest first; the weight of positives and negatives from there on up.\n\nWith weights "
        "also what lies below; without, that is a difference of whole numbers.");
  m.def("curve_points", &curve_points, nb::arg("curve"), nb::arg("negative"), nb::arg("positive"), nb::arg("drop"),
        nb::sig("def curve_points(curve: str, negative: object, positive: object, drop: bool) -> "
                "tuple[" TM_REALS ", ...]"),
        "Thresholds, and the columns of a curve of runs without weights: roc, precision_recall, det or lift.\n\nWith "
        "`drop`, points that the curve does not need are left out.");
  m.def("roc_and_sums", &roc_and_sums, nb::arg("negative"), nb::arg("positive"), nb::arg("drop"), nb::arg("steps"),
        nb::sig("def roc_and_sums(negative: object, positive: object, drop: bool, steps: bool) -> "
                "tuple[tuple[" TM_REALS ", ...], tuple[int, int, int, int, float, float]]"),
        "The points of the ROC curve, and from the same walk what rank_sums gives, without the trapezoids.");
}

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "array.hpp"
#include "curve_points.hpp"
#include "label_input.hpp"
#include "pairs.hpp"
#include "rank_sums.hpp"
#include "scores.hpp"
#include "wide.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

// Memory of the core as an array that Python may read.
template <class T>
nb::object to_array(const T* data, std::size_t size, const std::shared_ptr<const void>& owner) {
  if (data == nullptr) return nb::none();
  auto* held = new std::shared_ptr<const void>(owner);
  const nb::capsule release(held, [](void* p) noexcept { delete static_cast<std::shared_ptr<const void>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<1>>(data, {size}, release));
}

nb::object list_runs(const Runs& runs) {
  static const double nothing = 0.0;
  return nb::make_tuple(to_array(runs.size == 0 ? &nothing : runs.scores, runs.size, runs.owner),
                        to_array(runs.weights, runs.size, runs.owner), to_array(runs.counts, runs.size, runs.owner));
}

// Runs that Python holds: (scores, weights or None, counts or None).
class GivenRuns {
 public:
  explicit GivenRuns(nb::handle given) {
    const nb::tuple parts = nb::cast<nb::tuple>(given);
    if (parts.size() != 3) throw nb::value_error("runs are scores, weights and counts");
    scores_.emplace(parts[0], "scores");
    runs.scores = scores_->data();
    runs.size = scores_->size();
    if (!parts[1].is_none()) {
      weights_.emplace(parts[1], "weights");
      if (weights_->size() != runs.size) throw nb::value_error("scores and weights differ in length");
      runs.weights = weights_->data();
    }
    if (!parts[2].is_none()) {
      counts_.emplace(parts[2], "counts");
      if (counts_->size() != runs.size) throw nb::value_error("scores and counts differ in length");
      runs.counts = counts_->data();
    }
  }
  // Walks end only where scores are finite and in order.
  void check() const {
    if (!in_order(runs.scores, runs.size)) throw nb::value_error("scores must be finite and in order");
    bool weighed = true;
    for (std::size_t i = 0; runs.weights != nullptr && i < runs.size; ++i)
      weighed &= runs.weights[i] > 0.0 && runs.weights[i] < std::numeric_limits<double>::infinity();
    if (!weighed) throw nb::value_error("weights must be finite and positive");
    std::uint64_t total = 0;
    for (std::size_t i = 0; runs.counts != nullptr && i < runs.size; ++i) {
      if (runs.counts[i] < 1 || (total += static_cast<std::uint64_t>(runs.counts[i])) > kMostRows)
        throw nb::value_error("counts must be positive, and no more than 2**62 together");
    }
  }
  Runs runs;

 private:
  static constexpr std::uint64_t kMostRows = std::uint64_t{1} << 62;  // products of two such counts fit 128 bits
  std::optional<Array<double>> scores_, weights_;
  std::optional<Array<std::int64_t>> counts_;
};

// The weights of rows, checked while they are read.
struct Weights {
  std::optional<Buffer> held;
  Column column;
  bool all_one = true, bad = false;
  ExactSum total;

  Weights(nb::handle source, std::size_t rows) {
    if (source.is_none()) return;
    held.emplace(source);
    const auto columns = held->columns();
    if (held->rows() != rows || columns.size() != 1) throw nb::value_error("weight must be one number per row");
    column = columns.front();
  }
  bool given() const { return held.has_value(); }
};

// What one range of blocks found.
struct Range {
  std::unique_ptr<LabelReader> fork;
  std::vector<std::size_t> counts = std::vector<std::size_t>(256, 0);
  ExactSum total;
  bool all_one = true, bad = false, many = false;
  std::array<std::uint8_t, 256> group{};
};

// Marks rows of weight zero, and adds the weights up.
void weigh(const Column& weight, std::size_t first, std::size_t n, std::uint8_t* codes, Range& out) {
  double w[kBlock];
  read_rows(weight, first, n, w);
  const WeightRange range = range_of_block(w, n);
  out.bad = out.bad || range.bad;
  if (range.bad) return;
  for (std::size_t i = 0; i < n; ++i) {
    if (w[i] == 0.0)
      codes[i] = kNoGroup;
    else
      out.all_one = out.all_one && w[i] == 1.0;
  }
  add_block(out.total, n, range.highest, TM_EACH(w[i]));
}

// Columns by group; nothing if a score is not finite.
template <class Row, class Group>
std::vector<std::vector<Runs>> sort_dealt(const Dealt& dealt, const Column* columns, std::size_t count,
                                          const Weights& weights, Group&& group) {
  return sort_groups<Row>(
      dealt, count, group,
      [&](std::size_t first, std::size_t n, std::size_t k, double* scores) { read_rows(columns[k], first, n, scores); },
      [&](std::size_t first, std::size_t n, double* w) {
        if (weights.given()) read_rows(weights.column, first, n, w);
      });
}

template <class Group>
std::vector<std::vector<Runs>> sort_dealt(const Dealt& dealt, const Column* columns, std::size_t count,
                                          const Weights& weights, bool all_one, Group&& group) {
  return all_one ? sort_dealt<PlainRow>(dealt, columns, count, weights, group)
                 : sort_dealt<WeightedRow>(dealt, columns, count, weights, group);
}

nb::list list_runs(const std::vector<Runs>& groups) {
  nb::list out;
  for (const Runs& runs : groups) out.append(list_runs(runs));
  return out;
}

// One column of scores by the labels of the truth.
nb::object sort_scores(nb::handle truth, nb::handle prediction, nb::handle weight, nb::handle normal) {
  Input y(truth, normal, false);
  const std::size_t rows = y.rows();
  const Buffer held(prediction);
  const auto columns = held.columns();
  if (held.rows() != rows || columns.size() != 1) throw nb::value_error("there must be one score per row");
  Weights weights(weight, rows);
  auto codes = std::unique_ptr<std::uint8_t[]>(new std::uint8_t[rows]);
  std::vector<Range> ranges(1);
  for (std::size_t t = 1; t < threads_for(rows); ++t) {
    Range range;
    range.fork = y.reader().fork();
    if (range.fork == nullptr) break;
    ranges.push_back(std::move(range));
  }
  const std::size_t blocks = (rows + kBlock - 1) / kBlock;
  run(y.holds_objects(), [&] {
    for_ranges(blocks, ranges.size(), [&](std::size_t t, std::size_t first, std::size_t last) {
      Range& range = ranges[t];
      LabelReader& reader = t == 0 ? y.reader() : *range.fork;
      std::uint32_t block[kBlock];
      for (std::size_t b = first; b < last; ++b) {
        const std::size_t row = b * kBlock, n = std::min(kBlock, rows - row);
        reader.read(row, n, block);
        for (std::size_t i = 0; i < n; ++i)
          codes[row + i] = static_cast<std::uint8_t>(std::min<std::uint32_t>(block[i], kNoGroup - 1));
        if (weights.given()) weigh(weights.column, row, n, &codes[row], range);
        for (std::size_t i = 0; i < n; ++i) ++range.counts[codes[row + i]];
      }
      range.many = range.counts[kNoGroup - 1] != 0;
    });
  });
  nb::list faults;
  bool bad = false, many = false, all_one = true;
  for (std::size_t t = 0; t < ranges.size(); ++t) {
    if (t > 0) y.reader().faults.add(ranges[t].fork->faults);
    bad = bad || ranges[t].bad;
    all_one = all_one && ranges[t].all_one;
  }
  list_faults(faults, 0, y.reader().faults);
  if (faults.size() != 0) return faults;
  if (bad) return nb::none();
  // Codes of a fork as those of the first reader, and the labels that rows with weight have in their order.
  struct Entry {
    std::uint32_t row, column;
  };
  std::vector<Entry> used;
  std::vector<std::vector<std::uint32_t>> adopted(ranges.size());
  for (std::size_t t = 0; t < ranges.size(); ++t) {
    many = many || ranges[t].many;
    adopted[t] = t == 0 ? same_codes(y.reader().size()) : y.reader().adopt(*ranges[t].fork);
    for (std::size_t c = 0; c < std::min<std::size_t>(kNoGroup, adopted[t].size()); ++c)
      if (ranges[t].counts[c] != 0) used.push_back({adopted[t][c], 0});
  }
  const Ordered order(y.reader(), used, false);
  if (many || order.labels.size() > 2) return nb::make_tuple(order.labels, nb::none(), nb::none(), rows);
  Dealt dealt{rows, order.labels.size(), {}};
  ExactSum total;
  for (std::size_t t = 0; t < ranges.size(); ++t) {
    Range& range = ranges[t];
    range.group.fill(kNoGroup);
    dealt.counts.emplace_back(dealt.groups, 0);
    for (std::size_t c = 0; c < std::min<std::size_t>(kNoGroup, adopted[t].size()); ++c) {
      if (range.counts[c] == 0) continue;
      range.group[c] = static_cast<std::uint8_t>(order.place[adopted[t][c]]);
      dealt.counts[t][range.group[c]] += range.counts[c];
    }
    total.add(range.total);
  }
  const auto found = run(false, [&] {
    return sort_dealt(dealt, columns.data(), 1, weights, all_one,
                      [&](std::size_t t, std::size_t i) -> std::size_t { return ranges[t].group[codes[i]]; });
  });
  if (found.empty()) return nb::none();
  return nb::make_tuple(order.labels, list_runs(found.front()),
                        weights.given() ? nb::object(to_python(total)) : nb::object(nb::none()), rows);
}

// Every column of a table of scores by the places of the true classes.
nb::object sort_columns(nb::handle places, std::size_t classes, nb::handle table, nb::handle weight) {
  const auto at = read_places(places);
  const Buffer held(table);
  const auto columns = held.columns();
  if (held.rows() != at.size()) throw nb::value_error("table and places differ in length");
  for (const std::int64_t place : at)
    if (place < 0 || static_cast<std::size_t>(place) >= classes) throw nb::value_error("no such class");
  Weights weights(weight, at.size());
  const std::size_t blocks = (at.size() + kBlock - 1) / kBlock, threads = threads_for(at.size());
  std::vector<std::uint8_t> kept(at.size(), 0);
  std::vector<Range> ranges(threads);
  Dealt dealt{at.size(), classes, {}};
  std::vector<std::vector<Runs>> out;
  bool finite = true, bad = false, all_one = true;
  ExactSum total;
  run(false, [&] {
    dealt.counts.assign(threads, std::vector<std::size_t>(classes, 0));
    for_ranges(blocks, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
      for (std::size_t b = first; b < last; ++b) {
        const std::size_t row = b * kBlock, n = std::min(kBlock, at.size() - row);
        if (weights.given()) weigh(weights.column, row, n, &kept[row], ranges[t]);
        for (std::size_t i = row; i < row + n; ++i)
          if (kept[i] == 0) ++dealt.counts[t][static_cast<std::size_t>(at[i])];
      }
    });
    for (const Range& range : ranges) {
      bad = bad || range.bad;
      all_one = all_one && range.all_one;
      total.add(range.total);
    }
    for (std::size_t k = 0; k < columns.size() && finite && !bad; k += kMostColumns) {
      const std::size_t count = std::min(kMostColumns, columns.size() - k);
      auto found =
          sort_dealt(dealt, &columns[k], count, weights, all_one, [&](std::size_t, std::size_t i) -> std::size_t {
            return kept[i] == 0 ? static_cast<std::size_t>(at[i]) : classes;
          });
      finite = !found.empty();
      for (auto& groups : found) out.push_back(std::move(groups));
    }
  });
  if (!finite || bad) return nb::none();
  nb::list lists;
  for (const auto& groups : out) lists.append(list_runs(groups));
  return nb::make_tuple(lists, weights.given() ? nb::object(to_python(total)) : nb::object(nb::none()));
}

nb::object merge_runs(nb::handle left, nb::handle right) {
  const GivenRuns a(left), b(right);
  Runs merged;
  {
    nb::gil_scoped_release release;
    merged = merge(a.runs, b.runs);
  }
  return list_runs(merged);
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
    const Signed farthest = std::max(found.highest, -found.lowest);
    return nb::make_tuple(found.positives, found.negatives, to_python(static_cast<Wide>(found.twice_wins)),
                          to_python(static_cast<Wide>(farthest)), found.steps.nearest(), found.trapezoids.nearest());
  }
  RankWeights found;
  {
    nb::gil_scoped_release release;
    found = weigh_ranks(n.runs, p.runs, {steps, trapezoids, distance});
  }
  return nb::make_tuple(found.positives, found.negatives, found.area, found.distance, found.steps, found.trapezoids);
}

// How one class stands to every other in a column: its rows, theirs, and twice the wins; with weights whether there are
// any, and the area.
nb::list class_sums(const nb::list& groups, std::size_t own) {
  std::vector<std::unique_ptr<GivenRuns>> given;
  for (const nb::handle group : groups) {
    given.push_back(std::make_unique<GivenRuns>(group));
    given.back()->check();
  }
  if (own >= given.size()) throw nb::value_error("no such class");
  const Runs& positive = given[own]->runs;
  const auto plain = [&](std::size_t g) { return given[g]->runs.weights == nullptr && positive.weights == nullptr; };
  std::vector<RankCounts> counts(given.size());
  std::vector<RankWeights> weights(given.size());
  run(false, [&] {
    std::size_t rows = 0;
    for (const auto& group : given) rows += group->runs.size;
    std::atomic<std::size_t> next{0};
    const std::size_t threads = std::min(threads_for(rows), given.size());
    for_ranges(threads, threads, [&](std::size_t, std::size_t, std::size_t) {
      for (std::size_t g = next++; g < given.size(); g = next++) {
        if (g == own) continue;
        if (plain(g))
          counts[g] = count_ranks(given[g]->runs, positive, {}, 1);
        else
          weights[g] = weigh_ranks(given[g]->runs, positive, {});
      }
    });
  });
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

// A curve of runs without weights: thresholds and its columns.
nb::tuple curve_points(std::string_view curve, nb::handle negative, nb::handle positive, bool drop) {
  const GivenRuns n(negative), p(positive);
  n.check();
  p.check();
  if (n.runs.weights != nullptr || p.runs.weights != nullptr) throw nb::value_error("there must be no weights");
  const auto list = curve == "roc"                ? list_points<RocCurve>
                    : curve == "precision_recall" ? list_points<PrecisionRecallCurve>
                    : curve == "det"              ? list_points<DetCurve>
                    : curve == "lift"             ? list_points<LiftCurve>
                                                  : throw nb::value_error("no such curve");
  CurvePoints found;
  {
    nb::gil_scoped_release release;
    found = list(n.runs, p.runs, drop);
  }
  nb::list columns;
  for (std::size_t k = 0; k < found.columns; ++k) columns.append(to_array(found.column(k), found.size, found.held));
  return nb::tuple(columns);
}

}  // namespace

#define TM_REALS "numpy.typing.NDArray[numpy.float64]"
#define TM_RUNS "tuple[" TM_REALS ", " TM_REALS " | None, numpy.typing.NDArray[numpy.int64] | None]"

void bind_scores(nb::module_& m) {
  m.def("sort_scores", &sort_scores, nb::arg("truth"), nb::arg("scores"), nb::arg("weight").none(), nb::arg("normal"),
        nb::sig("def sort_scores(truth: object, scores: object, weight: object | None, normal: object) -> "
                "tuple[list[int | str], list[" TM_RUNS "] | None, tuple[bytes, int] | None, int] | "
                "list[tuple[int, str, int, int]] | None"),
        "The labels in order, the runs of each, the exact total weight and the rows; no runs of more than "
        "two labels.\n\nFaults of the labels if rows must be refused; None if a score or a weight must.");
  m.def("sort_columns", &sort_columns, nb::arg("places"), nb::arg("classes"), nb::arg("table"),
        nb::arg("weight").none(),
        nb::sig("def sort_columns(places: object, classes: int, table: object, weight: object | None) -> "
                "tuple[list[list[" TM_RUNS "]], tuple[bytes, int] | None] | None"),
        "For every column the runs of every class, and the exact total weight; None if a score or a weight must be "
        "refused.");
  m.def("merge_runs", &merge_runs, nb::arg("left"), nb::arg("right"),
        nb::sig("def merge_runs(left: object, right: object) -> " TM_RUNS ""), "The runs of both sets of rows.");
  m.def("rank_sums", &rank_sums, nb::arg("negative"), nb::arg("positive"), nb::arg("steps"), nb::arg("trapezoids"),
        nb::arg("distance"),
        nb::sig("def rank_sums(negative: object, positive: object, steps: bool, trapezoids: bool, "
                "distance: bool) -> tuple[int, int, int, int, float, float] | "
                "tuple[bool, bool, float, float, float, float]"),
        "Counts of both classes and sums over them, or with weights whether there are any and the values.");
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
}

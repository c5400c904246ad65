// The points of curves over all thresholds, of runs without weights. One walk serves every curve: a curve says what
// stands in a point, and which points it needs.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "rank_weights.hpp"
#include "room.hpp"

namespace tallymark {

// A step down: the score, and how many rows of each class have it.
struct ScoreStep {
  double score = 0.0;
  std::uint64_t dn = 0, dp = 0;
};

// How many rows of both classes reach a threshold, and how many there are.
struct Reached {
  double tp, fp, positives, negatives;
};

// A curve has columns beside the threshold: `at` a threshold, and where no row reaches it, `before` the first point.
// `needs` says whether a point is more than what lies between its neighbours, from the steps to it and from it.
struct RocCurve {
  using Point = std::array<double, 2>;
  static TM_INLINE Point at(const Reached& r) { return {r.fp / r.negatives, r.tp / r.positives}; }
  static Point before(const Point&) { return {0.0, 0.0}; }
  // The line turns.
  template <bool kOnce>
  static TM_INLINE std::size_t needs(const ScoreStep& a, const ScoreStep& b) {
    if constexpr (kOnce) return (a.dn ^ b.dn) | (a.dp ^ b.dp);
    using Product = unsigned __int128;
    return static_cast<Product>(a.dn) * b.dp != static_cast<Product>(b.dn) * a.dp ? 1 : 0;
  }
};

struct PrecisionRecallCurve {
  using Point = std::array<double, 2>;
  static TM_INLINE Point at(const Reached& r) { return {r.tp / (r.tp + r.fp), r.tp / r.positives}; }
  static Point before(const Point& first) { return {first[0], 0.0}; }
  // Recall is not that of both neighbours.
  template <bool kOnce>
  static TM_INLINE std::size_t needs(const ScoreStep& a, const ScoreStep& b) {
    return std::min<std::size_t>(a.dp | b.dp, 1);
  }
};

struct DetCurve {
  using Point = std::array<double, 2>;
  static TM_INLINE Point at(const Reached& r) { return {r.fp / r.negatives, (r.positives - r.tp) / r.positives}; }
  static Point before(const Point&) { return {0.0, 1.0}; }
  template <bool kOnce>
  static TM_INLINE std::size_t needs(const ScoreStep&, const ScoreStep&) {
    return 1;
  }
};

struct LiftCurve {
  using Point = std::array<double, 3>;
  static TM_INLINE Point at(const Reached& r) {
    const double share = (r.tp + r.fp) / (r.positives + r.negatives), gain = r.tp / r.positives;
    return {share, gain, gain / share};
  }
  static Point before(const Point&) { return {0.0, 0.0, std::numeric_limits<double>::quiet_NaN()}; }
  template <bool kOnce>
  static TM_INLINE std::size_t needs(const ScoreStep&, const ScoreStep&) {
    return 1;
  }
};

// Not of rates: how many rows of both classes reach the threshold.
struct StepCurve {
  using Point = std::array<double, 2>;
  static TM_INLINE Point at(const Reached& r) { return {r.tp, r.fp}; }
  static Point before(const Point&) { return {0.0, 0.0}; }
  template <bool kOnce>
  static TM_INLINE std::size_t needs(const ScoreStep&, const ScoreStep&) {
    return 1;
  }
};

// Columns one after the other, of `room` places each, of which `size` from `first` on hold points. The thresholds come
// before the columns of the curve.
struct CurvePoints {
  std::shared_ptr<double[]> held;
  std::size_t columns = 0, room = 0, first = 0, size = 0;

  double* column(std::size_t k) const { return held.get() + k * room + first; }
};

namespace detail {

// The runs of one class in a stretch, from the highest down or from the lowest up. The score after the next one is
// loaded ahead, so that a step waits for a comparison and not for memory.
template <bool kDown, bool kOnce>
class RunsOf {
 public:
  // From a place on to where they end, with so many rows above it.
  RunsOf(const Runs& runs, std::size_t at, std::size_t end, std::uint64_t above)
      : runs_(runs), at_(at), end_(end), above_(above), now_(load(0)), next_(load(1)) {}

  bool more() const { return at_ != end_; }
  TM_INLINE double score() const { return std::bit_cast<double>(now_); }
  // How many rows lie above this place.
  TM_INLINE std::uint64_t above() const { return kOnce ? runs_.size - at_ : above_; }
  // Takes the score if `takes` is 1, without a branch that nobody could foresee; how many rows have it.
  TM_INLINE std::uint64_t take(std::uint64_t takes) {
    std::uint64_t rows = takes;
    if constexpr (!kOnce) {
      if (takes != 0) rows = static_cast<std::uint64_t>(runs_.count(kDown ? at_ - 1 : at_));
      above_ = kDown ? above_ + rows : above_ - rows;
    }
    now_ ^= (now_ ^ next_) & (0 - takes);
    at_ = kDown ? at_ - takes : at_ + takes;
    next_ = load(1);
    return rows;
  }

 private:
  TM_INLINE std::uint64_t load(std::size_t ahead) const {
    constexpr double kFar = (kDown ? -1.0 : 1.0) * std::numeric_limits<double>::infinity();
    const bool there = kDown ? at_ > end_ + ahead : at_ + ahead < end_;
    return std::bit_cast<std::uint64_t>(there ? runs_.scores[kDown ? at_ - 1 - ahead : at_ + ahead] : kFar);
  }

  const Runs& runs_;
  std::size_t at_, end_;
  std::uint64_t above_, now_, next_;
};

// The distinct scores of both classes, one a step.
template <bool kDown, bool kOnce>
struct StepsOf {
  RunsOf<kDown, kOnce> negative, positive;

  bool more() const { return negative.more() || positive.more(); }
  TM_INLINE ScoreStep take() {
    const double a = negative.score(), b = positive.score();
    const bool takes_negative = kDown ? a >= b : a <= b, takes_positive = kDown ? b >= a : b <= a;
    return {takes_negative ? a : b, negative.take(takes_negative ? 1 : 0), positive.take(takes_positive ? 1 : 0)};
  }
};

// The step below a stretch, if there is one.
template <bool kOnce>
bool step_below(const Runs& negative, const Runs& positive, const Stretch& part, ScoreStep& below) {
  StepsOf<true, kOnce> lower{{negative, part.negative_end, 0, 0}, {positive, part.positive_end, 0, 0}};
  if (!lower.more()) return false;
  below = lower.take();
  return true;
}

// Where points are written to.
template <class Curve>
struct PointColumns {
  static constexpr std::size_t kColumns = std::tuple_size_v<typename Curve::Point>;
  double* scores;
  std::array<double*, kColumns> columns;
  double positives, negatives;

  TM_INLINE void put(std::size_t at, double score, std::uint64_t tp, std::uint64_t fp) const {
    // Signed, which one instruction converts; there are never 2^63 rows.
    const auto hits = static_cast<double>(static_cast<std::int64_t>(tp));
    const auto alarms = static_cast<double>(static_cast<std::int64_t>(fp));
    put(at, score, Curve::at({hits, alarms, positives, negatives}));
  }
  TM_INLINE void put(std::size_t at, double score, const typename Curve::Point& point) const {
    scores[at] = score;
    for (std::size_t k = 0; k < kColumns; ++k) columns[k][at] = point[k];
  }
};

// No sums beside the points.
struct NoSums {
  explicit NoSums(RankCounts&) {}
  TM_INLINE void add(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t) {}
  void finish() {}
};

// Writes the points of a stretch from `at` on, and returns where they end. The step after a point says whether it is
// needed, in the next stretch if need be; else the next point takes its place.
template <class Curve, bool kOnce, class Sums>
std::size_t write_down(const Runs& negative, const Runs& positive, const Stretch& part, std::size_t always,
                       const PointColumns<Curve> out, std::size_t at, Sums sums) {
  StepsOf<true, kOnce> steps{{negative, part.negative, part.negative_end, part.fp},
                             {positive, part.positive, part.positive_end, part.tp}};
  if (!steps.more()) return at;
  const auto write = [&](const ScoreStep& step) TM_LAMBDA {
    const std::uint64_t fp = steps.negative.above(), tp = steps.positive.above();
    sums.add(step.dn, step.dp, fp, tp);
    out.put(at, step.score, tp, fp);
  };
  ScoreStep above = steps.take();
  write(above);
  while (steps.more()) {
    const ScoreStep step = steps.take();
    at += Curve::template needs<kOnce>(above, step) | always;
    write(step);
    above.dn = step.dn;  // one by one: a copy of all would have to wait for them
    above.dp = step.dp;
  }
  sums.finish();
  ScoreStep below;
  const bool last = !step_below<kOnce>(negative, positive, part, below);
  return at + (last ? 1 : Curve::template needs<kOnce>(above, below) | always);
}

// Writes the points of a stretch from its lowest up, so that they end before `at`, and returns where they start.
template <class Curve, bool kOnce, class Sums>
std::size_t write_up(const Runs& negative, const Runs& positive, const Stretch& part, std::size_t always,
                     const PointColumns<Curve> out, std::size_t at, Sums sums) {
  const std::size_t i = part.negative_end, j = part.positive_end;
  StepsOf<false, kOnce> steps{{negative, i, part.negative, part.fp + total(negative, i, part.negative)},
                              {positive, j, part.positive, part.tp + total(positive, j, part.positive)}};
  ScoreStep below;
  std::size_t last = step_below<kOnce>(negative, positive, part, below) ? 0 : 1;
  while (steps.more()) {
    const std::uint64_t fp = steps.negative.above(), tp = steps.positive.above();
    const ScoreStep step = steps.take();
    sums.add(step.dn, step.dp, fp, tp);
    out.put(at - 1, step.score, tp, fp);
    at -= Curve::template needs<kOnce>(step, below) | always | last;
    below.dn = step.dn;  // one by one, as above
    below.dp = step.dp;
    last = 0;
  }
  sums.finish();
  return at;
}

template <class Curve, bool kOnce, class Sums>
CurvePoints list_points(const Runs& negative, const Runs& positive, bool drop, RankCounts& counts) {
  using Columns = PointColumns<Curve>;
  const std::size_t room = negative.size + positive.size + 1, threads = threads_for(room), always = drop ? 0 : 1;
  CurvePoints out{room_for<double>(room * (Columns::kColumns + 1)), Columns::kColumns + 1, room};
  Columns columns{out.column(0), {}, static_cast<double>(counts.positives), static_cast<double>(counts.negatives)};
  for (std::size_t k = 0; k < Columns::kColumns; ++k) columns.columns[k] = out.column(k + 1);

  // From the middle, half of the threads walk up and half down, so that two leave no gap between them.
  const auto parts = cut_walk(negative, positive, threads);
  const std::size_t middle = threads / 2;
  std::vector<std::size_t> starts(threads), ends(threads);
  std::vector<RankCounts> found(threads, counts);
  for_ranges(threads, threads, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t t = first; t < last; ++t) {
      const Stretch& part = parts[t];
      starts[t] = 1 + (negative.size - part.negative) + (positive.size - part.positive);
      ends[t] = 1 + (negative.size - part.negative_end) + (positive.size - part.positive_end);
      if (t < middle)
        starts[t] = write_up<Curve, kOnce>(negative, positive, part, always, columns, ends[t], Sums(found[t]));
      else
        ends[t] = write_down<Curve, kOnce>(negative, positive, part, always, columns, starts[t], Sums(found[t]));
    }
  });
  counts = add_parts(counts, found);
  std::size_t start = starts[middle], end = start;
  const auto each_column = [&](auto&& move) {
    for (std::size_t k = 0; k < out.columns; ++k) move(out.column(k));
  };
  for (std::size_t t = middle; t-- > 0;) {
    if (ends[t] != start) each_column([&](double* c) { std::copy_backward(c + starts[t], c + ends[t], c + start); });
    start -= ends[t] - starts[t];
  }
  for (std::size_t t = middle; t < threads; ++t) {
    if (starts[t] != end) each_column([&](double* c) { std::copy(c + starts[t], c + ends[t], c + end); });
    end += ends[t] - starts[t];
  }

  typename Curve::Point highest{};
  for (std::size_t k = 0; k < Columns::kColumns && start < end; ++k) highest[k] = columns.columns[k][start];
  columns.put(start - 1, std::numeric_limits<double>::infinity(), Curve::before(highest));
  out.first = start - 1;
  out.size = end - out.first;
  return out;
}

}  // namespace detail

// From the point that no row reaches on. With `drop`, points that the curve does not need are left out.
template <class Curve>
CurvePoints list_points(const Runs& negative, const Runs& positive, bool drop) {
  RankCounts counts = count_classes(negative, positive);
  const bool once = negative.counts == nullptr && positive.counts == nullptr;
  return once ? detail::list_points<Curve, true, detail::NoSums>(negative, positive, drop, counts)
              : detail::list_points<Curve, false, detail::NoSums>(negative, positive, drop, counts);
}

// The ROC curve, and from the same walk the sums that `count_ranks` gives, without the trapezoids.
inline CurvePoints list_roc(const Runs& negative, const Runs& positive, bool drop, bool steps, RankCounts& counts) {
  counts = count_classes(negative, positive);
  const bool once = negative.counts == nullptr && positive.counts == nullptr;
  const auto list = [&]<bool kSteps, bool kOnce, class Number>() {
    using Sums = detail::StepSums<kSteps, false, true, kOnce, Number>;
    return detail::list_points<RocCurve, kOnce, Sums>(negative, positive, drop, counts);
  };
  if (once && is_narrow(counts))
    return steps ? list.operator()<true, true, std::int64_t>() : list.operator()<false, true, std::int64_t>();
  return steps ? list.operator()<true, false, Signed>() : list.operator()<false, false, Signed>();
}

// Every distinct score, the highest first, and the weight of positives and negatives from there on up. Runs with
// weights also have what lies below: as a difference of doubles, little that is left of much would lose its digits.
struct StepList {
  std::shared_ptr<double[]> scores, hits, alarms;
  std::size_t size = 0;
  std::shared_ptr<double[]> missed, spared;
};

inline StepList list_steps(const Runs& negative, const Runs& positive) {
  if (negative.weights == nullptr && positive.weights == nullptr) {
    const CurvePoints found = list_points<StepCurve>(negative, positive, false);
    const auto column = [&](std::size_t k) { return std::shared_ptr<double[]>(found.held, found.column(k) + 1); };
    return {column(0), column(1), column(2), found.size - 1, nullptr, nullptr};
  }
  const auto room = [&] { return room_for<double>(negative.size + positive.size); };
  StepList out{room(), room(), room(), 0, room(), room()};
  Pair positives, negatives, tp, fp;
  each_step(negative, positive, 0, 0, [&](double, const Pair& dp, const Pair& dn) {
    positives = positives + dp;
    negatives = negatives + dn;
  });
  each_step(negative, positive, 0, 0, [&](double score, const Pair& dp, const Pair& dn) {
    tp = tp + dp;
    fp = fp + dn;
    out.scores[out.size] = score;
    out.hits[out.size] = tp.value();
    out.alarms[out.size] = fp.value();
    out.missed[out.size] = std::max(0.0, (positives - tp).value());
    out.spared[out.size++] = std::max(0.0, (negatives - fp).value());
  });
  return out;
}

}  // namespace tallymark

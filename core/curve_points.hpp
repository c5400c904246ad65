// The points of curves over all thresholds, of runs without weights. One walk serves every curve: a curve says what
// stands in a point, and which points it needs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "rank_sums.hpp"

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
    if constexpr (kOnce) return a.dn * b.dp != b.dn * a.dp ? 1 : 0;
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

// The next step down from `i` and `j`, or up from them, if there is any before the ends.
template <bool kDown, bool kOnce>
TM_INLINE ScoreStep take_step(const Runs& negative, const Runs& positive, std::size_t& i, std::size_t& j,
                              std::size_t i_end, std::size_t j_end) {
  constexpr double kFar = (kDown ? -1.0 : 1.0) * std::numeric_limits<double>::infinity();
  constexpr std::size_t kBack = kDown ? 1 : 0;
  const double a = i != i_end ? negative.scores[i - kBack] : kFar, b = j != j_end ? positive.scores[j - kBack] : kFar;
  const bool takes_negative = kDown ? a >= b : a <= b, takes_positive = kDown ? b >= a : b <= a;
  ScoreStep out{takes_negative ? a : b, takes_negative ? 1U : 0U, takes_positive ? 1U : 0U};
  const std::size_t at_negative = i - kBack, at_positive = j - kBack;
  i = kDown ? i - out.dn : i + out.dn;
  j = kDown ? j - out.dp : j + out.dp;
  if constexpr (!kOnce) {
    if (takes_negative) out.dn = static_cast<std::uint64_t>(negative.count(at_negative));
    if (takes_positive) out.dp = static_cast<std::uint64_t>(positive.count(at_positive));
  }
  return out;
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

// Writes the points of a stretch from `at` on, and returns where they end. A point is written when the step after it is
// known, in the next stretch if need be.
template <class Curve, bool kOnce>
std::size_t write_down(const Runs& negative, const Runs& positive, const Stretch& part, std::size_t always,
                       const PointColumns<Curve> out, std::size_t at) {
  std::size_t i = part.negative, j = part.positive;
  if (i == part.negative_end && j == part.positive_end) return at;
  std::uint64_t tp = part.tp, fp = part.fp;
  ScoreStep held = take_step<true, kOnce>(negative, positive, i, j, part.negative_end, part.positive_end);
  const auto write = [&](std::size_t needed) TM_LAMBDA {
    tp += held.dp;
    fp += held.dn;
    out.put(at, held.score, tp, fp);
    at += needed | always;
  };
  while (i > part.negative_end || j > part.positive_end) {
    const ScoreStep next = take_step<true, kOnce>(negative, positive, i, j, part.negative_end, part.positive_end);
    write(Curve::template needs<kOnce>(held, next));
    held = next;
  }
  const bool last = i == 0 && j == 0;
  write(last ? 1 : Curve::template needs<kOnce>(held, take_step<true, kOnce>(negative, positive, i, j, 0, 0)));
  return at;
}

// Writes the points of a stretch from its lowest up, so that they end before `at`, and returns where they start.
template <class Curve, bool kOnce>
std::size_t write_up(const Runs& negative, const Runs& positive, const Stretch& part, std::size_t always,
                     const PointColumns<Curve> out, std::size_t at) {
  std::size_t i = part.negative_end, j = part.positive_end;
  std::uint64_t tp = part.tp + total(positive, j, part.positive), fp = part.fp + total(negative, i, part.negative);
  std::size_t i_below = i, j_below = j, last = i == 0 && j == 0 ? 1 : 0;
  ScoreStep below;
  if (last == 0) below = take_step<true, kOnce>(negative, positive, i_below, j_below, 0, 0);
  while (i < part.negative || j < part.positive) {
    const ScoreStep step = take_step<false, kOnce>(negative, positive, i, j, part.negative, part.positive);
    out.put(at - 1, step.score, tp, fp);
    at -= Curve::template needs<kOnce>(step, below) | always | last;
    tp -= step.dp;
    fp -= step.dn;
    below = step;
    last = 0;
  }
  return at;
}

template <class Curve, bool kOnce>
CurvePoints list_points(const Runs& negative, const Runs& positive, bool drop) {
  using Columns = PointColumns<Curve>;
  const std::size_t room = negative.size + positive.size + 1, threads = threads_for(room), always = drop ? 0 : 1;
  CurvePoints out{std::shared_ptr<double[]>(new double[room * (Columns::kColumns + 1)]), Columns::kColumns + 1, room};
  Columns columns{out.column(0),
                  {},
                  static_cast<double>(total(positive, 0, positive.size)),
                  static_cast<double>(total(negative, 0, negative.size))};
  for (std::size_t k = 0; k < Columns::kColumns; ++k) columns.columns[k] = out.column(k + 1);

  // From the middle, half of the threads walk up and half down, so that two leave no gap between them.
  const auto parts = cut_walk(negative, positive, threads);
  const std::size_t middle = threads / 2;
  std::vector<std::size_t> starts(threads), ends(threads);
  for_ranges(threads, threads, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t t = first; t < last; ++t) {
      const Stretch& part = parts[t];
      starts[t] = 1 + (negative.size - part.negative) + (positive.size - part.positive);
      ends[t] = 1 + (negative.size - part.negative_end) + (positive.size - part.positive_end);
      if (t < middle)
        starts[t] = write_up<Curve, kOnce>(negative, positive, part, always, columns, ends[t]);
      else
        ends[t] = write_down<Curve, kOnce>(negative, positive, part, always, columns, starts[t]);
    }
  });
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
  const bool once = negative.counts == nullptr && positive.counts == nullptr;
  return once ? detail::list_points<Curve, true>(negative, positive, drop)
              : detail::list_points<Curve, false>(negative, positive, drop);
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

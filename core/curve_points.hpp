// The points of curves over all thresholds, of runs without weights. One walk serves every curve: a curve says what
// stands in a point, and which points it needs. How many that are is known from the bits of the walk before the first
// is written, so that several threads write theirs side by side, and points that nobody needs cost nothing. The sums
// beside a ROC curve come from the same bits.
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

#include "page_pool.hpp"
#include "rank_weights.hpp"
#include "step_bits.hpp"

namespace tallymark {

// How many rows of both classes reach a threshold, and how many there are.
struct Reached {
  double tp, fp, positives, negatives;
};

inline constexpr std::uint64_t kAll = ~std::uint64_t{0};

// A curve has columns beside the threshold: `at` a threshold, and where no row reaches it, `before` the first point.
// `needs` says which points are more than what lies between their neighbours, from the bits of the steps to them and
// from them; `kTurns`, whether that is also so where the step to a point and from it take both classes, but not in the
// same proportion.
struct RocCurve {
  using Point = std::array<double, 2>;
  static TM_INLINE Point at(const Reached& r) { return {r.fp / r.negatives, r.tp / r.positives}; }
  static Point before(const Point&) { return {0.0, 0.0}; }
  static constexpr bool kTurns = true;
  static TM_INLINE std::uint64_t needs(const detail::StepWord& to, const detail::StepWord& from) {
    return (to.negative ^ from.negative) | (to.positive ^ from.positive);
  }
};

struct PrecisionRecallCurve {
  using Point = std::array<double, 2>;
  static TM_INLINE Point at(const Reached& r) { return {r.tp / (r.tp + r.fp), r.tp / r.positives}; }
  static Point before(const Point& first) { return {first[0], 0.0}; }
  // Recall is not that of both neighbours.
  static constexpr bool kTurns = false;
  static TM_INLINE std::uint64_t needs(const detail::StepWord& to, const detail::StepWord& from) {
    return to.positive | from.positive;
  }
};

struct DetCurve {
  using Point = std::array<double, 2>;
  static TM_INLINE Point at(const Reached& r) { return {r.fp / r.negatives, (r.positives - r.tp) / r.positives}; }
  static Point before(const Point&) { return {0.0, 1.0}; }
  static constexpr bool kTurns = false;
  static TM_INLINE std::uint64_t needs(const detail::StepWord&, const detail::StepWord&) { return kAll; }
};

struct LiftCurve {
  using Point = std::array<double, 3>;
  static TM_INLINE Point at(const Reached& r) {
    const double share = (r.tp + r.fp) / (r.positives + r.negatives), gain = r.tp / r.positives;
    return {share, gain, gain / share};
  }
  static Point before(const Point&) { return {0.0, 0.0, std::numeric_limits<double>::quiet_NaN()}; }
  static constexpr bool kTurns = false;
  static TM_INLINE std::uint64_t needs(const detail::StepWord&, const detail::StepWord&) { return kAll; }
};

// Not of rates: how many rows of both classes reach the threshold.
struct StepCurve {
  using Point = std::array<double, 2>;
  static TM_INLINE Point at(const Reached& r) { return {r.tp, r.fp}; }
  static Point before(const Point&) { return {0.0, 0.0}; }
  static constexpr bool kTurns = false;
  static TM_INLINE std::uint64_t needs(const detail::StepWord&, const detail::StepWord&) { return kAll; }
};

// Columns one after the other. The thresholds come before the columns of the curve.
struct CurvePoints {
  std::shared_ptr<double[]> held;
  std::size_t columns = 0, size = 0;

  double* column(std::size_t k) const { return held.get() + k * size; }
};

namespace detail {

// Where points are written to.
template <class Curve>
struct PointColumns {
  static constexpr std::size_t kColumns = std::tuple_size_v<typename Curve::Point>;
  double* scores;
  std::array<double*, kColumns> columns;
  double positives, negatives;

  TM_INLINE void put(std::size_t at, double score, std::uint64_t tp, std::uint64_t fp) const {
    put(at, score, Curve::at({number(tp), number(fp), positives, negatives}));
  }
  TM_INLINE void put(std::size_t at, double score, const typename Curve::Point& point) const {
    scores[at] = score;
    for (std::size_t k = 0; k < kColumns; ++k) columns[k][at] = point[k];
  }
};

// No sums: neither in a walk, nor beside the points.
struct NoSums {
  TM_INLINE void add(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t) {}
  TM_INLINE void at(std::uint64_t, std::uint64_t) {}
  TM_INLINE void over(const StepWord&) {}
  TM_INLINE void finish() {}
};

// The sums beside the points of a ROC curve that its walk has not taken.
template <bool kSteps, bool kOnce, class Number>
class SumsOfPoints {
 public:
  SumsOfPoints(const Runs& negative, const Runs& positive, const Stretch& part, RankCounts& out)
      : out_(out),
        hits_(negative, positive, part),
        steps_(out.steps, static_cast<double>(out.positives)),
        positives_(static_cast<Number>(out.positives)),
        negatives_(static_cast<Number>(out.negatives)) {}

  // The rates are farthest from each other where the curve turns.
  TM_INLINE void at(std::uint64_t fp, std::uint64_t tp) {
    const Number distance = static_cast<Number>(tp) * negatives_ - static_cast<Number>(fp) * positives_;
    highest_ = std::max(highest_, distance);
    lowest_ = std::min(lowest_, distance);
  }
  TM_INLINE void over(const StepWord& word) {
    if constexpr (kSteps) {
      for (std::uint64_t left = word.positive; left != 0; left &= left - 1) {
        hits_.to(word, down_to_lowest(left));
        steps_.add(number(hits_.dp()) * precision(hits_.tp(), hits_.fp()), 1);
      }
      hits_.past(word);
    }
  }
  TM_INLINE void finish() {
    out_.highest = static_cast<Signed>(highest_);
    out_.lowest = static_cast<Signed>(lowest_);
    steps_.flush();
  }

 private:
  RankCounts& out_;
  RowsAbove<kOnce> hits_;
  TermBlock steps_;
  Number positives_, negatives_, highest_ = 0, lowest_ = 0;
};

// Which points of a stretch a curve needs, by word, and how many there are.
struct NeededPoints {
  std::vector<std::uint64_t> words;
  std::size_t count = 0;
};

template <class Curve, bool kOnce>
TM_CLONES_OF_TEMPLATE static void find_needed(const Runs& negative, const Runs& positive, const Stretch& part,
                                              const StepBits& bits, bool drop, NeededPoints& out) {
  const StepWord below = step_below(negative, positive, part);
  const bool last = (below.negative | below.positive) == 0;
  RowsAbove<kOnce> above(negative, positive, part);
  for (std::size_t w = 0; w < bits.words(); ++w) {
    const StepWord to = bits[w], from = bits.next(w, below);
    std::uint64_t needed = drop ? Curve::needs(to, from) : kAll;
    if constexpr (Curve::kTurns && !kOnce) {
      using Product = UInt128;
      for (std::uint64_t left = to.negative & to.positive & from.negative & from.positive; left != 0;
           left &= left - 1) {
        above.to(to, down_to_lowest(left));
        if (static_cast<Product>(above.dn()) * above.next_dp() != static_cast<Product>(above.next_dn()) * above.dp())
          needed |= left & -left;
      }
      above.past(to);
    }
    const std::size_t top = bits.steps(w) - 1;
    if (last && w + 1 == bits.words()) needed |= std::uint64_t{1} << top;
    needed &= kAll >> (63 - top);
    out.words[w] = needed;
    out.count += static_cast<std::size_t>(std::popcount(needed));
  }
}

template <class Curve, bool kOnce, class Sums>
TM_CLONES_OF_TEMPLATE static void write_points(const Runs& negative, const Runs& positive, const Stretch& part,
                                               const StepBits& bits, const NeededPoints& needed,
                                               const PointColumns<Curve> out, std::size_t at, Sums sums) {
  RowsAbove<kOnce> above(negative, positive, part);
  for (std::size_t w = 0; w < bits.words(); ++w) {
    const StepWord word = bits[w];
    for (std::uint64_t left = needed.words[w]; left != 0; left &= left - 1) {
      above.to(word, down_to_lowest(left));
      sums.at(above.fp(), above.tp());
      out.put(at++, above.score(word.positive >> std::countr_zero(left) & 1), above.tp(), above.fp());
    }
    sums.over(word);
    above.past(word);
  }
  sums.finish();
}

// `walking(k)` are the sums that the walk of stretch k takes, `writing(k)` those of its points.
template <class Curve, bool kOnce, class Walking, class Writing>
CurvePoints list_points(const Runs& negative, const Runs& positive, bool drop, const RankCounts& whole,
                        const std::vector<Stretch>& parts, Walking&& walking, Writing&& writing) {
  using Columns = PointColumns<Curve>;
  const std::size_t threads = parts.size() / 2;
  std::vector<StepBits> bits(parts.begin(), parts.end());
  std::vector<NeededPoints> needed(parts.size());
  for_ranges(threads, threads, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t k = 2 * first; k < 2 * last; ++k) {
      if (k % 2 == 0)
        walk_two<kOnce>(negative, positive, &parts[k], Recorded<kOnce, decltype(walking(k))>(walking(k), bits[k]),
                        Recorded<kOnce, decltype(walking(k))>(walking(k + 1), bits[k + 1]));
      needed[k].words.resize(bits[k].words());
      find_needed<Curve, kOnce>(negative, positive, parts[k], bits[k], drop, needed[k]);
    }
  });

  std::vector<std::size_t> starts(parts.size());
  std::size_t size = 1;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    starts[k] = size;
    size += needed[k].count;
  }
  CurvePoints out{room_for<double>(size * (Columns::kColumns + 1)), Columns::kColumns + 1, size};
  Columns columns{out.column(0), {}, static_cast<double>(whole.positives), static_cast<double>(whole.negatives)};
  for (std::size_t k = 0; k < Columns::kColumns; ++k) columns.columns[k] = out.column(k + 1);
  for_ranges(threads, threads, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t k = 2 * first; k < 2 * last; ++k)
      write_points<Curve, kOnce>(negative, positive, parts[k], bits[k], needed[k], columns, starts[k], writing(k));
  });

  typename Curve::Point highest{};
  for (std::size_t k = 0; k < Columns::kColumns && size > 1; ++k) highest[k] = columns.columns[k][1];
  columns.put(0, std::numeric_limits<double>::infinity(), Curve::before(highest));
  return out;
}

inline std::vector<Stretch> cut_points(const Runs& negative, const Runs& positive) {
  return cut_walk(negative, positive, 2 * threads_for(negative.size + positive.size));
}

inline bool each_once(const Runs& negative, const Runs& positive) {
  return negative.counts == nullptr && positive.counts == nullptr;
}

}  // namespace detail

// From the point that no row reaches on. With `drop`, points that the curve does not need are left out.
template <class Curve>
CurvePoints list_points(const Runs& negative, const Runs& positive, bool drop) {
  const auto list = [&]<bool kOnce>() {
    const auto none = [](std::size_t) { return detail::NoSums(); };
    const auto parts = detail::cut_points(negative, positive);
    return detail::list_points<Curve, kOnce>(negative, positive, drop, count_classes(negative, positive), parts, none,
                                             none);
  };
  return detail::each_once(negative, positive) ? list.template operator()<true>() : list.template operator()<false>();
}

// The ROC curve, and from the same walk the sums that `count_ranks` gives, without the trapezoids.
inline CurvePoints list_roc(const Runs& negative, const Runs& positive, bool drop, bool steps, RankCounts& counts) {
  counts = count_classes(negative, positive);
  const auto parts = detail::cut_points(negative, positive);
  std::vector<RankCounts> found(parts.size(), counts);
  const auto list = [&]<bool kSteps, bool kOnce, class Number>() {
    const auto walking = [&](std::size_t k) { return detail::StepSums<false, false, false, kOnce, Number>(found[k]); };
    const auto writing = [&](std::size_t k) {
      return detail::SumsOfPoints<kSteps, kOnce, Number>(negative, positive, parts[k], found[k]);
    };
    return detail::list_points<RocCurve, kOnce>(negative, positive, drop, counts, parts, walking, writing);
  };
  CurvePoints out;
  if (detail::each_once(negative, positive) && is_narrow(counts))
    out = steps ? list.operator()<true, true, std::int64_t>() : list.operator()<false, true, std::int64_t>();
  else
    out = steps ? list.operator()<true, false, Signed>() : list.operator()<false, false, Signed>();
  counts = add_parts(counts, found);
  return out;
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

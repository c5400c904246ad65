// How the scores of two classes stand to each other: what the area under the ROC curve, average precision and their
// kin are made of.
//
// Both classes come as runs in order. A walk goes from the highest score down, one distinct score at a time. Without
// weights everything is a whole number, and the terms that are not are summed exactly, so that the walk can be cut into
// pieces for several threads. With weights the sums are kept to twice the digits of a double, in the order of the
// scores, which is a function of the rows.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "scores.hpp"

namespace tallymark {

using Signed = __int128;

// A number as the unrounded sum of two doubles.
struct Pair {
  double high = 0.0, low = 0.0;

  static Pair sum(double a, double b) {
    const double s = a + b, bb = s - a;
    return {s, (a - (s - bb)) + (b - bb)};
  }
  static Pair product(double a, double b) {
    const double p = a * b;
    return {p, std::fma(a, b, -p)};
  }
  Pair operator+(const Pair& o) const {
    Pair s = sum(high, o.high), t = sum(low, o.low);
    s.low += t.high;
    s = sum(s.high, s.low);
    s.low += t.low;
    return sum(s.high, s.low);
  }
  Pair operator-(const Pair& o) const { return *this + Pair{-o.high, -o.low}; }
  Pair operator*(const Pair& o) const {
    Pair p = product(high, o.high);
    p.low += high * o.low + low * o.high;
    return sum(p.high, p.low);
  }
  Pair operator*(double f) const {
    Pair p = product(high, f);
    p.low += low * f;
    return sum(p.high, p.low);
  }
  Pair operator/(const Pair& o) const {
    const double q = high / o.high;
    const Pair rest = *this - o * q;
    return sum(q, (rest.high + rest.low) / o.high);
  }
  bool operator<(const Pair& o) const { return high < o.high || (high == o.high && low < o.low); }
  double value() const { return high + low; }
};

// Which sums a walk takes; a part that is not asked for costs nothing.
struct Wanted {
  bool precision = false;  // average precision and the area under the curve of precision and recall
  bool distance = false;   // the largest distance between the rates
};

// Of whole counts: the exact numerators.
struct RankCounts {
  std::uint64_t positives = 0, negatives = 0;
  Signed twice_wins = 0;           // Σ over positives of 2 (negatives below) + (negatives level)
  Signed highest = 0, lowest = 0;  // of tp * negatives - fp * positives
  ExactSum steps, trapezoids;      // Σ Δtp precision, and Σ Δtp (precision here and at the score before) / 2
};

// Of weights.
struct RankWeights {
  bool positives = false, negatives = false;  // whether there are any
  double area = 0.0, distance = 0.0, steps = 0.0, trapezoids = 0.0;
};

namespace detail {

// A part of a walk: places from which on it goes down, where it ends, and what lies above.
struct Stretch {
  std::size_t negative, positive, negative_end, positive_end;
  std::uint64_t fp = 0, tp = 0;
};

// Blocks of terms on their way to an exact sum.
class TermBlock {
 public:
  explicit TermBlock(ExactSum& sum) : sum_(sum) {}
  TM_INLINE void add(double term) {
    terms_[count_++] = term;
    if (count_ == kBlock) flush();
  }
  void flush() {
    const double* t = terms_;
    add_block(sum_, count_, largest(count_, TM_EACH(t[i])), TM_EACH(t[i]));
    count_ = 0;
  }

 private:
  ExactSum& sum_;
  std::size_t count_ = 0;
  double terms_[kBlock];
};

// The precision of what lies above a stretch; -1 where nothing does, and the first score speaks for itself.
inline double precision_above(const Stretch& at) {
  return at.tp + at.fp == 0 ? -1.0 : static_cast<double>(at.tp) / static_cast<double>(at.tp + at.fp);
}

// Steps between two looks at the wide sums.
inline constexpr std::size_t kStride = 4096;

template <bool kPrecision, bool kDistance, bool kOnce>
void walk(const Runs& negative, const Runs& positive, Stretch at, RankCounts& out) {
  const auto all_negatives = static_cast<Signed>(out.negatives), all_positives = static_cast<Signed>(out.positives);
  Signed distance = static_cast<Signed>(at.tp) * all_negatives - static_cast<Signed>(at.fp) * all_positives;
  TermBlock steps(out.steps), trapezoids(out.trapezoids);
  double before = precision_above(at);
  std::uint64_t tp = at.tp, fp = at.fp;
  const double* n = negative.scores + at.negative;
  const double* p = positive.scores + at.positive;
  const double* const n_end = negative.scores + at.negative_end;
  const double* const p_end = positive.scores + at.positive_end;
  const auto step = [&](std::uint64_t takes_negative, std::uint64_t takes_positive) TM_LAMBDA {
    std::uint64_t dn = takes_negative, dp = takes_positive;
    n -= takes_negative;
    p -= takes_positive;
    if constexpr (!kOnce) {
      dn = takes_negative != 0
               ? static_cast<std::uint64_t>(negative.count(static_cast<std::size_t>(n - negative.scores)))
               : 0;
      dp = takes_positive != 0
               ? static_cast<std::uint64_t>(positive.count(static_cast<std::size_t>(p - positive.scores)))
               : 0;
    }
    tp += dp;
    fp += dn;
    if constexpr (kDistance) {
      distance += static_cast<Signed>(dp) * all_negatives - static_cast<Signed>(dn) * all_positives;
      out.highest = distance > out.highest ? distance : out.highest;
      out.lowest = distance < out.lowest ? distance : out.lowest;
    }
    if constexpr (kPrecision) {
      const double now = static_cast<double>(tp) / static_cast<double>(tp + fp);
      before = before < 0.0 ? now : before;
      if (dp != 0) {
        steps.add(static_cast<double>(dp) * now);
        trapezoids.add(static_cast<double>(dp) * (0.5 * (before + now)));
      }
      before = now;
    }
    return std::pair{dp, 2 * (out.negatives - fp) + dn};
  };
  // Both classes go down together. A sum of few steps of single rows fits 64 bits.
  while (n > n_end && p > p_end) {
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < kStride && n > n_end && p > p_end; ++k) {
      const double a = n[-1], b = p[-1];
      const auto [dp, wins] = step(a >= b ? 1 : 0, b >= a ? 1 : 0);
      if constexpr (kOnce)
        sum += wins & (0 - dp);
      else
        out.twice_wins += static_cast<Signed>(dp) * static_cast<Signed>(wins);
    }
    out.twice_wins += static_cast<Signed>(sum);
  }
  // What is left of one class lies below all of the other.
  while (n > n_end || p > p_end) {
    const auto [dp, wins] = step(n > n_end ? 1 : 0, p > p_end ? 1 : 0);
    out.twice_wins += static_cast<Signed>(dp) * static_cast<Signed>(wins);
  }
  steps.flush();
  trapezoids.flush();
}

template <bool kOnce>
void walk(const Wanted& wanted, const Runs& negative, const Runs& positive, const Stretch& at, RankCounts& out) {
  if (wanted.precision) return walk<true, true, kOnce>(negative, positive, at, out);
  if (wanted.distance) return walk<false, true, kOnce>(negative, positive, at, out);
  walk<false, false, kOnce>(negative, positive, at, out);
}

inline std::uint64_t total(const Runs& runs, std::size_t first, std::size_t last) {
  if (runs.counts == nullptr) return last - first;
  std::uint64_t sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += static_cast<std::uint64_t>(runs.counts[i]);
  return sum;
}

}  // namespace detail

// Runs without weights.
inline RankCounts count_ranks(const Runs& negative, const Runs& positive, const Wanted& wanted) {
  const std::size_t threads = threads_for(negative.size + positive.size);
  RankCounts whole;
  whole.positives = detail::total(positive, 0, positive.size);
  whole.negatives = detail::total(negative, 0, negative.size);
  // The longer class is cut into even parts, the other where the scores of the cuts belong.
  const bool by_positive = positive.size >= negative.size;
  const Runs& longer = by_positive ? positive : negative;
  const Runs& other = by_positive ? negative : positive;
  std::vector<detail::Stretch> parts(threads);
  std::size_t above_longer = longer.size, above_other = other.size;
  std::uint64_t fp = 0, tp = 0;
  for (std::size_t t = threads; t-- > 0;) {
    const std::size_t cut = longer.size * t / threads;
    const std::size_t there =
        t == 0 ? 0
               : static_cast<std::size_t>(
                     std::lower_bound(other.scores, other.scores + other.size, longer.scores[cut]) - other.scores);
    parts[t] = by_positive ? detail::Stretch{above_other, above_longer, there, cut, fp, tp}
                           : detail::Stretch{above_longer, above_other, cut, there, fp, tp};
    fp += detail::total(negative, parts[t].negative_end, parts[t].negative);
    tp += detail::total(positive, parts[t].positive_end, parts[t].positive);
    above_longer = cut;
    above_other = there;
  }
  std::vector<RankCounts> found(threads);
  const bool once = negative.counts == nullptr && positive.counts == nullptr;
  for_ranges(threads, threads, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t t = first; t < last; ++t) {
      found[t].positives = whole.positives;
      found[t].negatives = whole.negatives;
      if (once)
        detail::walk<true>(wanted, negative, positive, parts[t], found[t]);
      else
        detail::walk<false>(wanted, negative, positive, parts[t], found[t]);
    }
  });
  for (const RankCounts& part : found) {
    whole.twice_wins += part.twice_wins;
    whole.highest = std::max(whole.highest, part.highest);
    whole.lowest = std::min(whole.lowest, part.lowest);
    whole.steps.add(part.steps);
    whole.trapezoids.add(part.trapezoids);
  }
  return whole;
}

// Calls visit(score, dp, dn) for every distinct score, the highest first, with the weights of both classes there, which
// are multiplied by 2^down.
template <class Visit>
void each_step(const Runs& negative, const Runs& positive, int down_negative, int down_positive, Visit&& visit) {
  const auto weight = [](const Runs& runs, std::size_t i, int down) {
    return Pair::product(std::ldexp(runs.weight(i), down), static_cast<double>(runs.count(i)));
  };
  std::size_t i = negative.size, j = positive.size;
  while (i > 0 || j > 0) {
    const double score = i == 0                                                       ? positive.scores[j - 1]
                         : j == 0 || negative.scores[i - 1] >= positive.scores[j - 1] ? negative.scores[i - 1]
                                                                                      : positive.scores[j - 1];
    Pair dn, dp;
    for (; i > 0 && negative.scores[i - 1] == score; --i) dn = dn + weight(negative, i - 1, down_negative);
    for (; j > 0 && positive.scores[j - 1] == score; --j) dp = dp + weight(positive, j - 1, down_positive);
    visit(score, dp, dn);
  }
}

// The power of two next to the largest weight of a class: only ratios matter, and near 1 no product leaves the doubles.
inline int scale_of(const Runs& runs) {
  double most = 0.0;
  for (std::size_t i = 0; i < runs.size; ++i) most = std::max(most, runs.weight(i));
  return most > 0.0 ? std::ilogb(most) : 0;
}

// Runs with weights.
inline RankWeights weigh_ranks(const Runs& negative, const Runs& positive) {
  const int down_negative = -scale_of(negative), down_positive = -scale_of(positive);
  Pair all_positives, all_negatives;
  const auto walk = [&](auto&& visit) { each_step(negative, positive, down_negative, down_positive, visit); };
  walk([&](double, const Pair& dp, const Pair& dn) {
    all_positives = all_positives + dp;
    all_negatives = all_negatives + dn;
  });
  // Precision sets one class against the other: the lighter one is scaled back.
  const double to_tp = std::ldexp(1.0, std::min(0, down_negative - down_positive));
  const double to_fp = std::ldexp(1.0, std::min(0, down_positive - down_negative));
  RankWeights out;
  out.positives = all_positives.value() > 0.0;
  out.negatives = all_negatives.value() > 0.0;
  if (!out.positives) return out;
  Pair tp, fp, area, steps, trapezoids, highest, lowest, before{-1.0, 0.0};
  walk([&](double, const Pair& dp, const Pair& dn) {
    tp = tp + dp;
    fp = fp + dn;
    if (out.negatives) {
      area = area + dn * (tp - dp * 0.5);
      const Pair distance = tp / all_positives - fp / all_negatives;
      highest = highest < distance ? distance : highest;
      lowest = distance < lowest ? distance : lowest;
    }
    const Pair hits = tp * to_tp, now = hits.high > 0.0 ? hits / (hits + fp * to_fp) : Pair{};
    if (before.high < 0.0) before = now;
    steps = steps + dp * now;
    trapezoids = trapezoids + dp * ((before + now) * 0.5);
    before = now;
  });
  if (out.negatives) out.area = (area / (all_positives * all_negatives)).value();
  out.distance = std::max(highest.value(), -lowest.value());
  out.steps = (steps / all_positives).value();
  out.trapezoids = (trapezoids / all_positives).value();
  return out;
}

}  // namespace tallymark

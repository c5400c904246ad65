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
struct RankWants {
  bool steps = false;       // average precision
  bool trapezoids = false;  // the area under the curve of precision and recall
  bool distance = false;    // the largest distance between the rates
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

// Blocks of terms on their way to an exact sum. No term is above `most`.
class TermBlock {
 public:
  TermBlock(ExactSum& sum, double most) : sum_(sum), most_(bits(most)) {}
  // Takes the term if `takes` is 1, without a branch that nobody could foresee.
  TM_INLINE void add(double term, std::uint64_t takes) {
    terms_[count_] = term;
    count_ += takes;
    if (count_ == kBlock) flush();
  }
  void flush() {
    const double* t = terms_;
    add_block(sum_, count_, most_, TM_EACH(t[i]));
    count_ = 0;
  }

 private:
  ExactSum& sum_;
  std::uint64_t most_;
  std::size_t count_ = 0;
  double terms_[kBlock + 1];
};

// A walk down a stretch, one distinct score a step. `Distance` is wide enough for the product of both counts.
template <bool kSteps, bool kTrapezoids, bool kDistance, bool kOnce, class Distance>
class Walk {
 public:
  Walk(const Runs& negative, const Runs& positive, const Stretch& at, RankCounts& out)
      : negative_(negative),
        positive_(positive),
        out_(out),
        n_(negative.scores + at.negative),
        n_end_(negative.scores + at.negative_end),
        p_(positive.scores + at.positive),
        p_end_(positive.scores + at.positive_end),
        tp_(at.tp),
        fp_(at.fp),
        distance_(static_cast<Distance>(at.tp) * static_cast<Distance>(out.negatives) -
                  static_cast<Distance>(at.fp) * static_cast<Distance>(out.positives)),
        // The precision of what lies above; -1 where nothing does, and the first score speaks for itself.
        before_(at.tp + at.fp == 0 ? -1.0 : static_cast<double>(at.tp) / static_cast<double>(at.tp + at.fp)),
        steps_(out.steps, static_cast<double>(out.positives)),
        trapezoids_(out.trapezoids, static_cast<double>(out.positives)) {}

  bool both() const { return n_ > n_end_ && p_ > p_end_; }

  TM_INLINE void step() {
    const double a = n_[-1], b = p_[-1];
    take(a >= b ? 1 : 0, b >= a ? 1 : 0);
  }

  // Goes on as long as both classes are there, then takes what is left of one, which lies below all of the other.
  void finish() {
    while (both()) step();
    while (n_ > n_end_ || p_ > p_end_) take(n_ > n_end_ ? 1 : 0, p_ > p_end_ ? 1 : 0);
    settle();
    if constexpr (kDistance) {
      out_.highest = static_cast<Signed>(highest_);
      out_.lowest = static_cast<Signed>(lowest_);
    }
    steps_.flush();
    trapezoids_.flush();
  }

  // Moves the sum of the last steps on; at the latest after kStride of them.
  void settle() {
    out_.twice_wins += static_cast<Signed>(wins_);
    wins_ = 0;
  }
  static constexpr std::size_t kStride = 4096;

 private:
  TM_INLINE void take(std::uint64_t takes_negative, std::uint64_t takes_positive) {
    std::uint64_t dn = takes_negative, dp = takes_positive;
    n_ -= takes_negative;
    p_ -= takes_positive;
    if constexpr (!kOnce) {
      dn = takes_negative != 0
               ? static_cast<std::uint64_t>(negative_.count(static_cast<std::size_t>(n_ - negative_.scores)))
               : 0;
      dp = takes_positive != 0
               ? static_cast<std::uint64_t>(positive_.count(static_cast<std::size_t>(p_ - positive_.scores)))
               : 0;
    }
    tp_ += dp;
    fp_ += dn;
    const std::uint64_t wins = 2 * (out_.negatives - fp_) + dn;
    if constexpr (kOnce)
      wins_ += wins & (0 - dp);
    else
      out_.twice_wins += static_cast<Signed>(dp) * static_cast<Signed>(wins);
    if constexpr (kDistance) {
      distance_ += static_cast<Distance>(dp) * static_cast<Distance>(out_.negatives) -
                   static_cast<Distance>(dn) * static_cast<Distance>(out_.positives);
      highest_ = distance_ > highest_ ? distance_ : highest_;
      lowest_ = distance_ < lowest_ ? distance_ : lowest_;
    }
    if constexpr (kSteps || kTrapezoids) {
      const double now = static_cast<double>(tp_) / static_cast<double>(tp_ + fp_);
      if constexpr (kSteps) steps_.add(static_cast<double>(dp) * now, takes_positive);
      if constexpr (kTrapezoids) {
        before_ = before_ < 0.0 ? now : before_;
        trapezoids_.add(static_cast<double>(dp) * (0.5 * (before_ + now)), takes_positive);
        before_ = now;
      }
    }
  }

  const Runs& negative_;
  const Runs& positive_;
  RankCounts& out_;
  const double* n_;
  const double* n_end_;
  const double* p_;
  const double* p_end_;
  std::uint64_t tp_, fp_, wins_ = 0;
  Distance distance_, highest_ = 0, lowest_ = 0;
  double before_;
  TermBlock steps_, trapezoids_;
};

// Two stretches at once: neither has to wait for the other's loads.
template <bool kSteps, bool kTrapezoids, bool kDistance, bool kOnce, class Distance>
void walk_two(const Runs& negative, const Runs& positive, const Stretch* at, RankCounts* out) {
  using One = Walk<kSteps, kTrapezoids, kDistance, kOnce, Distance>;
  One upper(negative, positive, at[0], out[0]), lower(negative, positive, at[1], out[1]);
  while (upper.both() && lower.both()) {
    for (std::size_t k = 0; k < One::kStride && upper.both() && lower.both(); ++k) {
      upper.step();
      lower.step();
    }
    upper.settle();
    lower.settle();
  }
  upper.finish();
  lower.finish();
}

template <bool kOnce, class Distance>
void walk_two(const RankWants& wanted, const Runs& negative, const Runs& positive, const Stretch* at, RankCounts* out) {
  if (wanted.trapezoids) return walk_two<true, true, true, kOnce, Distance>(negative, positive, at, out);
  if (wanted.steps) return walk_two<true, false, true, kOnce, Distance>(negative, positive, at, out);
  if (wanted.distance) return walk_two<false, false, true, kOnce, Distance>(negative, positive, at, out);
  walk_two<false, false, false, kOnce, Distance>(negative, positive, at, out);
}

inline std::uint64_t total(const Runs& runs, std::size_t first, std::size_t last) {
  if (runs.counts == nullptr) return last - first;
  std::uint64_t sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += static_cast<std::uint64_t>(runs.counts[i]);
  return sum;
}

}  // namespace detail

// Cuts a walk into parts: the longer class evenly, the other where the scores of the cuts belong. The first part is the
// highest.
inline std::vector<detail::Stretch> cut_walk(const Runs& negative, const Runs& positive, std::size_t count) {
  const bool by_positive = positive.size >= negative.size;
  const Runs& longer = by_positive ? positive : negative;
  const Runs& other = by_positive ? negative : positive;
  std::vector<detail::Stretch> parts;
  std::size_t above_longer = longer.size, above_other = other.size;
  std::uint64_t fp = 0, tp = 0;
  for (std::size_t t = count; t-- > 0;) {
    const std::size_t cut = longer.size * t / count;
    const double* there = other.scores;
    if (t > 0 && other.size > 0) there = std::lower_bound(other.scores, other.scores + other.size, longer.scores[cut]);
    const auto place = static_cast<std::size_t>(there - other.scores);
    parts.push_back(by_positive ? detail::Stretch{above_other, above_longer, place, cut, fp, tp}
                                : detail::Stretch{above_longer, above_other, cut, place, fp, tp});
    fp += detail::total(negative, parts.back().negative_end, parts.back().negative);
    tp += detail::total(positive, parts.back().positive_end, parts.back().positive);
    above_longer = cut;
    above_other = place;
  }
  return parts;
}

// Runs without weights.
inline RankCounts count_ranks(const Runs& negative, const Runs& positive, const RankWants& wanted,
                              std::size_t threads) {
  RankCounts whole;
  whole.positives = detail::total(positive, 0, positive.size);
  whole.negatives = detail::total(negative, 0, negative.size);
  const auto parts = cut_walk(negative, positive, 2 * threads);
  std::vector<RankCounts> found(parts.size(), whole);
  const bool once = negative.counts == nullptr && positive.counts == nullptr;
  const bool narrow = static_cast<double>(whole.positives) * static_cast<double>(whole.negatives) < 0x1p61;
  for_ranges(threads, threads, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t t = first; t < last; ++t) {
      const detail::Stretch* at = &parts[2 * t];
      RankCounts* out = &found[2 * t];
      if (once && narrow)
        detail::walk_two<true, std::int64_t>(wanted, negative, positive, at, out);
      else if (once)
        detail::walk_two<true, Signed>(wanted, negative, positive, at, out);
      else
        detail::walk_two<false, Signed>(wanted, negative, positive, at, out);
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
  // In two factors, since 2^down itself may be out of range.
  struct Scaled {
    const Runs& runs;
    double first, second;
    Scaled(const Runs& r, int down)
        : runs(r), first(std::ldexp(1.0, down / 2)), second(std::ldexp(1.0, down - down / 2)) {}
    Pair operator()(std::size_t i) const {
      const double weight = runs.weight(i) * first * second;
      return runs.counts == nullptr ? Pair{weight, 0.0} : Pair::product(weight, static_cast<double>(runs.counts[i]));
    }
  };
  const Scaled weight_negative(negative, down_negative), weight_positive(positive, down_positive);
  std::size_t i = negative.size, j = positive.size;
  while (i > 0 || j > 0) {
    const double score = i == 0                                                       ? positive.scores[j - 1]
                         : j == 0 || negative.scores[i - 1] >= positive.scores[j - 1] ? negative.scores[i - 1]
                                                                                      : positive.scores[j - 1];
    Pair dn, dp;
    for (; i > 0 && negative.scores[i - 1] == score; --i) dn = dn + weight_negative(i - 1);
    for (; j > 0 && positive.scores[j - 1] == score; --j) dp = dp + weight_positive(j - 1);
    visit(score, dp, dn);
  }
}

inline RankCounts count_ranks(const Runs& negative, const Runs& positive, const RankWants& wanted) {
  return count_ranks(negative, positive, wanted, threads_for(negative.size + positive.size));
}

// The power of two next to the largest weight of a class: only ratios matter, and near 1 no product leaves the doubles.
inline int scale_of(const Runs& runs) {
  double most = 0.0;
  for (std::size_t i = 0; i < runs.size; ++i) most = std::max(most, runs.weight(i));
  return most > 0.0 ? std::ilogb(most) : 0;
}

// The weight of rows from the top down as a number of any size: the exponent is that of the largest weight so far.
class AnySum {
 public:
  void add(double weight, std::int64_t count) {
    int exponent = 0;
    Pair term = Pair::product(std::frexp(weight, &exponent), static_cast<double>(count));
    if (value_.high == 0.0) exponent_ = exponent;
    if (exponent > exponent_) {
      value_ = value_ * power(exponent_ - exponent);
      exponent_ = exponent;
    } else {
      term = term * power(exponent - exponent_);
    }
    value_ = value_ + term;
  }
  // This as a share of this and another.
  Pair share(const AnySum& other) const {
    if (value_.high == 0.0) return {};
    const int above = other.value_.high == 0.0 ? 0 : other.exponent_ - exponent_;
    const Pair own = value_ * power(-std::max(above, 0));
    return own / (own + other.value_ * power(std::min(above, 0)));
  }

 private:
  static double power(int exponent) { return std::ldexp(1.0, exponent); }
  Pair value_;
  int exponent_ = 0;
};

// Precision from the top down where weights are too far apart for a common unit.
class FarPrecision {
 public:
  FarPrecision(const Runs& negative, const Runs& positive)
      : negative_(negative), positive_(positive), i_(negative.size), j_(positive.size) {}
  Pair at(double score) {
    for (; i_ > 0 && negative_.scores[i_ - 1] >= score; --i_)
      fp_.add(negative_.weight(i_ - 1), negative_.count(i_ - 1));
    for (; j_ > 0 && positive_.scores[j_ - 1] >= score; --j_)
      tp_.add(positive_.weight(j_ - 1), positive_.count(j_ - 1));
    return tp_.share(fp_);
  }

 private:
  const Runs &negative_, &positive_;
  std::size_t i_, j_;
  AnySum fp_, tp_;
};

// Whether the weights of two classes span more than products of two of them may.
inline bool far_apart(const Runs& negative, const Runs& positive) {
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const Runs* runs : {&negative, &positive}) {
    for (std::size_t i = 0; i < runs->size; ++i) {
      least = std::min(least, runs->weight(i));
      most = std::max(most, runs->weight(i));
    }
  }
  return most > 0.0 && std::ilogb(most) - std::ilogb(least) > 400;
}

// Runs with weights.
inline RankWeights weigh_ranks(const Runs& negative, const Runs& positive,
                               const RankWants& wanted = {true, true, true}) {
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
  Pair tp, fp, area, steps, trapezoids, distance, highest, lowest, before{-1.0, 0.0};
  const bool precise = wanted.steps || wanted.trapezoids, far = precise && far_apart(negative, positive);
  FarPrecision precision(negative, positive);
  walk([&](double score, const Pair& dp, const Pair& dn) {
    tp = tp + dp;
    fp = fp + dn;
    if (dn.high > 0.0) area = area + dn * (tp - dp * 0.5);
    if (wanted.distance) {
      if (dp.high > 0.0) distance = distance + dp * all_negatives;
      if (dn.high > 0.0) distance = distance - dn * all_positives;
      highest = highest < distance ? distance : highest;
      lowest = distance < lowest ? distance : lowest;
    }
    if (!precise) return;
    const Pair hits = tp * to_tp;
    const Pair now = far ? precision.at(score) : hits.high > 0.0 ? hits / (hits + fp * to_fp) : Pair{};
    if (before.high < 0.0) before = now;
    steps = steps + dp * now;
    trapezoids = trapezoids + dp * ((before + now) * 0.5);
    before = now;
  });
  const Pair pairs = all_positives * all_negatives;
  if (out.negatives) out.area = (area / pairs).value();
  if (out.negatives) out.distance = std::max((highest / pairs).value(), -(lowest / pairs).value());
  out.steps = (steps / all_positives).value();
  out.trapezoids = (trapezoids / all_positives).value();
  return out;
}

}  // namespace tallymark

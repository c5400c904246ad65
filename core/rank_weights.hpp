// How the scores of two classes stand to each other where rows have weights. The sums are kept to twice the digits of a
// double, in the order of the scores, which is a function of the rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "rank_sums.hpp"

namespace tallymark {

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

// Of weights.
struct RankWeights {
  bool positives = false, negatives = false;  // whether there are any
  double area = 0.0, distance = 0.0, steps = 0.0, trapezoids = 0.0;
};

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
    const bool takes_negative = j == 0 || (i > 0 && !(negative.scores[i - 1] < positive.scores[j - 1]));
    const double score = takes_negative ? negative.scores[i - 1] : positive.scores[j - 1];
    Pair dn, dp;
    if (takes_negative)
      dn = dn + weight_negative(--i);
    else
      dp = dp + weight_positive(--j);
    for (; i > 0 && negative.scores[i - 1] == score; --i) dn = dn + weight_negative(i - 1);
    for (; j > 0 && positive.scores[j - 1] == score; --j) dp = dp + weight_positive(j - 1);
    visit(score, dp, dn);
  }
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

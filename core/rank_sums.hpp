// How the scores of two classes stand to each other: what the area under the ROC curve, average precision and their kin
// are made of.
//
// Both classes come as runs in order. A walk goes from one distinct score to the next. Without weights everything is a
// whole number, and the terms that are not are summed exactly, so that the walk can be cut into pieces for several
// threads, where their parts have as many steps, or for several machines, and go up or down; `rank_weights.hpp` has the
// other case.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "scores.hpp"

namespace tallymark {

using Signed = Int128;

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

namespace detail {

// A part of a walk: places from which on it goes down, where it ends, and what lies above.
struct Stretch {
  std::size_t negative, positive, negative_end, positive_end;
  std::uint64_t fp = 0, tp = 0;
};

// A count of rows, as signed, which one instruction converts; there are never 2^63.
TM_INLINE double number(std::uint64_t count) { return static_cast<double>(static_cast<std::int64_t>(count)); }

TM_INLINE double precision(std::uint64_t tp, std::uint64_t fp) { return number(tp) / number(tp + fp); }

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

// The sums over the steps of a walk in either direction. `Number` is wide enough for twice the product of both counts.
template <bool kSteps, bool kTrapezoids, bool kDistance, bool kOnce, class Number>
class StepSums {
 public:
  explicit StepSums(RankCounts& out)
      : out_(out),
        positives_(static_cast<Number>(out.positives)),
        negatives_(static_cast<Number>(out.negatives)),
        steps_(out.steps, static_cast<double>(out.positives)),
        trapezoids_(out.trapezoids, static_cast<double>(out.positives)) {}

  // A step takes so many rows of each class; with it, so many are above.
  TM_INLINE void add(std::uint64_t dn, std::uint64_t dp, std::uint64_t fp, std::uint64_t tp) {
    const Number wins = 2 * (negatives_ - static_cast<Number>(fp)) + static_cast<Number>(dn);
    // Once, dp is 0 or 1, and a mask is quicker than a product.
    wins_ += kOnce ? wins & -static_cast<Number>(dp) : wins * static_cast<Number>(dp);
    if constexpr (kDistance) {
      const Number distance = static_cast<Number>(tp) * negatives_ - static_cast<Number>(fp) * positives_;
      highest_ = std::max(highest_, distance);
      lowest_ = std::min(lowest_, distance);
    }
    if constexpr (kSteps || kTrapezoids) {
      const std::uint64_t takes = kOnce || dp == 0 ? dp : 1;
      const double now = precision(tp, fp);
      if constexpr (kSteps) steps_.add(number(dp) * now, takes);
      if constexpr (kTrapezoids) {
        // Where nothing lies above, the first score speaks for itself.
        const double before = tp + fp == dp + dn ? now : precision(tp - dp, fp - dn);
        trapezoids_.add(number(dp) * (0.5 * (before + now)), takes);
      }
    }
  }

  void finish() {
    out_.twice_wins = static_cast<Signed>(wins_);
    out_.highest = static_cast<Signed>(highest_);
    out_.lowest = static_cast<Signed>(lowest_);
    if constexpr (kSteps) steps_.flush();
    if constexpr (kTrapezoids) trapezoids_.flush();
  }

 private:
  RankCounts& out_;
  Number positives_, negatives_, wins_ = 0, highest_ = 0, lowest_ = 0;
  TermBlock steps_, trapezoids_;
};

// A walk down a stretch, one distinct score a step.
template <bool kOnce, class Sums>
class Walk {
 public:
  Walk(const Runs& negative, const Runs& positive, const Stretch& at, Sums sums)
      : negative_(negative),
        positive_(positive),
        n_(negative.scores + at.negative),
        n_end_(negative.scores + at.negative_end),
        p_(positive.scores + at.positive),
        p_end_(positive.scores + at.positive_end),
        tp_(at.tp),
        fp_(at.fp),
        sums_(sums) {}

  bool both() const { return n_ > n_end_ && p_ > p_end_; }

  TM_INLINE void step() {
    const double a = n_[-1], b = p_[-1];
    take(b > a ? 0 : 1, b >= a ? 1 : 0);  // one row at least, whatever the scores are
  }

  // Goes on as long as both classes are there, then takes what is left of one, which lies below all of the other.
  void finish() {
    while (both()) step();
    while (n_ > n_end_ || p_ > p_end_) take(n_ > n_end_ ? 1 : 0, p_ > p_end_ ? 1 : 0);
    sums_.finish();
  }

 private:
  TM_INLINE void take(std::uint64_t dn, std::uint64_t dp) {
    n_ -= dn;
    p_ -= dp;
    if constexpr (!kOnce) {
      if (dn != 0) dn = static_cast<std::uint64_t>(negative_.count(static_cast<std::size_t>(n_ - negative_.scores)));
      if (dp != 0) dp = static_cast<std::uint64_t>(positive_.count(static_cast<std::size_t>(p_ - positive_.scores)));
    }
    tp_ += dp;
    fp_ += dn;
    sums_.add(dn, dp, fp_, tp_);
  }

  const Runs& negative_;
  const Runs& positive_;
  const double* n_;
  const double* n_end_;
  const double* p_;
  const double* p_end_;
  std::uint64_t tp_, fp_;
  Sums sums_;
};

// Two stretches at once: neither has to wait for the other's loads.
template <bool kOnce, class Sums>
void walk_two(const Runs& negative, const Runs& positive, const Stretch* at, Sums above, Sums below) {
  Walk<kOnce, Sums> upper(negative, positive, at[0], above), lower(negative, positive, at[1], below);
  while (upper.both() && lower.both()) {
    upper.step();
    lower.step();
  }
  upper.finish();
  lower.finish();
}

template <bool kOnce, class Number>
void walk_two(const RankWants& wanted, const Runs& negative, const Runs& positive, const Stretch* at, RankCounts* out) {
  const auto with = [&]<class Sums>(std::type_identity<Sums>) {
    walk_two<kOnce>(negative, positive, at, Sums(out[0]), Sums(out[1]));
  };
  if (wanted.trapezoids) return with(std::type_identity<StepSums<true, true, true, kOnce, Number>>());
  if (wanted.steps) return with(std::type_identity<StepSums<true, false, true, kOnce, Number>>());
  if (wanted.distance) return with(std::type_identity<StepSums<false, false, true, kOnce, Number>>());
  with(std::type_identity<StepSums<false, false, false, kOnce, Number>>());
}

inline std::uint64_t total(const Runs& runs, std::size_t first, std::size_t last) {
  if (runs.counts == nullptr) return last - first;
  std::uint64_t sum = 0;
  for (std::size_t i = first; i < last; ++i) sum += static_cast<std::uint64_t>(runs.counts[i]);
  return sum;
}

}  // namespace detail

// The lowest score that has so many distinct scores of both classes together, or one less, below it.
inline double score_at(const Runs& negative, const Runs& positive, std::size_t place) {
  std::size_t low = place > negative.size ? place - negative.size : 0, high = std::min(place, positive.size);
  while (low < high) {
    const std::size_t j = low + (high - low) / 2, i = place - j;
    if (positive.scores[j] < negative.scores[i - 1])
      low = j + 1;
    else
      high = j;
  }
  const std::size_t i = place - low;
  if (low == positive.size) return negative.scores[i];
  return i == negative.size ? positive.scores[low] : std::min(negative.scores[i], positive.scores[low]);
}

// Cuts a walk into parts of as many steps, more or less. The first part is the highest; so many rows lie above it.
inline std::vector<detail::Stretch> cut_walk(const Runs& negative, const Runs& positive, std::size_t count,
                                             std::uint64_t fp = 0, std::uint64_t tp = 0) {
  const auto below = [](const Runs& runs, double score) {
    return static_cast<std::size_t>(std::lower_bound(runs.scores, runs.scores + runs.size, score) - runs.scores);
  };
  const std::size_t rows = negative.size + positive.size;
  std::vector<detail::Stretch> parts;
  detail::Stretch part{negative.size, positive.size, negative.size, positive.size, fp, tp};
  for (std::size_t t = count; t-- > 0;) {
    const std::size_t place = rows * t / count;
    const double score = place == 0 ? 0.0 : score_at(negative, positive, place);
    part.negative_end = place == 0 ? 0 : std::min(below(negative, score), part.negative);
    part.positive_end = place == 0 ? 0 : std::min(below(positive, score), part.positive);
    parts.push_back(part);
    part.fp += detail::total(negative, part.negative_end, part.negative);
    part.tp += detail::total(positive, part.positive_end, part.positive);
    part.negative = part.negative_end;
    part.positive = part.positive_end;
  }
  return parts;
}

// The sums of the parts of a walk together.
inline RankCounts add_parts(RankCounts whole, const std::vector<RankCounts>& parts) {
  for (const RankCounts& part : parts) {
    whole.twice_wins += part.twice_wins;
    whole.highest = std::max(whole.highest, part.highest);
    whole.lowest = std::min(whole.lowest, part.lowest);
    whole.steps.add(part.steps);
    whole.trapezoids.add(part.trapezoids);
  }
  return whole;
}

// How many rows there are of each class, before any walk.
inline RankCounts count_classes(const Runs& negative, const Runs& positive) {
  RankCounts out;
  out.positives = detail::total(positive, 0, positive.size);
  out.negatives = detail::total(negative, 0, negative.size);
  return out;
}

// Whether 64 bits hold all sums of a walk.
inline bool is_narrow(const RankCounts& counts) {
  return static_cast<double>(counts.positives) * static_cast<double>(counts.negatives) < 0x1p61;
}

// Runs without weights that are a stretch of the scores of two classes: `whole` says how many rows of each there are in
// all, and so many of them lie above. The sums of stretches add up to those of all scores.
inline RankCounts count_stretch(const Runs& negative, const Runs& positive, const RankWants& wanted,
                                std::size_t threads, const RankCounts& whole, std::uint64_t fp, std::uint64_t tp) {
  const auto parts = cut_walk(negative, positive, 2 * threads, fp, tp);
  std::vector<RankCounts> found(parts.size(), whole);
  const bool once = negative.counts == nullptr && positive.counts == nullptr, narrow = is_narrow(whole);
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
  return add_parts(whole, found);
}

// Runs without weights.
inline RankCounts count_ranks(const Runs& negative, const Runs& positive, const RankWants& wanted,
                              std::size_t threads) {
  return count_stretch(negative, positive, wanted, threads, count_classes(negative, positive), 0, 0);
}

inline RankCounts count_ranks(const Runs& negative, const Runs& positive, const RankWants& wanted) {
  return count_ranks(negative, positive, wanted, threads_for(negative.size + positive.size));
}

}  // namespace tallymark

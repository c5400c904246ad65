// The pointwise terms over rows of (truth, prediction, weight), and how a block of rows is added to their totals.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "deviance.hpp"
#include "exact_sum.hpp"
#include "log_loss.hpp"

namespace tallymark {

// e = prediction - truth. Sums unless the name says lowest, highest or range; totals that may vanish though their terms
// do not, such as those of squares, also keep the highest magnitude behind them. "Exact" terms lose nothing to rounding
// before they are totalled, weights included; they feed differences that cancel.
enum class Term : int {
  weight = 0,           // 1, so that its total is that of the weights
  squared_error,        // e^2
  absolute_error,       // |e|
  exact_error,          // e
  exact_error_squares,  // e e
  exact_truth,          // y
  exact_truth_squares,  // y y
  exact_prediction,     // p
  exact_prediction_squares,
  exact_products,   // y p
  relative_error,   // |e| / max(|y|, parameter)
  symmetric_error,  // |e| / (|y| + |p|), 0 where both are 0
  absolute_truth,   // |y|
  huber,            // parameter: delta
  log_cosh,
  squared_log_error,  // (log(1+p) - log(1+y))^2
  deviance,           // parameter: Tweedie power
  pinball,            // parameter: alpha
  interval,           // parameter: 1 - level; reads this column of predictions and the next
  covered,            // 1 where lower <= y <= upper; reads two columns likewise
  small_truth,        // rows with |y| < parameter, unweighted
  truth_range,        // lowest and highest y
  lowest_prediction,
  highest_absolute_error,
  lowest_width,  // upper - lower; reads two columns
  log_loss,      // parameter: how close to 0 and 1 a probability may come
  soft_truth,    // rows whose y is neither 0 nor 1, unweighted; also keeps the range of y
};
inline constexpr int kTerms = static_cast<int>(Term::soft_truth) + 1;

// Terms whose powers can be totalled as well, for the variance, the skewness and the kurtosis behind a mean.
inline bool has_powers(Term t) {
  switch (t) {
    case Term::squared_error:
    case Term::absolute_error:
    case Term::relative_error:
    case Term::symmetric_error:
    case Term::huber:
    case Term::log_cosh:
    case Term::squared_log_error:
    case Term::deviance:
    case Term::pinball:
    case Term::interval:
    case Term::log_loss: return true;
    default: return false;
  }
}

struct Task {
  Term term;
  double parameter;
  std::size_t truth;       // column of the truth
  std::size_t prediction;  // column of the predictions
  int power = 1;           // 2 to 4: that power of the term instead
};

inline bool reads_two(Term t) { return t == Term::interval || t == Term::covered || t == Term::lowest_width; }

// Order-preserving integer code, so that extremes vectorise as integer reductions and -0 < +0 in any order.
TM_INLINE std::int64_t ordered(double x) {
  const auto b = static_cast<std::int64_t>(bits(x));
  return b ^ static_cast<std::int64_t>(static_cast<std::uint64_t>(b >> 63) >> 1);
}
TM_INLINE double unordered(std::int64_t k) {
  return real(static_cast<std::uint64_t>(k ^ static_cast<std::int64_t>(static_cast<std::uint64_t>(k >> 63) >> 1)));
}

struct Tally {
  ExactSum sum;
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -std::numeric_limits<double>::infinity();

  // Widens the range of values seen; -0 is below +0, whichever comes first.
  void widen(double low, double high) {
    lowest = ordered(low) < ordered(lowest) ? low : lowest;
    highest = ordered(high) > ordered(highest) ? high : highest;
  }

  void add(const Tally& other) {
    sum.add(other.sum);
    widen(other.lowest, other.highest);
  }
};

namespace detail {

struct Range {
  bool known = false;
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  // The bit pattern of the largest magnitude.
  std::uint64_t bound() const {
    const std::uint64_t a = magnitude(low), b = magnitude(high);
    return a > b ? a : b;
  }
};

// The lowest and highest magnitude, as bit patterns.
struct Span {
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
};

TM_INLINE std::uint64_t square(std::uint64_t magnitude) { return bits(real(magnitude) * real(magnitude)); }

struct Block {
  std::size_t n = 0;
  const double* y = nullptr;
  const double* p = nullptr;
  const double* upper = nullptr;       // the second prediction column, where a task reads two
  const double* other = nullptr;       // the probability of the other case, where it is known by itself
  const double* truth_rest = nullptr;  // of integers that doubles cannot hold, what they leave
  const double* prediction_rest = nullptr;
  const double* w = nullptr;  // nullptr: unweighted
  double* e = nullptr;
  double* scratch = nullptr;         // two blocks of room
  int power = 1;                     // of its terms, that the task wants
  Span errors;                       // of their magnitudes
  std::uint64_t largest_weight = 0;  // a bit pattern
  Range truth, prediction;           // of this block, once a task has asked
};

template <class Value>
TM_INLINE Range range_of(std::size_t n, Value&& value) {
  std::int64_t low = ordered(std::numeric_limits<double>::infinity()),
               high = ordered(-std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t k = ordered(value(i));
    low = k < low ? k : low;
    high = k > high ? k : high;
  }
  return {true, unordered(low), unordered(high)};
}

TM_INLINE void widen(Tally& t, const Range& r) { t.widen(r.low, r.high); }

TM_INLINE void add_array(Tally& t, std::size_t n, const double* x, std::uint64_t bound) {
  add_block(t.sum, n, bound, TM_EACH(x[i]));
}

// Writes value(0) .. value(n - 1) to `out` and returns their largest magnitude.
template <class Value>
TM_INLINE std::uint64_t fill(std::size_t n, double* __restrict out, Value&& value) {
  std::uint64_t m = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = value(i);
    out[i] = x;
    const std::uint64_t k = magnitude(x);
    m = k > m ? k : m;
  }
  return m;
}

// Adds the terms, or their powers, each times its weight.
template <class Value>
TM_INLINE void add_terms(Tally& t, const Block& b, Value&& value) {
  const double* w = b.w;
  if (b.power != 1) {
    double* x = b.scratch + kBlock;
    fill(b.n, x, value);
    const int power = b.power;
    const std::uint64_t bound = fill(b.n, b.scratch,
                                     TM_EACH((w != nullptr ? w[i] : 1.0) * (x[i] * x[i]) *
                                             (power == 2   ? 1.0
                                              : power == 3 ? x[i]
                                                           : x[i] * x[i])));
    return add_array(t, b.n, b.scratch, bound);
  }
  const std::uint64_t bound =
      w != nullptr ? fill(b.n, b.scratch, TM_EACH(w[i] * value(i))) : fill(b.n, b.scratch, value);
  add_array(t, b.n, b.scratch, bound);
}

// The same where a magnitude that no term exceeds is known: unweighted, it saves a pass.
template <class Value>
TM_INLINE void add_bounded_terms(Tally& t, const Block& b, std::uint64_t bound, Value&& value) {
  if (b.w != nullptr || b.power != 1) return add_terms(t, b, value);
  add_block(t.sum, b.n, bound, value);
}

// Adds the products a b without rounding, as high + low; low is lost only where it underflows. The bounds are those of
// the factors.
TM_INLINE void add_products(Tally& t, std::size_t n, const double* a, std::uint64_t bound_a, const double* b,
                            std::uint64_t bound_b) {
  const double bound = real(bound_a) * real(bound_b);
  add_block(t.sum, n, bits(bound), TM_EACH(a[i] * b[i]));
  if (bits(bound) < kInfinity) {
    add_block(t.sum, n, bits(bound * 0x1p-53), TM_EACH(std::fma(a[i], b[i], -(a[i] * b[i]))));
  } else {
    for (std::size_t i = 0; i < n; ++i) {  // an infinite product has no low part
      const double high = a[i] * b[i];
      if (magnitude(high) < kInfinity) t.sum.add(std::fma(a[i], b[i], -high));
    }
  }
}

struct Values {
  const double* x;
  std::uint64_t bound;  // the bit pattern of a magnitude that none exceeds
};

// Truth and prediction with their bounds. Several tasks ask for the same range, so it is kept with the block.
TM_INLINE Values bounded(const double* x, std::size_t n, Range& range) {
  if (!range.known) range = range_of(n, TM_EACH(x[i]));
  return {x, n == 0 ? 0 : range.bound()};
}

TM_INLINE void add_exact(Tally& t, const Block& b, Values v) {
  if (b.w == nullptr) return add_array(t, b.n, v.x, v.bound);
  add_products(t, b.n, b.w, b.largest_weight, v.x, v.bound);
}

TM_INLINE void add_exact_squares(Tally& t, const Block& b, Values u, Values v) {
  if (b.w == nullptr) return add_products(t, b.n, u.x, u.bound, v.x, v.bound);
  const double* x = u.x;
  const double* z = v.x;
  double* high = b.scratch;
  double* low = b.scratch + kBlock;
  const std::uint64_t bound_high = fill(b.n, high, TM_EACH(x[i] * z[i]));
  const std::uint64_t bound_low =
      fill(b.n, low, TM_EACH(magnitude(x[i] * z[i]) < kInfinity ? std::fma(x[i], z[i], -(x[i] * z[i])) : 0.0));
  add_products(t, b.n, b.w, b.largest_weight, high, bound_high);
  add_products(t, b.n, b.w, b.largest_weight, low, bound_low);
}

// The same of numbers with rests, which are added beside them and multiplied with each other.
TM_INLINE void add_exact(Tally& t, const Block& b, Values v, const double* rest) {
  add_exact(t, b, v);
  if (rest != nullptr) add_exact(t, b, {rest, largest(b.n, TM_EACH(rest[i]))});
}

TM_INLINE void add_exact_squares(Tally& t, const Block& b, Values u, const double* u_rest, Values v,
                                 const double* v_rest) {
  add_exact_squares(t, b, u, v);
  if (u_rest == nullptr && v_rest == nullptr) return;
  const Values r = u_rest == nullptr ? Values{} : Values{u_rest, largest(b.n, TM_EACH(u_rest[i]))};
  const Values s = v_rest == nullptr ? Values{} : Values{v_rest, largest(b.n, TM_EACH(v_rest[i]))};
  if (u_rest != nullptr) add_exact_squares(t, b, r, v);
  if (v_rest != nullptr) add_exact_squares(t, b, u, s);
  if (u_rest != nullptr && v_rest != nullptr) add_exact_squares(t, b, r, s);
}

// Keeps the largest magnitude behind a total, so that squares that vanished can be told from zeros.
TM_INLINE void note_largest(Tally& t, std::uint64_t largest) { t.highest = std::fmax(t.highest, real(largest)); }

TM_INLINE double absolute(double x) { return std::fabs(x); }
TM_INLINE double at_least(double x, double low) { return x < low ? low : x; }

TM_INLINE double huber(double e, double delta) {
  const double a = absolute(e);
  return a <= delta ? 0.5 * a * a : delta * (a - 0.5 * delta);
}

TM_INLINE double squared_log_error(double y, double p) {
  const double near = (p - y) / (1.0 + y);
  const double d = is_near(near) ? log1p_near(near) : log_ratio(1.0 + p, 1.0 + y);
  return d * d;
}

TM_INLINE double symmetric_error(double e, double y, double p) {
  const double total = absolute(y) + absolute(p);
  const bool fits = total < real(kInfinity);
  const double above = fits ? absolute(e) : absolute(0.5 * p - 0.5 * y);
  const double below = fits ? total : 0.5 * absolute(y) + 0.5 * absolute(p);
  return total > 0.0 ? above / below : 0.0;
}

TM_INLINE double interval_score(double y, double lower, double upper, double miss) {
  const double outside = y < lower ? lower - y : (y > upper ? y - upper : 0.0);
  return (upper - lower) + 2.0 / miss * outside;
}

// How many of the rows are neither of one class nor of the other.
TM_INLINE std::int64_t count_soft(std::size_t n, const double* y) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < n; ++i) count += y[i] != 0.0 && y[i] != 1.0 ? 1 : 0;
  return count;
}

TM_CLONES static inline void run_task(const Task& task, Block& b, Tally& t) {
  const double* y = b.y;
  const double* p = b.p;
  const double* e = b.e;
  const double* upper = b.upper;
  const double* other = b.other;
  const double c = task.parameter;
  const Values errors{e, b.errors.most};
  switch (task.term) {
    case Term::weight: return add_terms(t, b, TM_EACH(1.0));
    case Term::squared_error:
      note_largest(t, b.errors.most);
      return add_bounded_terms(t, b, square(b.errors.most), TM_EACH(e[i] * e[i]));
    case Term::absolute_error:
      note_largest(t, b.errors.most);
      return add_bounded_terms(t, b, b.errors.most, TM_EACH(absolute(e[i])));
    case Term::exact_error: return add_exact(t, b, errors);
    case Term::exact_error_squares: note_largest(t, b.errors.most); return add_exact_squares(t, b, errors, errors);
    case Term::exact_truth: return add_exact(t, b, bounded(y, b.n, b.truth), b.truth_rest);
    case Term::exact_truth_squares: {
      const Values truth = bounded(y, b.n, b.truth);
      note_largest(t, truth.bound);
      return add_exact_squares(t, b, truth, b.truth_rest, truth, b.truth_rest);
    }
    case Term::exact_prediction: return add_exact(t, b, bounded(p, b.n, b.prediction), b.prediction_rest);
    case Term::exact_prediction_squares: {
      const Values prediction = bounded(p, b.n, b.prediction);
      note_largest(t, prediction.bound);
      return add_exact_squares(t, b, prediction, b.prediction_rest, prediction, b.prediction_rest);
    }
    case Term::exact_products:
      return add_exact_squares(t, b, bounded(y, b.n, b.truth), b.truth_rest, bounded(p, b.n, b.prediction),
                               b.prediction_rest);
    case Term::relative_error: return add_terms(t, b, TM_EACH(absolute(e[i]) / at_least(absolute(y[i]), c)));
    case Term::symmetric_error: return add_terms(t, b, TM_EACH(symmetric_error(e[i], y[i], p[i])));
    case Term::absolute_truth:
      note_largest(t, bounded(y, b.n, b.truth).bound);
      return add_terms(t, b, TM_EACH(absolute(y[i])));
    case Term::huber: note_largest(t, b.errors.most); return add_terms(t, b, TM_EACH(huber(e[i], c)));
    case Term::log_cosh: note_largest(t, b.errors.most); return add_terms(t, b, TM_EACH(log_cosh_of(e[i])));
    case Term::squared_log_error:
      note_largest(t, b.errors.most);
      return add_terms(t, b, TM_EACH(squared_log_error(y[i], p[i])));
    case Term::deviance:
      if (c != 1.0) note_largest(t, b.errors.most);  // of power 1, a prediction below the least mean is read as it
      if (c == 1.0) return add_terms(t, b, TM_EACH(poisson_deviance(y[i], p[i])));
      if (c == 1.5) return add_terms(t, b, TM_EACH(three_halves_deviance(y[i], p[i])));
      if (c == 2.0) return add_terms(t, b, TM_EACH(gamma_deviance(y[i], p[i])));
      if (c == 3.0) return add_terms(t, b, TM_EACH(inverse_gaussian_deviance(y[i], p[i])));
      if (c > 0.0)
        return add_terms(t, b, [=, family = Tweedie(c)](std::size_t i) TM_LAMBDA { return family(y[i], p[i]); });
      return add_terms(t, b,
                       [=, family = Tweedie(c)](std::size_t i) TM_LAMBDA { return family.with_negatives(y[i], p[i]); });
    case Term::pinball: return add_terms(t, b, TM_EACH(e[i] > 0.0 ? (1.0 - c) * e[i] : -c * e[i]));
    case Term::interval: return add_terms(t, b, TM_EACH(interval_score(y[i], p[i], upper[i], c)));
    case Term::covered: return add_terms(t, b, TM_EACH(y[i] >= p[i] && y[i] <= upper[i] ? 1.0 : 0.0));
    case Term::small_truth: {
      std::int64_t count = 0;
      for (std::size_t i = 0; i < b.n; ++i) count += absolute(y[i]) < c ? 1 : 0;
      return t.sum.add_scaled(count, 0);
    }
    case Term::truth_range: bounded(y, b.n, b.truth); return widen(t, b.truth);
    case Term::lowest_prediction: bounded(p, b.n, b.prediction); return widen(t, b.prediction);
    case Term::highest_absolute_error:
      if (b.n != 0) t.widen(real(b.errors.least), real(b.errors.most));
      return;
    case Term::lowest_width: return widen(t, range_of(b.n, TM_EACH(upper[i] - p[i])));
    case Term::log_loss:
      if (other != nullptr) {
        if (count_soft(b.n, y) != 0) return add_terms(t, b, TM_EACH(soft_log_loss_of(y[i], p[i], other[i], c)));
        return add_terms(t, b, TM_EACH(log_loss_of(y[i] != 0.0, p[i], other[i], c)));
      }
      if (count_soft(b.n, y) != 0) return add_terms(t, b, TM_EACH(soft_log_loss(y[i], p[i], c)));
      if (c >= 1e-300) return add_terms(t, b, TM_EACH(log_loss<true>(y[i] != 0.0, p[i], c)));
      return add_terms(t, b, TM_EACH(log_loss<false>(y[i] != 0.0, p[i], c)));
    case Term::soft_truth:
      bounded(y, b.n, b.truth);
      widen(t, b.truth);
      return t.sum.add_scaled(count_soft(b.n, y), 0);
  }
}

}  // namespace detail

}  // namespace tallymark

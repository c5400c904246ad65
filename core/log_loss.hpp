// What a probability costs in nats, once it is known what happened.
#pragma once

#include <limits>

#include "elementary.hpp"

namespace tallymark {

// p, kept away from 0 and 1.
TM_INLINE double clipped(double p, double clip) {
  const double highest = 1.0 - clip;
  const double low = p < clip ? clip : p;
  return low > highest ? highest : low;
}

// -log(p) where it happened, else -log(1 - p), which keeps its digits where p is small. One logarithm serves both.
// `kInside` says that p was kept away from 0 and 1.
template <bool kInside>
TM_INLINE double surprise(bool happened, double p) {
  const double u = happened ? p : 1.0 - p;
  const double low = happened ? 0.0 : (1.0 - u) - p;  // what 1 - p lost by rounding: nothing unless p < 0.5
  if constexpr (kInside) return -log_normal(u, low + low * p);
  const double cost = -log_plus(u > 0.0 ? u : 1.0, low + low * p);
  return u > 0.0 ? cost : std::numeric_limits<double>::infinity();
}

template <bool kInside>
TM_INLINE double log_loss(bool happened, double p, double clip) {
  return surprise<kInside>(happened, clipped(p, clip));
}

// The same where the probability of the other case is known by itself: the smaller of the two has all its digits.
TM_INLINE double log_loss_of(bool happened, double p, double other, double clip) {
  const double own = happened ? p : other, rest = happened ? other : p;
  return surprise<false>(own <= 0.5, clipped(own <= 0.5 ? own : rest, clip));
}

TM_INLINE double soft_log_loss_of(double y, double p, double other, double clip) {
  const double yes = y > 0.0 ? y * log_loss_of(true, p, other, clip) : 0.0;
  const double no = y < 1.0 ? (1.0 - y) * log_loss_of(false, p, other, clip) : 0.0;
  return yes + no;
}

// The expected cost where y is itself the probability that it happened. What cannot happen costs nothing.
TM_INLINE double soft_log_loss(double y, double p, double clip) {
  const double q = clipped(p, clip);
  const double yes = y > 0.0 ? y * surprise<false>(true, q) : 0.0;
  const double no = y < 1.0 ? (1.0 - y) * surprise<false>(false, q) : 0.0;
  return yes + no;
}

}  // namespace tallymark

// Elementary functions in plain arithmetic, so that every machine, clone and vector lane returns the same bits.
// The C library's own log and exp differ from one CPU to the next. Errors here stay under about one unit in the last
// place. Written without branches where it matters, so that loops over them vectorise.
#pragma once

#include <cmath>
#include <cstdint>

#include "exact_sum.hpp"
#include "target.hpp"

namespace tallymark {

inline constexpr double kLn2High = 0x1.62e42feep-1;  // ends in zeros: exact times any exponent
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// The integer k in [0, 2^52) as a double, by a bit trick that every vector unit has.
TM_INLINE double small_integer(std::uint64_t k) { return real(0x4330000000000000ULL | k) - 0x1p52; }

// log(1+f) = 2s + s * log_tail(s^2), where s = f / (2 + f), for |f| < 0.42. The sum of 2/(2k+1) * z^k for k >= 1, by
// the polynomial that stays closest to it over that range (2^-59); two chains, so that one need not wait for the other.
TM_INLINE double log_tail(double z) {
  const double w = z * z;
  const double odd =
      z * (0x1.5555555555593p-1 + w * (0x1.249249423e50ep-2 + w * (0x1.74664d75a0e66p-3 + w * 0x1.2f15ba9371758p-3)));
  const double even = w * (0x1.999999997f8a7p-2 + w * (0x1.c71c51c6709f6p-3 + w * 0x1.39a02effe1be9p-3));
  return odd + even;
}

// log(x) + correction for a positive, finite x that is not subnormal, where the correction is tiny; x stands for
// x * 2^(1023 - bias).
TM_INLINE double log_normal(double x, double correction, double bias = 1023.0) {
  // Shift so that the mantissa lies in [sqrt(1/2), sqrt(2)).
  const std::uint64_t shifted = bits(x) + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL);
  const double k = small_integer(shifted >> 52) - bias;
  const double f = real((shifted & 0x000fffffffffffffULL) + 0x3fe6a09e667f3bcdULL) - 1.0;
  const double s = f / (2.0 + f);
  const double half = 0.5 * f * f;
  return k * kLn2High - ((half - (s * (half + log_tail(s * s)) + (k * kLn2Low + correction))) - f);
}

// The same for any positive, finite x.
TM_INLINE double log_plus(double x, double correction) {
  const bool tiny = x < 0x1p-1022;
  return log_normal(tiny ? x * 0x1p54 : x, correction, tiny ? 1023.0 + 54.0 : 1023.0);
}

TM_INLINE double log_of(double x) { return log_plus(x, 0.0); }

// log(1 + x) for x > -1.
TM_INLINE double log1p_of(double x) {
  const double u = 1.0 + x;
  const double low = x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0);  // what u lost by rounding
  return std::fabs(x) < 0x1p-54 ? x : log_plus(u, low / u);
}

// log(1 + x) for -0.29 < x < 0.41.
TM_INLINE double log1p_near(double x) {
  const double s = x / (2.0 + x);
  const double half = 0.5 * x * x;
  return x - (half - s * (half + log_tail(s * s)));
}

// x - log(1 + x) for -0.29 < x < 0.41, without the cancellation near 0 where it is about x^2 / 2.
TM_INLINE double log1p_gap_near(double x) {
  const double s = x / (2.0 + x);
  const double half = 0.5 * x * x;
  return half - s * (half + log_tail(s * s));
}

// exp(x) - 1 for |x| < 0.5.
TM_INLINE double expm1_small(double x) {
  double r = 1.0 / 87178291200;
  r = 1.0 / 6227020800 + x * r;
  r = 1.0 / 479001600 + x * r;
  r = 1.0 / 39916800 + x * r;
  r = 1.0 / 3628800 + x * r;
  r = 1.0 / 362880 + x * r;
  r = 1.0 / 40320 + x * r;
  r = 1.0 / 5040 + x * r;
  r = 1.0 / 720 + x * r;
  r = 1.0 / 120 + x * r;
  r = 1.0 / 24 + x * r;
  r = 1.0 / 6 + x * r;
  return x + x * x * (0.5 + x * r);
}

// e^x; +inf above the range of double and 0 below it.
TM_INLINE double exp_of(double x) {
  const double clamped = x > 720.0 ? 720.0 : (x < -760.0 ? -760.0 : x);
  const double t = clamped * 0x1.71547652b82fep0 + 0x1.8p52;  // the low bits of t hold the nearest integer
  const double k = t - 0x1.8p52;
  const double r = (clamped - k * kLn2High) - k * kLn2Low;
  // Two factors, since 2^k itself may be out of range where the result is not; the first is the larger half.
  const std::uint64_t whole = bits(t) - bits(0x1.8p52) + 4096;
  const std::uint64_t first = whole / 2;
  const double one = real((first - 2048 + 1023) << 52);
  const double two = real((whole - first - 2048 + 1023) << 52);
  return (1.0 + expm1_small(r)) * one * two;
}

TM_INLINE double expm1_of(double x) { return std::fabs(x) < 0.5 ? expm1_small(x) : exp_of(x) - 1.0; }

// 1 / (1 + e^-x).
TM_INLINE double sigmoid(double x) {
  const double e = exp_of(-std::fabs(x));
  return x < 0 ? e / (1.0 + e) : 1.0 / (1.0 + e);
}

// log(cosh(x)).
TM_INLINE double log_cosh_of(double x) {
  const double a = std::fabs(x);
  // Near 0: cosh(x) = 1 + 2 sinh(x/2)^2, and sinh from its series.
  const double h = 0.5 * a;
  const double z = h * h;
  const double series = 1.0 / 362880 + z * (1.0 / 39916800 + z * (1.0 / 6227020800.0));
  const double sinh_h = h + h * z * (1.0 / 6 + z * (1.0 / 120 + z * (1.0 / 5040 + z * series)));
  const double near = log1p_of(2.0 * sinh_h * sinh_h);
  const double far = (a - 0x1.62e42fefa39efp-1) + log1p_of(exp_of(-2.0 * a));
  return a < 1.0 ? near : far;
}

}  // namespace tallymark

// Unit deviances of the Tweedie family. The textbook forms subtract nearly equal numbers when y is close to mu; these
// keep their digits there.
#pragma once

#include "elementary.hpp"

namespace tallymark {

inline constexpr double kSmallestMean = 1e-9;  // a Poisson mean below this is read as this

TM_INLINE double log_ratio(double y, double mu) {
  const double r = y / mu;
  return r > 1e-300 && r < 1e300 ? log_of(r) : log_of(y) - log_of(mu);
}

// 2 (y ln(y/mu) - (y - mu)), y >= 0.
TM_INLINE double poisson_deviance(double y, double prediction) {
  const double mu = prediction < kSmallestMean ? kSmallestMean : prediction;
  const double d = (mu - y) / y;
  const double near = y * log1p_gap(d);
  const double far = y * log_ratio(y, mu) - (y - mu);
  return 2.0 * (y == 0.0 ? mu : (d > -0.29 && d < 0.41 ? near : far));
}

// 2 (ln(mu/y) + y/mu - 1), y > 0, mu > 0.
TM_INLINE double gamma_deviance(double y, double mu) {
  const double d = (y - mu) / mu;
  return 2.0 * (d > -0.29 && d < 0.41 ? log1p_gap(d) : d - log_ratio(y, mu));
}

// expm1(c u) / c, continuous at c = 0.
TM_INLINE double growth(double c, double u) { return c == 0.0 ? u : expm1_of(c * u) / c; }

// The general member: 2 * integral from mu to y of (y - t) t^-power dt.
inline double tweedie_deviance(double y, double mu, double power) {
  const double a = 1.0 - power, b = 2.0 - power;
  const double scale = 2.0 * exp_of(b * log_of(mu));
  if (y <= 0.0) return scale / b - (y < 0.0 ? 2.0 * y * exp_of(a * log_of(mu)) / a : 0.0);
  const double near = (y - mu) / mu;
  const double u = near > -0.29 && near < 0.41 ? log1p_of(near) : log_ratio(y, mu);
  if (std::fabs(u) * std::fmax(1.0, std::fabs(b)) < 0.25) {
    // Sum of (1 + b + ... + b^(n-2)) u^n / n!; 16 terms reach the last bit here.
    double total = 0.0, geometric = 1.0, factor = 0.5 * u * u;
    for (int n = 2; n < 18; ++n) {
      total += geometric * factor;
      geometric = 1.0 + b * geometric;
      factor *= u / (n + 1);
    }
    return scale * total;
  }
  return scale * (exp_of(u) * growth(a, u) - growth(b, u));
}

}  // namespace tallymark

// Unit deviances of the Tweedie family. The textbook forms subtract nearly equal numbers when y is close to mu; these
// keep their digits there. Both ways are computed and one is chosen, so that loops vectorise.
#pragma once

#include <array>
#include <cmath>

#include "elementary.hpp"

namespace tallymark {

inline constexpr double kSmallestMean = 1e-9;  // a Poisson mean below this is read as this

// log(y / mu) for positive y and mu, also where the quotient is out of range.
TM_INLINE double log_ratio(double y, double mu) {
  constexpr double kShift = 1200 * 0x1.62e42fefa39efp-1;  // log(2^1200)
  const double r = y / mu;
  const bool high = r > 1e300, low = r < 1e-300;
  const double up = low ? 0x1p600 : (high ? 0x1p-600 : 1.0);
  const double down = low ? 0x1p-600 : (high ? 0x1p600 : 1.0);
  return log_of((y * up) / (mu * down)) + (high ? kShift : (low ? -kShift : 0.0));
}

// Whether x is close enough to 0 for log1p_near and log1p_gap_near.
TM_INLINE bool is_near(double x) { return x > -0.29 && x < 0.41; }

// 2 (y ln(y/mu) - (y - mu)), y >= 0.
TM_INLINE double poisson_deviance(double y, double prediction) {
  const double mu = prediction < kSmallestMean ? kSmallestMean : prediction;
  const double d = (mu - y) / y;
  const double near = y * log1p_gap_near(d);
  const double far = y * log_ratio(y, mu) - (y - mu);
  return 2.0 * (y == 0.0 ? mu : (is_near(d) ? near : far));
}

// 2 (ln(mu/y) + y/mu - 1), y > 0, mu > 0.
TM_INLINE double gamma_deviance(double y, double mu) {
  const double d = (y - mu) / mu;
  return 2.0 * (is_near(d) ? log1p_gap_near(d) : d - log_ratio(y, mu));
}

// Power 3/2, y >= 0, mu > 0: 4 (sqrt(y) - sqrt(mu))^2 / sqrt(mu).
TM_INLINE double three_halves_deviance(double y, double mu) {
  const double root = std::sqrt(mu);
  const double gap = (y - mu) / (std::sqrt(y) + root);
  return 4.0 * gap * (gap / root);
}

// Power 3, of inverse Gaussian variance, y > 0, mu > 0: (y - mu)^2 / (mu^2 y).
TM_INLINE double inverse_gaussian_deviance(double y, double mu) {
  const double relative = (y - mu) / mu;
  return relative * (relative / y);
}

// The general member, 2 * integral from mu to y of (y - t) t^-power dt, for powers other than 0, 1 and 2.
class Tweedie {
 public:
  explicit Tweedie(double power) : a_(1.0 - power), b_(2.0 - power), reach_(0.25 / std::fmax(1.0, std::fabs(b_))) {
    // With u = ln(y/mu) the deviance is 2 mu^b * sum of (1 + b + ... + b^(n-2)) u^n / n!, which 16 terms exhaust.
    double geometric = 1.0, factorial = 2.0;
    for (std::size_t n = 2; n < 18; ++n) {
      series_[n - 2] = geometric / factorial;
      geometric = 1.0 + b_ * geometric;
      factorial *= static_cast<double>(n + 1);
    }
  }

  // For y >= 0.
  TM_INLINE double operator()(double y, double mu) const {
    const double relative = (y - mu) / mu;
    const double positive = y > 0.0 ? y : mu;
    const double u = is_near(relative) ? log1p_near(relative) : log_ratio(positive, mu);
    const bool near = std::fabs(u) < reach_;
    double sum = series_[15];
    for (std::size_t n = 15; n-- > 0;) sum = series_[n] + u * sum;
    // Away from mu, the factor y^b or mu^b is taken out, whichever leaves a bracket that cannot overflow by itself.
    const bool by_truth = !near && (b_ > 0.0) == (u > 0.0);
    const double scale = 2.0 * exp_of(b_ * log_of(by_truth ? positive : mu));
    const bool rises = a_ * u > 0.0;
    const double of_b = expm1_of(by_truth ? -b_ * u : b_ * u) / b_;
    const double of_a = expm1_of(by_truth || rises ? -a_ * u : a_ * u);
    const double factor = exp_of(rises ? b_ * u : u);
    const double rising = rises ? -factor * of_a : factor * of_a;
    const double with_truth = of_b - of_a / a_;
    const double with_mu = rising / a_ - of_b;
    return scale * (y > 0.0 ? (near ? u * u * sum : (by_truth ? with_truth : with_mu)) : 1.0 / b_);
  }

  // The same for powers below 0, where y may be negative and y^b then counts as 0.
  TM_INLINE double with_negatives(double y, double mu) const {
    const double at_zero = (*this)(y > 0.0 ? y : 0.0, mu);
    return y < 0.0 ? at_zero - 2.0 * y * exp_of(a_ * log_of(mu)) / a_ : at_zero;
  }

 private:
  double a_, b_;
  double reach_;  // how far the series is used
  std::array<double, 16> series_{};
};

}  // namespace tallymark

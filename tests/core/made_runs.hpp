// Scores of many kinds in order, for the tests of what is made of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "check.hpp"
#include "scores.hpp"

namespace tallymark {

inline std::mt19937_64 random_bits(1);

inline double uniform() { return static_cast<double>(random_bits() >> 11) * 0x1p-53; }

inline double any_double() {
  for (;;) {
    const double x = real(random_bits());
    if (std::isfinite(x)) return x;
  }
}

// Scores that sorting by leading bits may find hard.
inline std::vector<double> pattern(int kind, std::size_t n) {
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = static_cast<double>(i);
    switch (kind) {
      case 0: x[i] = 0.25; break;
      case 1: x[i] = row; break;
      case 2: x[i] = -row; break;
      case 3: x[i] = static_cast<double>(random_bits() % 5) - 2.0; break;
      case 4: x[i] = any_double(); break;
      case 5: x[i] = i == n / 2 ? 1.7e308 : uniform(); break;
      case 6: x[i] = i % 2 == 0 ? 0.0 : -0.0; break;
      case 7: x[i] = 1.0 + 0x1p-52 * static_cast<double>(random_bits() % (n + 1)); break;
      case 8: x[i] = 5e-324 * (static_cast<double>(random_bits() % 9) - 4.0); break;
      default: x[i] = uniform() - 0.5; break;
    }
  }
  return x;
}
inline constexpr int kPatterns = 10;

inline Column column(const std::vector<double>& v) { return {reinterpret_cast<const char*>(v.data()), 8, Type::f64}; }

// Every row in one of `groups` groups, or in none. Two columns: the scores, and the scores with another sign.
inline std::vector<std::vector<Runs>> sorted(const std::vector<double>& scores, const std::vector<double>& weights,
                                             const std::vector<std::uint8_t>& group, std::size_t groups) {
  const std::size_t n = scores.size(), blocks = (n + kBlock - 1) / kBlock, threads = threads_for(n);
  Dealt dealt{n, groups, std::vector<std::vector<std::size_t>>(threads, std::vector<std::size_t>(groups))};
  for (std::size_t t = 0; t < threads; ++t) {
    const std::size_t last = std::min(n, blocks * (t + 1) / threads * kBlock);
    for (std::size_t i = blocks * t / threads * kBlock; i < last; ++i)
      if (group[i] < groups) ++dealt.counts[t][group[i]];
  }
  const auto group_of = [&](std::size_t, std::size_t i) -> std::size_t { return group[i]; };
  const auto read = [&](std::size_t first, std::size_t rows, std::size_t k, double* s) {
    read_rows(column(scores), first, rows, s);
    for (std::size_t i = 0; i < rows; ++i) s[i] = k == 0 ? s[i] : -s[i];
  };
  const auto weigh = [&](std::size_t first, std::size_t rows, double* w) {
    if (!weights.empty()) read_rows(column(weights), first, rows, w);
  };
  auto out = weights.empty() ? sort_groups<PlainRow>(dealt, 2, group_of, read, weigh)
                             : sort_groups<WeightedRow>(dealt, 2, group_of, read, weigh);
  check(out.size() == 2 && out[0].size() == groups && out[1].size() == groups, "finite scores are sorted");
  return out;
}

inline Runs made(const std::vector<double>& scores, bool weighted, bool far = false) {
  std::vector<double> weights(weighted ? scores.size() : 0);
  for (double& w : weights)
    w = far ? std::ldexp(1.0 + uniform(), static_cast<int>(random_bits() % 100) - 50) : uniform();
  return sorted(scores, weights, std::vector<std::uint8_t>(scores.size(), 0), 1)[0][0];
}

}  // namespace tallymark

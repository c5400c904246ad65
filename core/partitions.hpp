// How two partitions of the same rows agree, from the sizes of their clusters and of the cells where two clusters meet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "deviance.hpp"
#include "exact_sum.hpp"
#include "parallel.hpp"

namespace tallymark {

// The cells that hold rows; `row` and `column` are indices of our own, which were checked. Without `row` and `column`,
// cell i is where cluster i of either side meets itself.
struct Cells {
  const std::int64_t* row = nullptr;
  const std::int64_t* column = nullptr;
  const double* count = nullptr;
  const double* truth = nullptr;
  const double* prediction = nullptr;
  std::size_t size = 0;
  double total = 0.0;
};

namespace detail {

struct Agreement {
  ExactSum terms, differences;
};

// With N rows, a cell of n rows in clusters of a and b adds n log(nN/ab). Where nN is near ab, the terms of different
// cells cancel in the first order; there the term is cut into (n - ab/N), which is totalled exactly, and a remainder
// that is never negative. The products are kept whole, so that cells with nN = ab add nothing at all.
TM_CLONES static inline void add_cells(const Cells& cells, double scale, std::size_t first, std::size_t last,
                                       Agreement& out) {
  const double total = cells.total * scale;
  for (std::size_t i = first; i < last; ++i) {
    const double n = cells.count[i] * scale;
    const double a = cells.truth[cells.row == nullptr ? i : static_cast<std::size_t>(cells.row[i])] * scale;
    const double b = cells.prediction[cells.column == nullptr ? i : static_cast<std::size_t>(cells.column[i])] * scale;
    const double joint = n * total, apart = a * b;
    if (!(joint > 0x1p-900 && apart > 0x1p-900)) {  // the low parts would not be exact
      if (n > 0.0) out.terms.add(n * (log_ratio(n, std::min(a, b)) + log_ratio(total, std::max(a, b))));
      continue;
    }
    const double joint_low = std::fma(n, total, -joint), apart_low = std::fma(a, b, -apart);
    const double d = ((apart - joint) + (apart_low - joint_low)) / joint;
    if (is_near(d)) {
      out.terms.add(n * log1p_gap_near(d));
      for (const double part : {joint, joint_low, -apart, -apart_low}) out.differences.add(part);
    } else {
      const double q = joint / apart;
      const double rest = std::fma(-q, apart, joint) + (joint_low - q * apart_low);
      out.terms.add(n * log_plus(q, rest / joint));
    }
  }
}

}  // namespace detail

// In nats. Symmetric in the two partitions and independent of the order of the cells, to the last bit.
inline double mutual_information(const Cells& cells) {
  if (cells.size == 0) return 0.0;
  const double scale = std::ldexp(1.0, -std::clamp(std::ilogb(cells.total), -1000, 1000));  // keeps products in range
  const std::size_t threads = threads_for(16 * cells.size);
  std::vector<detail::Agreement> parts(threads);
  for_ranges(cells.size, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    detail::add_cells(cells, scale, first, last, parts[t]);
  });
  for (std::size_t t = 1; t < threads; ++t) {
    parts[0].terms.add(parts[t].terms);
    parts[0].differences.add(parts[t].differences);
  }
  const double total = cells.total * scale;
  return std::max(0.0, (parts[0].terms.nearest() + parts[0].differences.nearest() / total) / total);
}

// In nats; what a partition shares with itself.
inline double entropy(const double* sizes, std::size_t clusters, double total) {
  return mutual_information({nullptr, nullptr, sizes, sizes, sizes, clusters, total});
}

namespace detail {

struct Group {
  std::int64_t size;
  double clusters;  // how many have this size
};

inline std::vector<Group> grouped(const std::int64_t* sizes, std::size_t count) {
  std::vector<std::int64_t> sorted(sizes, sizes + count);
  std::sort(sorted.begin(), sorted.end());
  std::vector<Group> groups;
  for (const std::int64_t size : sorted) {
    if (groups.empty() || groups.back().size != size) groups.push_back({size, 0.0});
    groups.back().clusters += 1.0;
  }
  return groups;
}

// n log(n/mean) - (n - mean) for whole n >= 0; the first one where is_near((mean - n) / n).
TM_INLINE double near_divergence(double n, double mean) {
  const double e = mean - n;
  const double s = e / (mean + n);
  return s * (e - n * log_tail(s * s));
}
TM_INLINE double divergence(double n, double mean) {
  const double far = n * log_of(n / mean) - (n - mean);
  return n == 0.0 ? mean : (is_near((mean - n) / n) ? near_divergence(n, mean) : far);
}

struct Lanes {
  static constexpr std::size_t kCount = 32;
  double weights[kCount] = {}, values[kCount] = {};
};

// Follows the hypergeometric weights w(j + 1) = w(j) (a - j)(b - j) / ((j + 1)(c + j + 1)) upwards from j until they no
// longer count, and adds them and their divergences at n, n + step, n + 2 step, ...
TM_CLONES static inline void walk(double a, double b, double c, double j, double weight, double n, double step,
                                  double mean, Lanes& out) {
  constexpr std::size_t kCount = Lanes::kCount;
  while (weight > 0.0) {
    double ratios[kCount], weights[kCount], counts[kCount], values[kCount];
    for (std::size_t k = 0; k < kCount; ++k) {
      const double at = j + static_cast<double>(static_cast<int>(k));
      ratios[k] = ((a - at) * (b - at)) / ((at + 1.0) * (c + at + 1.0));
    }
    for (std::size_t k = 0; k < kCount; ++k) {
      weights[k] = weight;
      weight *= ratios[k];  // exactly 0 from the end of the support on
    }
    for (std::size_t k = 0; k < kCount; ++k) {
      const double count = n + step * static_cast<double>(static_cast<int>(k));
      counts[k] = count > 0.0 ? count : 0.0;
      out.weights[k] += weights[k];
    }
    if (is_near((mean - counts[0]) / counts[0]) && is_near((mean - counts[kCount - 1]) / counts[kCount - 1])) {
      for (std::size_t k = 0; k < kCount; ++k) values[k] = weights[k] * near_divergence(counts[k], mean);
    } else {
      for (std::size_t k = 0; k < kCount; ++k) values[k] = weights[k] * divergence(counts[k], mean);
    }
    for (std::size_t k = 0; k < kCount; ++k) out.values[k] += values[k];
    // Where the mean is tiny, the rare large counts carry the value: both must have faded.
    if (weight < 1e-22 * out.weights[0] && values[kCount - 1] < 1e-20 * out.values[0]) return;
    j += static_cast<double>(kCount);
    n += step * static_cast<double>(kCount);
  }
}

// The expectation of n log(n/mean) where n counts the rows that random clusters of a and b rows share. As n has that
// mean, n - mean may be taken off each term, which leaves terms that are never negative.
inline double expected_cell(std::int64_t size, std::int64_t other, std::int64_t total) {
  const std::int64_t a = std::min(size, other), b = std::max(size, other);
  const auto x = static_cast<double>(a), y = static_cast<double>(b), all = static_cast<double>(total);
  const double mean = x * y / all;
  if (mean > 0x1p25) {
    // Three central moments: what the series leaves out is of relative size 1 / mean^2, below a unit in the last place.
    const double variance = mean * ((all - x) / all) * ((all - y) / (all - 1.0));
    const double third = variance * ((all - 2.0 * x) / all) * ((all - 2.0 * y) / (all - 2.0));
    return (variance / 2.0 - (third / 6.0 - variance * variance / (4.0 * mean)) / mean) / mean;
  }
  using Wide = Int128;
  const auto mode = static_cast<std::int64_t>((static_cast<Wide>(a) + 1) * (static_cast<Wide>(b) + 1) /
                                              (static_cast<Wide>(total) + 2));
  const auto at = static_cast<double>(mode);
  const auto rest = static_cast<double>(total - a - b);
  Lanes lanes;
  walk(x, y, rest, at, 1.0, at, 1.0, mean, lanes);
  // Downwards is upwards in the rows of a that lie outside b.
  const double down = (at * (rest + at)) / ((x - at + 1.0) * (y - at + 1.0));
  walk(x, all - y, y - x, x - at + 1.0, down, at - 1.0, -1.0, mean, lanes);
  double weights = 0.0, values = 0.0;
  for (std::size_t k = 0; k < Lanes::kCount; ++k) {
    weights += lanes.weights[k];
    values += lanes.values[k];
  }
  return values / weights;
}

}  // namespace detail

// The expectation of mutual_information over all pairs of partitions with these cluster sizes, in nats. Sizes are
// positive and sum to `total` <= 2^53 on either side. Clusters of equal size share their work: there are at most
// sqrt(2 total) distinct sizes.
inline double expected_mutual_information(const std::int64_t* truth, std::size_t truth_clusters,
                                          const std::int64_t* prediction, std::size_t prediction_clusters,
                                          std::int64_t total) {
  const auto rows = detail::grouped(truth, truth_clusters), columns = detail::grouped(prediction, prediction_clusters);
  const std::size_t pairs = rows.size() * columns.size();
  if (pairs == 0) return 0.0;
  // A walk covers some 20 standard deviations, each at most sqrt(ab / total) <= 2^12.5.
  const auto roots = [](const std::vector<detail::Group>& groups) {
    double sum = 0.0;
    for (const auto& group : groups) sum += std::sqrt(static_cast<double>(group.size));
    return sum;
  };
  const double longest = 1e5 * static_cast<double>(pairs);
  const double steps = 20.0 * roots(rows) * roots(columns) / std::sqrt(static_cast<double>(total));
  const std::size_t threads = threads_for(32 * pairs + static_cast<std::size_t>(4.0 * std::min(steps, longest)));
  std::vector<ExactSum> sums(threads);
  for_ranges(threads, threads, [&](std::size_t t, std::size_t, std::size_t) {
    for (std::size_t i = t; i < pairs; i += threads) {
      const auto& a = rows[i / columns.size()];
      const auto& b = columns[i % columns.size()];
      sums[t].add(a.clusters * b.clusters * detail::expected_cell(a.size, b.size, total));
    }
  });
  for (std::size_t t = 1; t < threads; ++t) sums[0].add(sums[t]);
  return sums[0].nearest() / static_cast<double>(total);
}

}  // namespace tallymark

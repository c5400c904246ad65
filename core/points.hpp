// How compact and how separate clusters of points are, without a matrix of all distances.
//
// Distances come from differences of coordinates, never from scalar products, which cancel for points far from the
// origin. Rows are first brought together by cluster, in their given order, so that each cluster is one run.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "exact_sum.hpp"
#include "own_copy.hpp"
#include "parallel.hpp"

namespace tallymark {

// n points of d coordinates, row by row, all finite. Codes lie in [0, clusters); weights are positive whole numbers
// that stand for repeats, or absent.
struct Points {
  const double* data = nullptr;
  const std::int64_t* codes = nullptr;
  const double* weights = nullptr;
  std::size_t n = 0, d = 0, clusters = 0;
};

namespace detail {

struct Run {
  std::size_t cluster, first, last;
  double weight;
};

struct Sorted {
  std::vector<std::size_t> order;  // order[i] is the given row that came to place i
  std::vector<double> weights;     // by place
  std::vector<Run> runs;           // clusters without rows have none
};

inline Sorted sorted_by_cluster(const Points& points) {
  Sorted out{std::vector<std::size_t>(points.n), std::vector<double>(points.n, 1.0), {}};
  const auto codes = own_indices(points.codes, points.n, points.clusters, "codes must lie between 0 and clusters - 1");
  std::vector<std::size_t> next(points.clusters + 1);
  for (const std::int64_t code : codes) ++next[static_cast<std::size_t>(code) + 1];
  for (std::size_t c = 0; c < points.clusters; ++c) {
    if (next[c + 1] > 0) out.runs.push_back({c, next[c], next[c] + next[c + 1], 0.0});
    next[c + 1] += next[c];
  }
  for (std::size_t i = 0; i < points.n; ++i) out.order[next[static_cast<std::size_t>(codes[i])]++] = i;
  if (points.weights != nullptr)
    for (std::size_t i = 0; i < points.n; ++i) out.weights[i] = points.weights[out.order[i]];
  for (Run& run : out.runs)
    for (std::size_t i = run.first; i < run.last; ++i) run.weight += out.weights[i];
  return out;
}

// Coordinate k times 2^-exponent is x * one[k] * two: in two steps, since one factor may be out of range.
struct Scale {
  int exponent = 0;
  std::vector<double> one;
  double two = 1.0;
};

// The power of two that brings the widest span of a coordinate to about 2^400: squares of differences then neither
// overflow, even summed over all rows, nor vanish unless the differences are 2^900 times smaller. A coordinate in which
// all points agree is read as 0, since it could overflow; any other is at most 2^53 times its span.
inline Scale scale_of(const Points& points) {
  std::vector<double> low(points.d, HUGE_VAL), high(points.d, -HUGE_VAL);
  for (std::size_t i = 0; i < points.n; ++i) {
    const double* row = points.data + i * points.d;
    for (std::size_t k = 0; k < points.d; ++k) {
      low[k] = row[k] < low[k] ? row[k] : low[k];
      high[k] = row[k] > high[k] ? row[k] : high[k];
    }
  }
  double widest = 0.0;
  for (std::size_t k = 0; k < points.d; ++k) widest = std::max(widest, high[k] - low[k]);
  Scale scale;
  if (widest > 0.0) scale.exponent = (widest < HUGE_VAL ? std::ilogb(widest) : 1024) - 400;
  const int half = scale.exponent / 2;
  for (std::size_t k = 0; k < points.d; ++k) scale.one.push_back(high[k] > low[k] ? std::ldexp(1.0, -half) : 0.0);
  scale.two = std::ldexp(1.0, half - scale.exponent);
  return scale;
}

// Eight doubles that the compiler keeps in one wide register, or in a few narrow ones.
using Eight TM_VECTOR(64) = double;
inline constexpr std::size_t kEight = 8;

// Adds to sums[l] the weighted distances from point l of a block to `count` rows, one row after the other. The block
// holds coordinate k of its eight points at 8 k.
TM_CLONES static inline void add_distances(const double* block, const double* rows, const double* weights,
                                           std::size_t count, std::size_t d, double* sums) {
  constexpr std::size_t kRows = 4;  // at a time, so that their long chains of additions overlap
  Eight total = *reinterpret_cast<const Eight*>(sums);
  double roots[kRows * kEight];
  auto* root = reinterpret_cast<Eight*>(roots);
  std::size_t j = 0;
  for (; j + kRows <= count; j += kRows) {
    const double *p = rows + j * d, *q = p + d, *r = q + d, *s = r + d;
    Eight a{}, b{}, c{}, e{};
    for (std::size_t k = 0; k < d; ++k) {
      const Eight x = *reinterpret_cast<const Eight*>(block + kEight * k);
      const Eight t = x - p[k], u = x - q[k], v = x - r[k], w = x - s[k];
      a += t * t;
      b += u * u;
      c += v * v;
      e += w * w;
    }
    root[0] = a;
    root[1] = b;
    root[2] = c;
    root[3] = e;
    for (std::size_t i = 0; i < kRows * kEight; ++i) roots[i] = std::sqrt(roots[i]);
    for (std::size_t m = 0; m < kRows; ++m) total += root[m] * weights[j + m];
  }
  for (; j < count; ++j) {
    const double* p = rows + j * d;
    Eight a{};
    for (std::size_t k = 0; k < d; ++k) {
      const Eight t = *reinterpret_cast<const Eight*>(block + kEight * k) - p[k];
      a += t * t;
    }
    root[0] = a;
    for (std::size_t i = 0; i < kEight; ++i) roots[i] = std::sqrt(roots[i]);
    total += root[0] * weights[j];
  }
  *reinterpret_cast<Eight*>(sums) = total;
}

// What is known of eight points while the rows pass by, one cluster after the other.
struct Eightfold {
  std::size_t first;  // place of the first of them
  double sums[kEight] = {}, own[kEight] = {}, nearest[kEight];

  explicit Eightfold(std::size_t place) : first(place) { std::fill_n(nearest, kEight, HUGE_VAL); }

  void finish(const Run& run) {
    for (std::size_t l = 0; l < kEight; ++l) {
      const bool inside = first + l >= run.first && first + l < run.last;
      const double mean = sums[l] / (inside ? run.weight - 1.0 : run.weight);
      if (inside)
        own[l] = run.weight > 1.0 ? mean : -1.0;  // a lone point has no distance within its cluster
      else
        nearest[l] = std::min(nearest[l], mean);
      sums[l] = 0.0;
    }
  }

  double silhouette(std::size_t l) const {
    const double larger = std::max(own[l], nearest[l]);
    return own[l] < 0.0 || larger == 0.0 ? 0.0 : (nearest[l] - own[l]) / larger;
  }
};

}  // namespace detail

// The silhouette of every point: (b - a) / max(a, b), where a is the mean distance to the other points of its cluster
// and b the smallest mean distance to another cluster; 0 for a lone point and where all is 0, NaN where there is no
// other cluster. Distances are summed in the order of rows, whatever the number of threads.
inline void silhouette(const Points& points, double* out) {
  using namespace detail;
  const std::size_t n = points.n, d = points.d;
  const Sorted sorted = sorted_by_cluster(points);
  const Scale scale = scale_of(points);
  std::vector<double> rows(n * d);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < d; ++k)
      rows[i * d + k] = points.data[sorted.order[i] * d + k] * scale.one[k] * scale.two;

  constexpr std::size_t kGroups = 8;                                            // that share what is in the cache
  const std::size_t tile = std::clamp<std::size_t>(16384 / (d + 1), 32, 4096);  // rows that stay there
  const std::size_t blocks = (n + kGroups * kEight - 1) / (kGroups * kEight);
  for_ranges(blocks, threads_for(n * n / 16 * (d + 8)), [&](std::size_t, std::size_t begin, std::size_t end) {
    std::vector<double> block(kGroups * kEight * d);
    for (std::size_t at = begin * kGroups * kEight; at < std::min(n, end * kGroups * kEight); at += kGroups * kEight) {
      std::vector<Eightfold> groups;
      for (std::size_t first = at; first < std::min(n, at + kGroups * kEight); first += kEight) {
        double* target = block.data() + groups.size() * kEight * d;
        groups.emplace_back(first);
        for (std::size_t l = 0; l < kEight; ++l)
          for (std::size_t k = 0; k < d; ++k) target[kEight * k + l] = rows[std::min(first + l, n - 1) * d + k];
      }
      std::size_t run = 0;
      for (std::size_t from = 0; from < n; from += tile) {
        const std::size_t to = std::min(n, from + tile);
        std::size_t next = run;
        for (std::size_t g = 0; g < groups.size(); ++g) {
          next = run;
          for (std::size_t j = from; j < to;) {
            const std::size_t stop = std::min(to, sorted.runs[next].last);
            add_distances(block.data() + g * kEight * d, rows.data() + j * d, sorted.weights.data() + j, stop - j, d,
                          groups[g].sums);
            if (stop == sorted.runs[next].last) groups[g].finish(sorted.runs[next++]);
            j = stop;
          }
        }
        run = next;
      }
      for (const Eightfold& group : groups)
        for (std::size_t l = 0; l < std::min(kEight, n - group.first); ++l)
          out[sorted.order[group.first + l]] = group.silhouette(l);
    }
  });
}

// Clusters without rows have weight 0 and zeros elsewhere.
struct Spread {
  std::vector<double> centroids, rests;     // clusters x d: means, and how far they are above their float64
  std::vector<double> centre, centre_rest;  // d: likewise of all rows
  std::vector<double> weights;              // per cluster
  std::vector<double> distances, squares;   // per cluster: weighted totals over its rows, to its centroid
  int exponent = 0;                         // lengths here are those of the points times 2^-exponent
};

namespace detail {

// Adds x[i] or w[i] * x[i], which is kept whole.
TM_CLONES static inline void add_weighted(ExactSum& sum, std::size_t n, const double* x, const double* w) {
  double high[kBlock], low[kBlock];
  for (std::size_t first = 0; first < n; first += kBlock, x += kBlock) {
    const std::size_t m = std::min(kBlock, n - first);
    if (w == nullptr) {
      add_block(sum, m, largest(m, TM_EACH(x[i])), TM_EACH(x[i]));
      continue;
    }
    for (std::size_t i = 0; i < m; ++i) {
      high[i] = x[i] * w[first + i];
      low[i] = std::fma(x[i], w[first + i], -high[i]);
    }
    const double *h = high, *l = low;
    add_block(sum, m, largest(m, TM_EACH(h[i])), TM_EACH(h[i]));
    add_block(sum, m, largest(m, TM_EACH(l[i])), TM_EACH(l[i]));
  }
}

// A mean with twice the digits of a double: differences between means keep theirs far from the origin.
struct Mean {
  double value, rest;  // rounded but for rare near-ties, and what that left out; that of equal numbers is the number
};

inline Mean mean_of(ExactSum sum, double weight) {
  const double high = sum.nearest();
  sum.add(-high);
  const double q = high / weight;
  const double more = (std::fma(-q, weight, high) + sum.nearest()) / weight;
  const double value = q + more;
  return {value, more - (value - q)};
}

// Squared distances of n points to one; coordinate k of the points lies at x + k * stride.
TM_CLONES static inline void squared_distances(std::size_t n, std::size_t d, const double* x, std::size_t stride,
                                               const double* to, const double* rest, double* out) {
  std::fill_n(out, n, 0.0);
  for (std::size_t k = 0; k < d; ++k) {
    const double* column = x + k * stride;
    for (std::size_t i = 0; i < n; ++i) {
      const double t = (column[i] - to[k]) - rest[k];
      out[i] += t * t;
    }
  }
}

TM_CLONES static inline void roots(std::size_t n, const double* x, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = std::sqrt(x[i]);
}

}  // namespace detail

// How far the points of each cluster lie from their centroid. All totals are exact before they are rounded, so neither
// the order of rows nor the number of threads shows.
inline Spread centroid_spread(const Points& points) {
  using namespace detail;
  const std::size_t n = points.n, d = points.d, clusters = points.clusters;
  const Sorted sorted = sorted_by_cluster(points);
  const Scale scale = scale_of(points);
  Spread out;
  out.exponent = scale.exponent;
  for (auto* each : {&out.centroids, &out.rests}) each->resize(clusters * d);
  for (auto* each : {&out.centre, &out.centre_rest}) each->resize(d);
  for (auto* each : {&out.weights, &out.distances, &out.squares}) each->resize(clusters);
  std::vector<double> columns(n * d), squares(n), distances(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < d; ++k)
      columns[k * n + i] = points.data[sorted.order[i] * d + k] * scale.one[k] * scale.two;
  const auto weights_at = [&](std::size_t i) {
    return points.weights == nullptr ? nullptr : sorted.weights.data() + i;
  };

  const std::size_t threads = threads_for(2 * n * d);
  const std::size_t runs = sorted.runs.size();
  std::vector<std::vector<ExactSum>> totals(threads, std::vector<ExactSum>(d));
  for_ranges(threads, threads, [&](std::size_t t, std::size_t, std::size_t) {
    for (std::size_t unit = t; unit < runs * d; unit += threads) {
      const std::size_t k = unit / runs;
      const Run& run = sorted.runs[unit % runs];
      ExactSum sum;
      add_weighted(sum, run.last - run.first, columns.data() + k * n + run.first, weights_at(run.first));
      totals[t][k].add(sum);
      const Mean mean = mean_of(sum, run.weight);
      out.centroids[run.cluster * d + k] = mean.value;
      out.rests[run.cluster * d + k] = mean.rest;
    }
  });
  double weight = 0.0;
  for (const Run& run : sorted.runs) weight += out.weights[run.cluster] = run.weight;
  for (std::size_t k = 0; k < d && n > 0; ++k) {
    for (std::size_t t = 1; t < threads; ++t) totals[0][k].add(totals[t][k]);
    const Mean mean = mean_of(totals[0][k], weight);
    out.centre[k] = mean.value;
    out.centre_rest[k] = mean.rest;
  }

  for_ranges(n, threads, [&](std::size_t, std::size_t first, std::size_t last) {
    for (const Run& run : sorted.runs) {
      const std::size_t stop = std::min(run.last, last);
      for (std::size_t i = std::max(run.first, first); i < stop; i += kBlock)
        squared_distances(std::min(kBlock, stop - i), d, columns.data() + i, n, out.centroids.data() + run.cluster * d,
                          out.rests.data() + run.cluster * d, squares.data() + i);
    }
    roots(last - first, squares.data() + first, distances.data() + first);
  });
  for_ranges(threads, threads, [&](std::size_t t, std::size_t, std::size_t) {
    for (std::size_t r = t; r < runs; r += threads) {
      const Run& run = sorted.runs[r];
      ExactSum near, far;
      add_weighted(near, run.last - run.first, distances.data() + run.first, weights_at(run.first));
      add_weighted(far, run.last - run.first, squares.data() + run.first, weights_at(run.first));
      out.distances[run.cluster] = near.nearest();
      out.squares[run.cluster] = far.nearest();
    }
  });
  return out;
}

}  // namespace tallymark

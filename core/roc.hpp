// The points of the ROC curve, of runs without weights, written in one walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "rank_sums.hpp"

namespace tallymark {

struct RocPoints {
  std::shared_ptr<double[]> scores, fpr, tpr;
  std::size_t size = 0;
};

namespace detail {

// A step down: the score, and how many rows of each class have it.
struct RocStep {
  double score = 0.0;
  std::uint64_t dn = 0, dp = 0;
};

template <bool kOnce>
TM_INLINE RocStep take_step(const Runs& negative, const Runs& positive, std::size_t& i, std::size_t& j,
                            std::size_t i_end, std::size_t j_end) {
  constexpr double kBottom = -std::numeric_limits<double>::infinity();
  const double a = i > i_end ? negative.scores[i - 1] : kBottom, b = j > j_end ? positive.scores[j - 1] : kBottom;
  RocStep out{a >= b ? a : b, a >= b ? 1U : 0U, b >= a ? 1U : 0U};
  i -= out.dn;
  j -= out.dp;
  if constexpr (!kOnce) {
    if (out.dn != 0) out.dn = static_cast<std::uint64_t>(negative.count(i));
    if (out.dp != 0) out.dp = static_cast<std::uint64_t>(positive.count(j));
  }
  return out;
}

// Whether the line turns between two steps.
template <bool kOnce>
TM_INLINE std::size_t turns(const RocStep& a, const RocStep& b) {
  if constexpr (kOnce) return a.dn * b.dp != b.dn * a.dp ? 1 : 0;
  const auto wide = [](std::uint64_t x, std::uint64_t y) TM_LAMBDA { return static_cast<unsigned __int128>(x) * y; };
  return wide(a.dn, b.dp) != wide(b.dn, a.dp) ? 1 : 0;
}

// Writes the points of a stretch from `at` on, and returns where they end. A point is written when the step after it is
// known, in the next stretch if need be.
template <bool kOnce>
std::size_t write_points(const Runs& negative, const Runs& positive, const Stretch& part, bool drop,
                         double all_negatives, double all_positives, RocPoints& out, std::size_t at) {
  double* scores = out.scores.get();
  double* fpr = out.fpr.get();
  double* tpr = out.tpr.get();
  std::size_t i = part.negative, j = part.positive;
  if (i == part.negative_end && j == part.positive_end) return at;
  std::uint64_t tp = part.tp, fp = part.fp;
  const std::size_t always = drop ? 0 : 1;
  RocStep held = take_step<kOnce>(negative, positive, i, j, part.negative_end, part.positive_end);
  const auto write = [&](std::size_t counts) TM_LAMBDA {
    tp += held.dp;
    fp += held.dn;
    scores[at] = held.score;
    fpr[at] = static_cast<double>(fp) / all_negatives;
    tpr[at] = static_cast<double>(tp) / all_positives;
    at += counts | always;
  };
  while (i > part.negative_end || j > part.positive_end) {
    const RocStep next = take_step<kOnce>(negative, positive, i, j, part.negative_end, part.positive_end);
    write(turns<kOnce>(held, next));
    held = next;
  }
  const bool last = i == 0 && j == 0;
  write(last ? 1 : turns<kOnce>(held, take_step<kOnce>(negative, positive, i, j, 0, 0)));
  return at;
}

}  // namespace detail

// From the point that no row reaches on. With `drop`, points that lie straight between their neighbours are left out.
inline RocPoints list_points(const Runs& negative, const Runs& positive, bool drop) {
  const std::size_t most = negative.size + positive.size + 1;
  RocPoints out{room_for<double>(most), room_for<double>(most), room_for<double>(most), 1};
  out.scores[0] = std::numeric_limits<double>::infinity();
  out.fpr[0] = out.tpr[0] = 0.0;
  const auto all_negatives = static_cast<double>(detail::total(negative, 0, negative.size));
  const auto all_positives = static_cast<double>(detail::total(positive, 0, positive.size));
  const bool once = negative.counts == nullptr && positive.counts == nullptr;
  const std::size_t threads = threads_for(most);
  const auto parts = cut_walk(negative, positive, threads);
  std::vector<std::size_t> starts(threads), ends(threads);
  for_ranges(threads, threads, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t t = first; t < last; ++t) {
      // Each part starts where it would if nothing were left out; then the gaps are closed.
      starts[t] = 1 + (negative.size - parts[t].negative) + (positive.size - parts[t].positive);
      const auto write = once ? detail::write_points<true> : detail::write_points<false>;
      ends[t] = write(negative, positive, parts[t], drop, all_negatives, all_positives, out, starts[t]);
    }
  });
  for (std::size_t t = 0; t < threads; ++t) {
    const std::size_t size = ends[t] - starts[t];
    for (double* column : {out.scores.get(), out.fpr.get(), out.tpr.get()})
      if (out.size != starts[t]) std::copy_n(column + starts[t], size, column + out.size);
    out.size += size;
  }
  return out;
}

}  // namespace tallymark

// The area under the ROC curve in many replicates of the bootstrap: rows are put in order once, and one walk through
// them serves as many replicates as there are lanes. A lane is a replicate, so that no lane waits for another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "parallel.hpp"
#include "resample.hpp"
#include "target.hpp"

namespace tallymark {

// What a row does in the walk from the lowest score up. Within a run of equal scores, positives come first.
enum class RankStep : std::uint8_t { negative, positive, first_tied_positive, tied_positive, tied_negative };

// Rows in the order of the walk. Weights are null where all rows weigh 1.
struct RankedRows {
  const std::uint64_t* keys = nullptr;
  const std::uint8_t* steps = nullptr;
  const double* weights = nullptr;
  std::size_t n = 0;
};

inline constexpr std::size_t kMostRankedRows = std::size_t{1} << 28;  // no sum of products of counts overflows

namespace detail {

inline constexpr std::size_t kLanes = 32;

template <class Sum>
struct RankLanes {
  using Total = std::conditional_t<std::is_same_v<Sum, double>, double, std::uint32_t>;
  Total negatives[kLanes] = {}, positives[kLanes] = {}, run[kLanes] = {};  // of a run, the positives
  Sum wins[kLanes] = {}, ties[kLanes] = {};
};

// Doubles add in the order of the walk, whole numbers in any.
template <class Sum>
TM_INLINE void walk_lanes(const RankedRows& rows, const std::uint64_t* streams, RankLanes<Sum>& sums) {
  using Total = typename RankLanes<Sum>::Total;
  std::int32_t drawn[kLanes];
  Total weight[kLanes];
  for (std::size_t i = 0; i < rows.n; ++i) {
    const std::uint64_t place = rows.keys[i] * kGolden;
    for (std::size_t j = 0; j < kLanes; ++j) drawn[j] = draw_at(streams[j] + place);
    for (std::size_t j = 0; j < kLanes; ++j) weight[j] = static_cast<Total>(poisson_of(drawn[j]));
    if constexpr (std::is_same_v<Sum, double>)
      for (std::size_t j = 0; j < kLanes; ++j) weight[j] *= rows.weights[i];
    const auto step = static_cast<RankStep>(rows.steps[i]);
    if (step == RankStep::negative || step == RankStep::tied_negative) {
      for (std::size_t j = 0; j < kLanes; ++j) sums.negatives[j] += weight[j];
      if (step == RankStep::tied_negative)
        for (std::size_t j = 0; j < kLanes; ++j) sums.ties[j] += static_cast<Sum>(weight[j]) * sums.run[j];
      continue;
    }
    for (std::size_t j = 0; j < kLanes; ++j) {
      sums.positives[j] += weight[j];
      sums.wins[j] += static_cast<Sum>(weight[j]) * sums.negatives[j];
    }
    if (step == RankStep::positive) continue;
    for (std::size_t j = 0; j < kLanes; ++j)
      sums.run[j] = weight[j] + (step == RankStep::tied_positive ? sums.run[j] : Total{0});
  }
}

TM_CLONES static void walk_counts(const RankedRows& rows, const std::uint64_t* streams,
                                  RankLanes<std::uint64_t>& sums) {
  walk_lanes(rows, streams, sums);
}

TM_CLONES static void walk_weights(const RankedRows& rows, const std::uint64_t* streams, RankLanes<double>& sums) {
  walk_lanes(rows, streams, sums);
}

template <class Sum>
void areas_of_lanes(const RankedRows& rows, std::uint64_t seed, std::uint64_t first, std::size_t size, double* out) {
  std::uint64_t streams[kLanes];
  for (std::size_t j = 0; j < kLanes; ++j) streams[j] = stream_of(seed, first + j);
  RankLanes<Sum> sums;
  if constexpr (std::is_same_v<Sum, double>)
    walk_weights(rows, streams, sums);
  else
    walk_counts(rows, streams, sums);
  for (std::size_t j = 0; j < size; ++j) {
    const auto pairs = static_cast<double>(static_cast<Sum>(sums.positives[j]) * sums.negatives[j]);
    const auto area = static_cast<double>(2 * sums.wins[j] + sums.ties[j]) / (2.0 * pairs);  // 0 / 0 is NaN
    out[j] = area > 1.0 ? 1.0 : area;
  }
}

}  // namespace detail

// The area of every replicate first, first + 1, …; NaN where one class has no rows in it.
inline void resampled_areas(const RankedRows& rows, std::uint64_t seed, std::uint64_t first, std::size_t resamples,
                            double* out) {
  const std::size_t groups = (resamples + detail::kLanes - 1) / detail::kLanes;
  const std::size_t threads = std::min(threads_for(rows.n * resamples), std::max<std::size_t>(groups, 1));
  for_ranges(groups, threads, [&](std::size_t, std::size_t from, std::size_t to) {
    for (std::size_t group = from; group < to; ++group) {
      const std::size_t at = group * detail::kLanes, size = std::min(detail::kLanes, resamples - at);
      if (rows.weights != nullptr)
        detail::areas_of_lanes<double>(rows, seed, first + at, size, out + at);
      else
        detail::areas_of_lanes<std::uint64_t>(rows, seed, first + at, size, out + at);
    }
  });
}

}  // namespace tallymark

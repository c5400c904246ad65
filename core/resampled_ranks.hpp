// The areas under the ROC curve and under the steps of precision by recall in many replicates of the bootstrap: rows
// are put in order once, and one walk through them serves as many replicates as there are lanes. A lane is a replicate,
// so that no lane waits for another.
#pragma once

#include <algorithm>
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
using TotalOf = std::conditional_t<std::is_same_v<Sum, double>, double, std::uint32_t>;

template <class Sum>
struct RankLanes {
  using Total = TotalOf<Sum>;
  Total negatives[kLanes] = {}, positives[kLanes] = {}, run[kLanes] = {};  // of a run, the positives
  Sum wins[kLanes] = {}, ties[kLanes] = {};
};

// What a row weighs in each of the replicates.
template <class Total>
TM_INLINE void weigh_row(const RankedRows& rows, std::size_t i, const std::uint64_t* streams, Total* weight) {
  std::int32_t drawn[kLanes];
  const std::uint64_t place = rows.keys[i] * kGolden;
  for (std::size_t j = 0; j < kLanes; ++j) drawn[j] = draw_at(streams[j] + place);
  for (std::size_t j = 0; j < kLanes; ++j) weight[j] = static_cast<Total>(poisson_of(drawn[j]));
  if constexpr (std::is_same_v<Total, double>)
    for (std::size_t j = 0; j < kLanes; ++j) weight[j] *= rows.weights[i];
}

// Doubles add in the order of the walk, whole numbers in any.
template <class Sum>
TM_INLINE void walk_lanes(const RankedRows& rows, const std::uint64_t* streams, RankLanes<Sum>& sums) {
  using Total = typename RankLanes<Sum>::Total;
  Total weight[kLanes];
  for (std::size_t i = 0; i < rows.n; ++i) {
    weigh_row(rows, i, streams, weight);
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

TM_CLONES static inline void walk_counts(const RankedRows& rows, const std::uint64_t* streams,
                                         RankLanes<std::uint64_t>& sums) {
  walk_lanes(rows, streams, sums);
}

TM_CLONES static inline void walk_weights(const RankedRows& rows, const std::uint64_t* streams,
                                          RankLanes<double>& sums) {
  walk_lanes(rows, streams, sums);
}

template <class Total>
struct PrecisionLanes {
  Total positives[kLanes] = {}, negatives[kLanes] = {}, run[kLanes] = {};  // of a run, the positives
  double steps[kLanes] = {};
};

// From the highest score down. The low bit of a step says that the row is positive, the next that a run with positives
// ends with it.
template <class Total>
TM_INLINE void walk_precision(const RankedRows& rows, const std::uint64_t* streams, PrecisionLanes<Total>& sums) {
  Total weight[kLanes];
  for (std::size_t i = 0; i < rows.n; ++i) {
    weigh_row(rows, i, streams, weight);
    if ((rows.steps[i] & 1U) != 0) {
      for (std::size_t j = 0; j < kLanes; ++j) {
        sums.positives[j] += weight[j];
        sums.run[j] += weight[j];
      }
    } else {
      for (std::size_t j = 0; j < kLanes; ++j) sums.negatives[j] += weight[j];
    }
    if ((rows.steps[i] & 2U) == 0) continue;
    for (std::size_t j = 0; j < kLanes; ++j) {
      const auto hits = static_cast<double>(sums.positives[j]);
      const double seen = hits + static_cast<double>(sums.negatives[j]);
      sums.steps[j] += static_cast<double>(sums.run[j]) * (hits / (seen > 0.0 ? seen : 1.0));
      sums.run[j] = 0;
    }
  }
}

TM_CLONES static inline void walk_counts(const RankedRows& rows, const std::uint64_t* streams,
                                         PrecisionLanes<std::uint32_t>& sums) {
  walk_precision(rows, streams, sums);
}

TM_CLONES static inline void walk_weights(const RankedRows& rows, const std::uint64_t* streams,
                                          PrecisionLanes<double>& sums) {
  walk_precision(rows, streams, sums);
}

inline double area_of(const RankLanes<std::uint64_t>& sums, std::size_t j) {
  const auto pairs = static_cast<double>(static_cast<std::uint64_t>(sums.positives[j]) * sums.negatives[j]);
  return static_cast<double>(2 * sums.wins[j] + sums.ties[j]) / (2.0 * pairs);  // 0 / 0 is NaN
}

inline double area_of(const RankLanes<double>& sums, std::size_t j) {
  return (2.0 * sums.wins[j] + sums.ties[j]) / (2.0 * (sums.positives[j] * sums.negatives[j]));
}

template <class Total>
double area_of(const PrecisionLanes<Total>& sums, std::size_t j) {
  return sums.steps[j] / static_cast<double>(sums.positives[j]);
}

// The area of every replicate first, first + 1, …; NaN where rows that it needs have no weight.
template <class Counted, class Weighed>
void areas_of_replicates(const RankedRows& rows, std::uint64_t seed, std::uint64_t first, std::size_t resamples,
                         double* out) {
  const std::size_t groups = (resamples + kLanes - 1) / kLanes;
  const std::size_t threads = std::min(threads_for(rows.n * resamples), std::max<std::size_t>(groups, 1));
  for_ranges(groups, threads, [&](std::size_t, std::size_t from, std::size_t to) {
    for (std::size_t group = from; group < to; ++group) {
      const std::size_t at = group * kLanes;
      std::uint64_t streams[kLanes];
      for (std::size_t j = 0; j < kLanes; ++j) streams[j] = stream_of(seed, first + at + j);
      const auto write = [&](const auto& sums) {
        for (std::size_t j = 0; j < std::min(kLanes, resamples - at); ++j) {
          const double area = area_of(sums, j);
          out[at + j] = area > 1.0 ? 1.0 : area;
        }
      };
      if (rows.weights != nullptr) {
        Weighed sums;
        walk_weights(rows, streams, sums);
        write(sums);
      } else {
        Counted sums;
        walk_counts(rows, streams, sums);
        write(sums);
      }
    }
  });
}

}  // namespace detail

// Under the ROC curve.
inline void resampled_areas(const RankedRows& rows, std::uint64_t seed, std::uint64_t first, std::size_t resamples,
                            double* out) {
  detail::areas_of_replicates<detail::RankLanes<std::uint64_t>, detail::RankLanes<double>>(rows, seed, first, resamples,
                                                                                           out);
}

// Under the steps of precision by recall.
inline void resampled_precision(const RankedRows& rows, std::uint64_t seed, std::uint64_t first, std::size_t resamples,
                                double* out) {
  detail::areas_of_replicates<detail::PrecisionLanes<std::uint32_t>, detail::PrecisionLanes<double>>(rows, seed, first,
                                                                                                     resamples, out);
}

}  // namespace tallymark

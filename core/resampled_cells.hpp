// How many rows there are in every cell, in many replicates of the bootstrap: one pass over the cells of the rows
// serves as many replicates as there are lanes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "own_copy.hpp"
#include "parallel.hpp"
#include "resample.hpp"
#include "target.hpp"

namespace tallymark {

// Without keys, the key of a row is its place.
struct CellRows {
  const std::uint64_t* keys = nullptr;
  const std::int64_t* cells = nullptr;  // below `count`
  std::size_t n = 0, count = 0;
};

inline constexpr std::size_t kMostCells = 4096;                     // tables stay in the caches
inline constexpr std::size_t kMostCellRows = std::size_t{1} << 28;  // no count overflows

namespace detail {

inline constexpr std::size_t kCellLanes = 32;

TM_CLONES static inline void walk_cells(const CellRows& rows, const std::uint64_t* streams, std::uint32_t* tables) {
  std::int32_t drawn[kCellLanes];
  for (std::size_t i = 0; i < rows.n; ++i) {
    const std::uint64_t place = (rows.keys == nullptr ? i : rows.keys[i]) * kGolden;
    for (std::size_t j = 0; j < kCellLanes; ++j) drawn[j] = draw_at(streams[j] + place);
    std::uint32_t* at = tables + static_cast<std::size_t>(rows.cells[i]) * kCellLanes;
    for (std::size_t j = 0; j < kCellLanes; ++j) at[j] += static_cast<std::uint32_t>(poisson_of(drawn[j]));
  }
}

}  // namespace detail

// The counts of every replicate first, first + 1, …, one line of `count` cells each.
inline void resampled_cells(const CellRows& given, std::uint64_t seed, std::uint64_t first, std::size_t resamples,
                            std::int64_t* out) {
  const auto cells = own_indices(given.cells, given.n, given.count, "no such cell");
  const CellRows rows{given.keys, cells.data(), given.n, given.count};
  constexpr std::size_t lanes = detail::kCellLanes;
  const std::size_t groups = (resamples + lanes - 1) / lanes;
  const std::size_t threads = std::min(threads_for(rows.n * resamples), std::max<std::size_t>(groups, 1));
  for_ranges(groups, threads, [&](std::size_t, std::size_t from, std::size_t to) {
    std::vector<std::uint32_t> tables(rows.count * lanes);
    for (std::size_t group = from; group < to; ++group) {
      const std::size_t at = group * lanes;
      std::uint64_t streams[lanes];
      for (std::size_t j = 0; j < lanes; ++j) streams[j] = stream_of(seed, first + at + j);
      std::fill(tables.begin(), tables.end(), 0U);
      detail::walk_cells(rows, streams, tables.data());
      for (std::size_t j = 0; j < std::min(lanes, resamples - at); ++j)
        for (std::size_t k = 0; k < rows.count; ++k) out[(at + j) * rows.count + k] = tables[k * lanes + j];
    }
  });
}

}  // namespace tallymark

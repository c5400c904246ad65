// How often a row counts in a replicate of the bootstrap: a Poisson number of mean 1, drawn from nothing but the seed,
// the replicate and the key of the row. So it depends on no order, thread or partition, and two models that are
// resampled with one seed are resampled alike.
//
// Poisson counts, instead of draws of n rows, make the rows independent of each other. The price is a sample size that
// varies a little, so totals are not resampled.
//
// The bits are those of splitmix64 (Steele, Lea and Flood, 2014): a replicate is a stream, a key is a place in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "parallel.hpp"
#include "target.hpp"

namespace tallymark {

inline constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

TM_INLINE std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

inline std::uint64_t stream_of(std::uint64_t seed, std::uint64_t replicate) {
  return mix(mix(seed + kGolden) + (replicate + 1) * kGolden);
}

// The first 32 bits of the hash, read as a signed number, which is as even and is compared in one instruction.
TM_INLINE std::int32_t draw_at(std::uint64_t place) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(mix(place) >> 32));
}

// From where on a draw is more than k: 2^32 times the chance of at most k, less 2^31. Beyond 12 the chance is below
// 2^-33.
inline constexpr std::int32_t kMoreThan[] = {-567453479, 1012576689, 1802591774, 2065930135, 2131764726, 2144931644,
                                             2147126130, 2147439628, 2147478815, 2147483169, 2147483605, 2147483644};

template <std::size_t... k>
TM_INLINE std::int32_t count_bounds(std::int32_t drawn, std::index_sequence<k...>) {
  return (... + static_cast<std::int32_t>(drawn >= kMoreThan[k]));  // written out, so that loops over it vectorise
}

TM_INLINE std::int32_t poisson_of(std::int32_t drawn) {
  return count_bounds(drawn, std::make_index_sequence<std::size(kMoreThan)>());
}

namespace detail {

inline constexpr std::size_t kDraws = 256;

template <class Key>
TM_INLINE void draw_counts(std::uint64_t stream, std::size_t n, std::uint8_t* out, Key&& key) {
  std::int32_t drawn[kDraws];
  for (std::size_t at = 0; at < n; at += kDraws) {
    const std::size_t size = std::min(kDraws, n - at);
    for (std::size_t i = 0; i < size; ++i) drawn[i] = draw_at(stream + key(at + i) * kGolden);
    for (std::size_t i = 0; i < size; ++i) out[at + i] = static_cast<std::uint8_t>(poisson_of(drawn[i]));
  }
}

TM_CLONES static inline void counts_of_keys(std::uint64_t stream, const std::uint64_t* keys, std::size_t n,
                                            std::uint8_t* out) {
  draw_counts(stream, n, out, TM_EACH(keys[i]));
}

TM_CLONES static inline void counts_of_places(std::uint64_t stream, std::uint64_t first, std::size_t n,
                                              std::uint8_t* out) {
  draw_counts(stream, n, out, TM_EACH(first + i));
}

}  // namespace detail

// The counts of rows in one replicate. Without keys, those of the places first, first + 1, …
inline void poisson_counts(std::uint64_t seed, std::uint64_t replicate, const std::uint64_t* keys, std::uint64_t first,
                           std::size_t n, std::uint8_t* out) {
  const std::uint64_t stream = stream_of(seed, replicate);
  for_ranges(n, threads_for(n), [&](std::size_t, std::size_t from, std::size_t to) {
    if (keys != nullptr)
      detail::counts_of_keys(stream, keys + from, to - from, out + from);
    else
      detail::counts_of_places(stream, first + from, to - from, out + from);
  });
}

}  // namespace tallymark

// Rows sorted by their scores: scores become integers that order as they do, rows are spread by the leading bits of
// those integers above the smallest, and what falls together is put in order by insertion, or spread again where it is
// much. The first step of a row in the insertion is taken without a branch.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "column.hpp"
#include "exact_sum.hpp"

namespace tallymark {

// Doubles as integers in the same order; both zeros are one.
TM_INLINE std::uint64_t order_key(double x) {
  const std::uint64_t b = bits(x + 0.0);
  return b ^ ((b >> 63) != 0 ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
}
TM_INLINE double score_of(std::uint64_t key) { return real((key >> 63) != 0 ? key ^ (std::uint64_t{1} << 63) : ~key); }

struct PlainRow {
  std::uint64_t key;
  PlainRow() = default;
  TM_INLINE PlainRow(std::uint64_t k, double) : key(k) {}
  double weight() const { return 1.0; }
};
struct WeightedRow {
  std::uint64_t key;
  double held;
  WeightedRow() = default;
  TM_INLINE WeightedRow(std::uint64_t k, double w) : key(k), held(w) {}
  double weight() const { return held; }
};

namespace detail {

inline constexpr std::size_t kFew = 32;      // rows that insertion sorts fastest
inline constexpr unsigned kMostPlaces = 12;  // bits of a spread whose counts stay in the nearest cache

TM_CLONES static inline void to_keys(const double* scores, std::size_t n, std::uint64_t* keys) {
  for (std::size_t i = 0; i < n; ++i) keys[i] = order_key(scores[i]);
}

// Rows in order, from one place to the same or another one that does not overlap it. Most rows have one step to go, or
// none, which is not worth a branch.
template <class Row>
TM_INLINE void insert_rows(const Row* from, std::size_t n, Row* to) {
  if (n == 0) return;
  Row last = from[0];
  to[0] = last;
  for (std::size_t i = 1; i < n; ++i) {
    const Row row = from[i];
    const bool falls = row.key < last.key;
    const Row low = falls ? row : last;
    last = falls ? last : row;
    to[i - 1] = low;
    to[i] = last;
    if (i > 1 && to[i - 2].key > low.key) {
      std::size_t at = i - 1;
      for (; at > 0 && to[at - 1].key > low.key; --at) to[at] = to[at - 1];
      to[at] = low;
    }
  }
}

struct Extent {
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
};

template <class Row>
TM_INLINE Extent extent_of(const Row* rows, std::size_t n) {
  Extent out;
  for (std::size_t i = 0; i < n; ++i) {
    out.low = rows[i].key < out.low ? rows[i].key : out.low;
    out.high = rows[i].key > out.high ? rows[i].key : out.high;
  }
  return out;
}

// Sorts rows by key, with room for as many.
template <class Row>
void sort_rows(Row* rows, Row* room, std::size_t n) {
  if (n <= kFew) return insert_rows(rows, n, rows);
  const auto [low, high] = extent_of(rows, n);
  if (low == high) return;
  const auto width = static_cast<unsigned>(std::bit_width(high - low));
  const unsigned digit = std::min({static_cast<unsigned>(std::bit_width(n)), width, kMostPlaces});
  const unsigned shift = width - digit;
  std::uint32_t ends[1U << kMostPlaces];
  std::fill_n(ends, std::size_t{1} << digit, 0U);
  for (std::size_t i = 0; i < n; ++i) ++ends[(rows[i].key - low) >> shift];
  std::uint32_t total = 0, most = 0;
  for (std::size_t d = 0; d < std::size_t{1} << digit; ++d) {
    const std::uint32_t count = ends[d];
    ends[d] = total;
    total += count;
    most = count > most ? count : most;
  }
  for (std::size_t i = 0; i < n; ++i) room[ends[(rows[i].key - low) >> shift]++] = rows[i];
  if (shift == 0 || most <= kFew) return insert_rows(room, n, rows);  // nothing has far to go
  std::copy_n(room, n, rows);
  for (std::size_t d = 0, first = 0; d < std::size_t{1} << digit; first = ends[d++])
    sort_rows(rows + first, room + first, ends[d] - first);
}

}  // namespace detail

}  // namespace tallymark

// Scores of rows, by class, in order.
//
// Rows are dealt out by class and by where their scores lie between those of a sample, and each bucket is sorted in the
// nearest caches. Buckets have equal width between the lowest and the highest score of the sample, or an equal share of
// the floats between them, whichever fills more evenly there. Indices are never sorted. What comes out is a function of
// the multiset of rows: distinct scores in order, with how often each occurs; with weights, distinct pairs of score and
// weight.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "page_pool.hpp"
#include "parallel.hpp"
#include "row_sort.hpp"
#include "runs.hpp"

namespace tallymark {

inline constexpr std::uint8_t kNoGroup = 255;

// How many rows of each range of blocks are in each group.
struct Dealt {
  std::size_t rows = 0, groups = 0;
  std::vector<std::vector<std::size_t>> counts;  // by range of blocks, then by group
};

inline constexpr std::size_t kMostColumns = 16;  // that are dealt at once: a line of memory holds several of a row

namespace detail {

inline constexpr unsigned kMostDigitBits = 11;  // buckets whose places stay in the nearest cache
inline constexpr std::size_t kBucket = 1024;    // rows of a bucket, more or less
inline constexpr std::size_t kBucketsAtOnce = 16;
inline constexpr std::size_t kSample = 1024;
inline constexpr std::size_t kPiece = 256;  // rows read at once, which leave the nearest cache to the ends of buckets

// The largest magnitude, as a bit pattern.
TM_CLONES static inline std::uint64_t largest_score(const double* scores, std::size_t n) {
  return largest(n, TM_EACH(scores[i]));
}

// `n` buckets by value: equal scores fall together, and no score falls before a lower one.
TM_CLONES static inline void buckets_by_value(const double* scores, std::size_t n, double low, double scale,
                                              double last, std::uint32_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    double at = (scores[i] - low) * scale;
    at = at > 0.0 ? at : 0.0;
    at = at < last ? at : last;
    out[i] = static_cast<std::uint32_t>(static_cast<std::int32_t>(at));
  }
}

// The same by key.
TM_CLONES static inline void buckets_by_key(const double* scores, std::size_t n, std::uint64_t low, unsigned shift,
                                            std::uint64_t last, std::uint32_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t key = order_key(scores[i]);
    const std::uint64_t at = key > low ? (key - low) >> shift : 0;
    out[i] = static_cast<std::uint32_t>(at < last ? at : last);
  }
}

// How the rows of a column are dealt within their groups. Where the scores lie evenly the buckets are of equal width,
// else of equal share of the numbers between the lowest and the highest; a sample decides.
class Deal {
 public:
  Deal() = default;
  Deal(const double* sample, std::size_t n, unsigned digit) {
    const auto [low, high] = std::minmax_element(sample, sample + n);
    if (!(*low < *high) || !std::isfinite(*low) || !std::isfinite(*high)) return;
    digit_ = digit;
    low_ = *low;
    low_key_ = order_key(low_);
    scale_ = static_cast<double>(std::size_t{1} << digit) / (*high - *low);
    const auto width = static_cast<unsigned>(std::bit_width(order_key(*high) - low_key_));
    shift_ = width > digit ? width - digit : 0;
    const std::size_t fullest_by_key = fullest(sample, n);
    by_value_ = std::isfinite(*high - *low) && std::isfinite(scale_);
    by_value_ = by_value_ && fullest(sample, n) <= fullest_by_key;
  }
  std::size_t size() const { return std::size_t{1} << digit_; }
  unsigned digit() const { return digit_; }
  void buckets(const double* scores, std::size_t n, std::uint32_t* out) const {
    if (digit_ == 0)
      std::fill_n(out, n, 0U);
    else if (by_value_)
      buckets_by_value(scores, n, low_, scale_, static_cast<double>(size() - 1), out);
    else
      buckets_by_key(scores, n, low_key_, shift_, size() - 1, out);
  }

 private:
  std::size_t fullest(const double* sample, std::size_t n) const {
    std::uint32_t at[kSample];
    buckets(sample, n, at);
    std::vector<std::size_t> counts(size(), 0);
    for (std::size_t i = 0; i < n; ++i) ++counts[at[i]];
    return *std::max_element(counts.begin(), counts.end());
  }

  unsigned digit_ = 0, shift_ = 0;
  bool by_value_ = false;
  double low_ = 0.0, scale_ = 0.0;
  std::uint64_t low_key_ = 0;
};

// One pass over all blocks: visit(range, column, rows, group of each, scores, weights) for every block and column,
// where rows that take no part are left out. Whether all scores are finite, of those rows too.
template <class Group, class Read, class Weigh, class Visit>
bool each_block(const Dealt& dealt, std::size_t columns, bool whole, Group&& group, Read&& read, Weigh&& weigh,
                Visit&& visit) {
  const std::size_t threads = dealt.counts.size(), blocks = (dealt.rows + kBlock - 1) / kBlock;
  std::vector<std::uint8_t> bad(threads, 0);
  for_ranges(blocks, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    double scores[kPiece], weights[kPiece];
    std::uint32_t row_of[kPiece], group_of[kPiece];
    const std::size_t end = std::min(last * kBlock, dealt.rows);
    for (std::size_t row = first * kBlock; row < end; row += kPiece) {
      const std::size_t n = std::min(kPiece, end - row);
      std::size_t kept = 0;
      weigh(row, n, weights);
      if (whole) {
        for (std::size_t i = 0; i < n; ++i) group_of[i] = static_cast<std::uint32_t>(group(t, row + i));
        kept = n;
      } else {
        for (std::size_t i = 0; i < n; ++i) {
          const std::size_t g = group(t, row + i);
          row_of[kept] = static_cast<std::uint32_t>(i);
          group_of[kept] = static_cast<std::uint32_t>(g);
          kept += g < dealt.groups ? 1 : 0;
        }
        for (std::size_t j = 0; j < kept; ++j) weights[j] = weights[row_of[j]];
      }
      for (std::size_t k = 0; k < columns; ++k) {
        read(row, n, k, scores);
        if (largest_score(scores, n) >= kInfinity) bad[t] = 1;
        if (!whole)
          for (std::size_t j = 0; j < kept; ++j) scores[j] = scores[row_of[j]];
        visit(t, k, kept, group_of, scores, weights);
      }
    }
  });
  return std::all_of(bad.begin(), bad.end(), [](std::uint8_t each) { return each == 0; });
}

TM_CLONES static inline bool all_positive(const double* weights, std::size_t n) {
  std::int64_t bad = 0;
  for (std::size_t i = 0; i < n; ++i) bad |= weights[i] > 0.0 && bits(weights[i]) < kInfinity ? 0 : 1;
  return bad == 0;
}

// Sorted rows of one group as runs, their keys made scores where there are no weights. Where all of those differ, their
// memory is the result.
template <class Row>
Runs to_runs(const std::shared_ptr<Row[]>& held, Row* rows, std::size_t n, std::size_t distinct) {
  constexpr bool weighted = sizeof(Row) > sizeof(double);
  if (!weighted && distinct == n) {
    Runs out;
    out.owner = held;
    out.scores = reinterpret_cast<const double*>(rows);
    out.size = n;
    return out;
  }
  const auto score = [](const Row& row) { return weighted ? score_of(row.key) : real(row.key); };
  RunsBuilder out(distinct, weighted);
  for (std::size_t first = 0; first < n;) {
    std::size_t last = first + 1;
    while (last < n && rows[last].key == rows[first].key) ++last;
    if (weighted && last - first > 1)
      std::sort(rows + first, rows + last, [](const Row& a, const Row& b) { return a.weight() < b.weight(); });
    for (std::size_t i = first; i < last;) {
      std::size_t end = i + 1;
      while (end < last && rows[end].weight() == rows[i].weight()) ++end;
      out.add(score(rows[i]), rows[i].weight(), static_cast<std::int64_t>(end - i));
      i = end;
    }
    first = last;
  }
  return out.finish();
}

// How many keys of sorted rows differ; without weights the keys become scores where they lie.
template <class Row>
std::size_t settle_keys(Row* rows, std::size_t n) {
  std::size_t distinct = n > 0 ? 1 : 0;
  for (std::size_t i = 1; i < n; ++i) distinct += rows[i].key != rows[i - 1].key ? 1 : 0;
  if constexpr (sizeof(Row) == sizeof(double))
    for (std::size_t i = 0; i < n; ++i) rows[i].key = bits(score_of(rows[i].key));
  return distinct;
}

}  // namespace detail

// The rows of a few columns by group, sorted. `group(range, i)` is that of row i, one of `dealt.groups` or any other
// number where the row takes no part; `read(first, n, column, scores)` and `weigh(first, n, weights)` read a block.
// Nothing if a score is not finite, or if scores or weights changed between the passes.
//
// Two passes over the rows: how many go to each bucket, and the dealing itself, after which a bucket is small enough to
// be sorted in the nearest caches. The second may find other scores than the first (see `own_copy.hpp`): a bucket takes
// no more rows than were counted, and must have got them all.
template <class Row, class Group, class Read, class Weigh>
std::vector<std::vector<Runs>> sort_groups(const Dealt& dealt, std::size_t columns, Group&& group, Read&& read,
                                           Weigh&& weigh) {
  using detail::Deal;
  const std::size_t threads = dealt.counts.size(), groups = dealt.groups;
  std::vector<std::size_t> starts(groups + 1, 0);
  for (const auto& counts : dealt.counts)
    for (std::size_t g = 0; g < groups; ++g) starts[g + 1] += counts[g];
  for (std::size_t g = 0; g < groups; ++g) starts[g + 1] += starts[g];
  const std::size_t total = starts[groups];
  const bool whole = total == dealt.rows;

  const auto fitting = static_cast<unsigned>(std::bit_width(total / (groups + 1) / detail::kBucket));
  const unsigned digit = std::min(fitting, detail::kMostDigitBits);
  std::vector<Deal> deals(columns);
  for (std::size_t k = 0; k < columns && digit > 0; ++k) {
    double sample[detail::kSample];
    for (std::size_t i = 0; i < detail::kSample; ++i) read(dealt.rows / detail::kSample * i, 1, k, sample + i);
    deals[k] = Deal(sample, detail::kSample, digit);
  }

  std::vector<std::vector<std::vector<std::size_t>>> sizes(threads, std::vector<std::vector<std::size_t>>(columns));
  for (auto& of_thread : sizes)
    for (std::size_t k = 0; k < columns; ++k) of_thread[k].assign(groups * deals[k].size(), 0);
  const bool finite = detail::each_block(
      dealt, columns, whole, group, read, [](std::size_t, std::size_t, double*) {},
      [&](std::size_t t, std::size_t k, std::size_t n, const std::uint32_t* g, const double* scores, const double*) {
        std::uint32_t at[detail::kPiece];
        deals[k].buckets(scores, n, at);
        std::size_t* count = sizes[t][k].data();
        const unsigned shift = deals[k].digit();
        for (std::size_t j = 0; j < n; ++j) ++count[(std::size_t{g[j]} << shift) | at[j]];
      });
  if (!finite) return {};
  struct Room {
    Row *next, *end;
  };
  std::vector<std::vector<std::vector<Room>>> rooms(threads, std::vector<std::vector<Room>>(columns));
  std::vector<std::vector<std::size_t>> edges(columns);  // where buckets begin, and the end of the last
  std::vector<std::shared_ptr<Row[]>> held;
  for (std::size_t k = 0; k < columns; ++k) {
    Row* const first = held.emplace_back(room_for<Row>(total)).get();
    std::size_t at = 0;
    for (std::size_t bucket = 0; bucket < groups * deals[k].size(); ++bucket) {
      edges[k].push_back(at);
      for (std::size_t t = 0; t < threads; ++t) {
        const std::size_t size = sizes[t][k][bucket];
        rooms[t][k].push_back({first + at, first + at + size});
        at += size;
      }
    }
    edges[k].push_back(at);
  }
  std::atomic<bool> changed{false};
  const bool still_finite = detail::each_block(dealt, columns, whole, group, read, weigh,
                                               [&](std::size_t t, std::size_t k, std::size_t n, const std::uint32_t* g,
                                                   const double* scores, const double* weights) {
                                                 std::uint32_t at[detail::kPiece];
                                                 std::uint64_t keys[detail::kPiece];
                                                 deals[k].buckets(scores, n, at);
                                                 detail::to_keys(scores, n, keys);
                                                 if constexpr (sizeof(Row) > sizeof(double))
                                                   if (!detail::all_positive(weights, n)) changed = true;
                                                 Room* rooms_of = rooms[t][k].data();
                                                 const unsigned shift = deals[k].digit();
                                                 for (std::size_t j = 0; j < n; ++j) {
                                                   Room& room = rooms_of[(std::size_t{g[j]} << shift) | at[j]];
                                                   if (room.next == room.end) [[unlikely]]
                                                     continue;
                                                   *room.next++ = Row(keys[j], weights[j]);
                                                 }
                                               });
  for (const auto& of_thread : rooms)
    for (const auto& of_column : of_thread)
      for (const Room& room : of_column)
        if (room.next != room.end) changed = true;
  if (!still_finite || changed) return {};

  std::vector<std::pair<std::size_t, std::size_t>> tasks;  // column and first bucket
  for (std::size_t k = 0; k < columns; ++k)
    for (std::size_t bucket = 0; bucket + 1 < edges[k].size(); bucket += detail::kBucketsAtOnce)
      tasks.emplace_back(k, bucket);
  std::vector<std::atomic<std::size_t>> distinct(columns * groups);
  std::atomic<std::size_t> next{0};
  for_ranges(threads, threads, [&](std::size_t, std::size_t, std::size_t) {
    std::vector<Row> room;
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      const auto [k, first] = tasks[i];
      for (std::size_t bucket = first; bucket < std::min(first + detail::kBucketsAtOnce, edges[k].size() - 1);
           ++bucket) {
        Row* rows = held[k].get() + edges[k][bucket];
        const std::size_t n = edges[k][bucket + 1] - edges[k][bucket];
        if (n > room.size()) room = std::vector<Row>(n);
        detail::sort_rows(rows, room.data(), n);
        distinct[k * groups + (bucket >> deals[k].digit())] += detail::settle_keys(rows, n);
      }
    }
  });

  std::vector<std::vector<Runs>> out(columns, std::vector<Runs>(groups));
  next = 0;
  for_ranges(threads, threads, [&](std::size_t, std::size_t, std::size_t) {
    for (std::size_t i = next++; i < columns * groups; i = next++) {
      const std::size_t k = i / groups, g = i % groups;
      out[k][g] = detail::to_runs(held[k], held[k].get() + starts[g], starts[g + 1] - starts[g], distinct[i]);
    }
  });
  return out;
}

}  // namespace tallymark

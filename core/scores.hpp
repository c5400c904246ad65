// Scores of rows, by class, in order.
//
// Scores become integers that order as they do, are dealt out by class, and sorted by their leading bits that differ:
// one pass deals keys to buckets, each bucket is sorted the same way until it is small. Indices are never sorted. What
// comes out is a function of the multiset of rows: distinct scores in order, with how often each occurs; with weights,
// distinct pairs of score and weight.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "column.hpp"
#include "exact_sum.hpp"
#include "parallel.hpp"

namespace tallymark {

// Room for rows. Large room is asked for in large pages, where the system has them: dealing touches it all over.
template <class Row>
std::shared_ptr<Row[]> room_for(std::size_t n) {
#if defined(__linux__)
  constexpr std::size_t kPage = std::size_t{1} << 21;
  if (n * sizeof(Row) >= 2 * kPage) {
    const std::size_t size = (n * sizeof(Row) + kPage - 1) / kPage * kPage;
    void* held = std::aligned_alloc(kPage, size);
    if (held == nullptr) throw std::bad_alloc();
    madvise(held, size, MADV_HUGEPAGE);
    return std::shared_ptr<Row[]>(static_cast<Row*>(held), [](Row* rows) { std::free(rows); });
  }
#endif
  return std::shared_ptr<Row[]>(new Row[n]);
}

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

inline constexpr std::size_t kFew = 32;          // rows that insertion sorts fastest
inline constexpr unsigned kMostDigitBits = 11;   // buckets whose places stay in the nearest cache
inline constexpr std::size_t kDealt = 1U << 17;  // rows from which on several threads deal the first digit

// The largest magnitude, as a bit pattern.
TM_CLONES static std::uint64_t largest_score(const double* scores, std::size_t n) {
  return largest(n, TM_EACH(scores[i]));
}

// Which bits of the keys are not the same in all rows.
template <class Row>
TM_INLINE std::uint64_t varying_bits(const Row* rows, std::size_t n) {
  std::uint64_t any = 0, all = ~std::uint64_t{0};
  for (std::size_t i = 0; i < n; ++i) {
    any |= rows[i].key;
    all &= rows[i].key;
  }
  return any & ~all;
}

template <class Row>
void insertion_sort(Row* rows, std::size_t n) {
  for (std::size_t i = 1; i < n; ++i) {
    const Row row = rows[i];
    std::size_t at = i;
    for (; at > 0 && rows[at - 1].key > row.key; --at) rows[at] = rows[at - 1];
    rows[at] = row;
  }
}

// Sorts `from` by key, with `to` as room of the same size; the result stands in `to` or in `from`.
template <class Row>
void sort_rows(Row* from, Row* to, std::size_t n, bool in_to) {
  if (n <= kFew) {
    insertion_sort(from, n);
    if (in_to) std::copy_n(from, n, to);
    return;
  }
  const std::uint64_t varying = varying_bits(from, n);
  if (varying == 0) {
    if (in_to) std::copy_n(from, n, to);
    return;
  }
  const auto width = static_cast<unsigned>(std::bit_width(varying));
  const unsigned wanted = std::min(static_cast<unsigned>(std::bit_width(n)) - 2, kMostDigitBits);
  const unsigned digit = std::min(wanted, width), shift = width - digit;
  const std::uint64_t mask = (std::uint64_t{1} << digit) - 1;
  std::uint32_t ends[1U << kMostDigitBits];
  std::fill_n(ends, mask + 1, 0U);
  for (std::size_t i = 0; i < n; ++i) ++ends[(from[i].key >> shift) & mask];
  std::uint32_t total = 0, most = 0;
  for (std::size_t d = 0; d <= mask; ++d) {
    const std::uint32_t count = ends[d];
    ends[d] = total;
    total += count;
    most = count > most ? count : most;
  }
  for (std::size_t i = 0; i < n; ++i) to[ends[(from[i].key >> shift) & mask]++] = from[i];
  if (shift == 0 || most <= kFew) {  // nothing has far to go
    if (shift > 0) insertion_sort(to, n);
    if (!in_to) std::copy_n(to, n, from);
    return;
  }
  std::size_t first = 0;
  for (std::size_t d = 0; d <= mask; ++d) {
    const std::size_t count = ends[d] - first;
    if (count != 0) sort_rows(to + first, from + first, count, !in_to);
    first = ends[d];
  }
}

// The same for many rows: the first digit is dealt by all threads, and then each takes the next bucket.
template <class Row>
void sort_many(Row* from, Row* to, std::size_t n, std::size_t threads) {
  if (threads < 2 && n < (std::size_t{1} << 31)) return sort_rows(from, to, n, true);
  std::vector<std::uint64_t> differ(threads, 0);
  for_ranges(n, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    differ[t] = varying_bits(from + first, last - first) | ((from[first].key) ^ from[0].key);
  });
  std::uint64_t varying = 0;
  for (const std::uint64_t bits_of_range : differ) varying |= bits_of_range;
  const auto width = static_cast<unsigned>(std::bit_width(varying));
  const unsigned digit = std::min(kMostDigitBits, width), shift = width - digit;
  const std::uint64_t mask = (std::uint64_t{1} << digit) - 1;
  std::vector<std::vector<std::size_t>> places(threads, std::vector<std::size_t>(mask + 1, 0));
  for_ranges(n, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    std::size_t* count = places[t].data();
    for (std::size_t i = first; i < last; ++i) ++count[(from[i].key >> shift) & mask];
  });
  std::vector<std::size_t> starts(mask + 2, 0);
  std::size_t total = 0;
  for (std::size_t d = 0; d <= mask; ++d) {
    starts[d] = total;
    for (std::size_t t = 0; t < threads; ++t) {
      const std::size_t count = places[t][d];
      places[t][d] = total;
      total += count;
    }
  }
  starts[mask + 1] = total;
  for_ranges(n, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    std::size_t* place = places[t].data();
    for (std::size_t i = first; i < last; ++i) to[place[(from[i].key >> shift) & mask]++] = from[i];
  });
  std::atomic<std::size_t> next{0};
  for_ranges(threads, threads, [&](std::size_t, std::size_t, std::size_t) {
    for (std::size_t d = next++; d <= mask; d = next++) {
      const std::size_t first = starts[d], count = starts[d + 1] - first;
      if (count > 1 && shift > 0) sort_rows(to + first, from + first, count, false);
    }
  });
}

}  // namespace detail

// Rows of one class in order: distinct scores, or distinct pairs of score and weight, and how often each occurs. No
// weights means that all are 1, no counts that everything occurs once. `owner` keeps the memory.
struct Runs {
  std::shared_ptr<const void> owner;
  const double* scores = nullptr;
  const double* weights = nullptr;
  const std::int64_t* counts = nullptr;
  std::size_t size = 0;

  double weight(std::size_t i) const { return weights == nullptr ? 1.0 : weights[i]; }
  std::int64_t count(std::size_t i) const { return counts == nullptr ? 1 : counts[i]; }
};

// Collects runs in order; the parts that turn out to be all ones are left away.
class RunsBuilder {
 public:
  explicit RunsBuilder(std::size_t room, bool weighted) : held_(std::make_shared<Held>()) {
    held_->scores.reserve(room);
    held_->counts.reserve(room);
    if (weighted) held_->weights.reserve(room);
    weighted_ = weighted;
  }
  void add(double score, double weight, std::int64_t count) {
    held_->scores.push_back(score);
    held_->counts.push_back(count);
    if (weighted_) held_->weights.push_back(weight);
    ones_ = ones_ && weight == 1.0;
    once_ = once_ && count == 1;
  }
  Runs finish() {
    Runs out;
    out.owner = held_;
    out.scores = held_->scores.data();
    out.size = held_->scores.size();
    if (ones_) std::vector<double>().swap(held_->weights);
    if (once_) std::vector<std::int64_t>().swap(held_->counts);
    out.weights = ones_ ? nullptr : held_->weights.data();
    out.counts = once_ ? nullptr : held_->counts.data();
    return out;
  }

 private:
  struct Held {
    std::vector<double> scores, weights;
    std::vector<std::int64_t> counts;
  };
  std::shared_ptr<Held> held_;
  bool weighted_, ones_ = true, once_ = true;
};

namespace detail {

// Sorted rows as runs. Where all scores differ and there are no weights, the memory of the rows becomes the scores.
template <class Row>
Runs to_runs(const std::shared_ptr<Row[]>& held, Row* rows, std::size_t n, std::size_t threads) {
  constexpr bool weighted = sizeof(Row) > sizeof(double);
  std::vector<std::size_t> distinct(threads, 0);
  for_ranges(n, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    std::size_t count = 0;
    for (std::size_t i = std::max<std::size_t>(first, 1); i < last; ++i)
      count += rows[i].key != rows[i - 1].key ? 1 : 0;
    distinct[t] = count;
  });
  std::size_t total = n > 0 ? 1 : 0;
  for (const std::size_t count : distinct) total += count;
  if (!weighted && total == n) {
    for_ranges(n, threads, [&](std::size_t, std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        const double score = score_of(rows[i].key);
        std::memcpy(static_cast<void*>(rows + i), &score, sizeof score);
      }
    });
    Runs out;
    out.owner = held;
    out.scores = reinterpret_cast<const double*>(rows);
    out.size = n;
    return out;
  }
  RunsBuilder out(total, weighted);
  for (std::size_t first = 0; first < n;) {
    std::size_t last = first + 1;
    while (last < n && rows[last].key == rows[first].key) ++last;
    if (weighted && last - first > 1)
      std::sort(rows + first, rows + last, [](const Row& a, const Row& b) { return a.weight() < b.weight(); });
    for (std::size_t i = first; i < last;) {
      std::size_t end = i + 1;
      while (end < last && rows[end].weight() == rows[i].weight()) ++end;
      out.add(score_of(rows[i].key), rows[i].weight(), static_cast<std::int64_t>(end - i));
      i = end;
    }
    first = last;
  }
  return out.finish();
}

}  // namespace detail

inline constexpr std::uint8_t kNoGroup = 255;

// How many rows of each range of blocks are in each group.
struct Dealt {
  std::size_t rows = 0, groups = 0;
  std::vector<std::vector<std::size_t>> counts;  // by range of blocks, then by group
};

inline constexpr std::size_t kMostColumns = 8;  // that are dealt at once: a line of memory of a table of doubles

// The rows of a few columns by group, sorted. `group(range, i)` is that of row i, one of `dealt.groups` or any other
// number where the row takes no part; `read(first, n, column, scores)` and `weigh(first, n, weights)` read a block.
// Nothing if a score is not finite.
template <class Row, class Group, class Read, class Weigh>
std::vector<std::vector<Runs>> sort_groups(const Dealt& dealt, std::size_t columns, Group&& group, Read&& read,
                                           Weigh&& weigh) {
  const std::size_t threads = dealt.counts.size();
  std::vector<std::vector<std::size_t>> places = dealt.counts;
  std::vector<std::size_t> starts(dealt.groups + 1, 0);
  std::size_t total = 0;
  for (std::size_t g = 0; g < dealt.groups; ++g) {
    starts[g] = total;
    for (std::size_t t = 0; t < threads; ++t) {
      const std::size_t count = places[t][g];
      places[t][g] = total;
      total += count;
    }
  }
  starts[dealt.groups] = total;
  auto from = room_for<Row>(total * columns);
  std::vector<std::uint8_t> bad(threads, 0);
  const std::size_t blocks = (dealt.rows + kBlock - 1) / kBlock;
  for_ranges(blocks, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    double scores[kBlock], weights[kBlock];
    std::size_t row_of[kBlock], place_of[kBlock];
    std::size_t* place = places[t].data();
    for (std::size_t b = first; b < last && bad[t] == 0; ++b) {
      const std::size_t row = b * kBlock, n = std::min(kBlock, dealt.rows - row);
      weigh(row, n, weights);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t g = group(t, row + i);
        if (g >= dealt.groups) continue;
        row_of[kept] = i;
        place_of[kept++] = place[g]++;
      }
      for (std::size_t k = 0; k < columns; ++k) {
        read(row, n, k, scores);
        if (detail::largest_score(scores, n) >= kInfinity) bad[t] = 1;
        Row* out = from.get() + k * total;
        for (std::size_t j = 0; j < kept; ++j) out[place_of[j]] = Row(order_key(scores[row_of[j]]), weights[row_of[j]]);
      }
    }
  });
  for (const std::uint8_t b : bad)
    if (b != 0) return {};
  std::vector<std::shared_ptr<Row[]>> to;
  for (std::size_t k = 0; k < columns; ++k) to.push_back(room_for<Row>(total));
  // Large groups one after the other, by all threads; the others side by side.
  std::vector<std::vector<Runs>> out(columns, std::vector<Runs>(dealt.groups));
  std::vector<std::pair<std::size_t, std::size_t>> small;
  const auto sort = [&](std::size_t k, std::size_t g, std::size_t share) {
    const std::size_t n = starts[g + 1] - starts[g];
    Row* sorted = to[k].get() + starts[g];
    detail::sort_many(from.get() + k * total + starts[g], sorted, n, share);
    out[k][g] = detail::to_runs(to[k], sorted, n, share);
  };
  for (std::size_t k = 0; k < columns; ++k)
    for (std::size_t g = 0; g < dealt.groups; ++g) {
      if (starts[g + 1] - starts[g] < detail::kDealt)
        small.emplace_back(k, g);
      else
        sort(k, g, threads);
    }
  std::atomic<std::size_t> next{0};
  for_ranges(threads, threads, [&](std::size_t, std::size_t, std::size_t) {
    for (std::size_t i = next++; i < small.size(); i = next++) sort(small[i].first, small[i].second, 1);
  });
  return out;
}

// The runs of both sets of rows.
inline Runs merge(const Runs& a, const Runs& b) {
  RunsBuilder out(a.size + b.size, a.weights != nullptr || b.weights != nullptr);
  std::size_t i = 0, j = 0;
  while (i < a.size || j < b.size) {
    const bool left =
        j == b.size ||
        (i < a.size && (a.scores[i] < b.scores[j] || (a.scores[i] == b.scores[j] && a.weight(i) < b.weight(j))));
    const bool same = !left && i < a.size && a.scores[i] == b.scores[j] && a.weight(i) == b.weight(j);
    if (same) {
      out.add(a.scores[i], a.weight(i), a.count(i) + b.count(j));
      ++i;
      ++j;
    } else if (left) {
      out.add(a.scores[i], a.weight(i), a.count(i));
      ++i;
    } else {
      out.add(b.scores[j], b.weight(j), b.count(j));
      ++j;
    }
  }
  return out.finish();
}

}  // namespace tallymark

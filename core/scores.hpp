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
#include <utility>
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

inline constexpr std::size_t kFew = 32;         // rows that insertion sorts fastest
inline constexpr unsigned kMostDigitBits = 11;  // buckets whose places stay in the nearest cache
inline constexpr std::size_t kBucket = 512;     // rows of a bucket, more or less
inline constexpr std::size_t kBucketsAtOnce = 16;
inline constexpr std::size_t kDealt = 1U << 17;  // rows of a group that several threads finish together

// The largest magnitude, as a bit pattern.
TM_CLONES static std::uint64_t largest_score(const double* scores, std::size_t n) {
  return largest(n, TM_EACH(scores[i]));
}

TM_CLONES static void to_keys(const double* scores, std::size_t n, std::uint64_t* keys) {
  for (std::size_t i = 0; i < n; ++i) keys[i] = order_key(scores[i]);
}

// Bits that any of the keys have, and that all of them have.
template <class Seen>
TM_INLINE Seen bits_of_block(const std::uint64_t* keys, std::size_t n) {
  Seen out;
  for (std::size_t i = 0; i < n; ++i) {
    out.any |= keys[i];
    out.all &= keys[i];
  }
  return out;
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
  const unsigned wanted = std::min(static_cast<unsigned>(std::bit_width(n)), kMostDigitBits);
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

// Sorted rows as runs. Without weights the keys become scores where they lie, and where all of them differ that memory
// is the result.
template <class Row>
Runs to_runs(const std::shared_ptr<Row[]>& held, Row* rows, std::size_t n, std::size_t threads) {
  constexpr bool weighted = sizeof(Row) > sizeof(double);
  std::vector<std::size_t> distinct(threads, 0);
  const std::uint64_t before = n > 0 ? ~rows[0].key : 0;  // unlike the first
  std::vector<std::uint64_t> edges(threads, before);      // the key before each range, which the range before changes
  for (std::size_t t = 1; t < threads; ++t)
    if (n * t / threads > 0) edges[t] = rows[n * t / threads - 1].key;
  for_ranges(n, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    std::size_t count = 0;
    std::uint64_t previous = edges[t];
    for (std::size_t i = first; i < last; ++i) {
      const std::uint64_t key = rows[i].key;
      count += key != previous ? 1 : 0;
      previous = key;
      if constexpr (!weighted) rows[i].key = bits(score_of(key));
    }
    distinct[t] = count;
  });
  std::size_t total = 0;
  for (const std::size_t count : distinct) total += count;
  if (!weighted && total == n) {
    Runs out;
    out.owner = held;
    out.scores = reinterpret_cast<const double*>(rows);
    out.size = n;
    return out;
  }
  const auto score = [](const Row& row) { return weighted ? score_of(row.key) : real(row.key); };
  RunsBuilder out(total, weighted);
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

}  // namespace detail

inline constexpr std::uint8_t kNoGroup = 255;

// How many rows of each range of blocks are in each group.
struct Dealt {
  std::size_t rows = 0, groups = 0;
  std::vector<std::vector<std::size_t>> counts;  // by range of blocks, then by group
};

inline constexpr std::size_t kMostColumns = 16;  // that are dealt at once: a line of memory holds several of a row

namespace detail {

// How the rows of one column are dealt: by group, and within it by the leading bits of the keys that differ.
struct Deal {
  unsigned shift = 0, digit = 0;
  std::size_t bucket(std::size_t group, std::uint64_t key) const {
    return (group << digit) | static_cast<std::size_t>((key >> shift) & ((std::uint64_t{1} << digit) - 1));
  }
};

// One pass over all blocks: visit(range, column, rows, group of each, keys, weights) for every block and column, where
// rows that take no part are left out. Whether all scores are finite.
template <class Group, class Read, class Weigh, class Visit>
bool each_block(const Dealt& dealt, std::size_t columns, Group&& group, Read&& read, Weigh&& weigh, Visit&& visit) {
  const std::size_t threads = dealt.counts.size(), blocks = (dealt.rows + kBlock - 1) / kBlock;
  std::vector<std::uint8_t> bad(threads, 0);
  for_ranges(blocks, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    double scores[kBlock], weights[kBlock], kept_weights[kBlock];
    std::uint64_t keys[kBlock];
    std::uint32_t row_of[kBlock], group_of[kBlock];
    for (std::size_t b = first; b < last && bad[t] == 0; ++b) {
      const std::size_t row = b * kBlock, n = std::min(kBlock, dealt.rows - row);
      weigh(row, n, weights);
      std::size_t kept = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t g = group(t, row + i);
        row_of[kept] = static_cast<std::uint32_t>(i);
        group_of[kept] = static_cast<std::uint32_t>(g);
        kept += g < dealt.groups ? 1 : 0;
      }
      for (std::size_t j = 0; j < kept; ++j) kept_weights[j] = weights[row_of[j]];
      for (std::size_t k = 0; k < columns; ++k) {
        read(row, n, k, scores);
        if (largest_score(scores, n) >= kInfinity) bad[t] = 1;
        if (kept == n)
          to_keys(scores, n, keys);
        else
          for (std::size_t j = 0; j < kept; ++j) keys[j] = order_key(scores[row_of[j]]);
        visit(t, k, kept, group_of, keys, kept_weights);
      }
    }
  });
  return std::all_of(bad.begin(), bad.end(), [](std::uint8_t each) { return each == 0; });
}

}  // namespace detail

// The rows of a few columns by group, sorted. `group(range, i)` is that of row i, one of `dealt.groups` or any other
// number where the row takes no part; `read(first, n, column, scores)` and `weigh(first, n, weights)` read a block.
// Nothing if a score is not finite.
//
// Three passes over the rows: which bits differ, how many rows go to each bucket, and the dealing itself, after which a
// bucket is small enough to be sorted in the nearest caches.
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

  struct Seen {
    std::uint64_t any = 0, all = ~std::uint64_t{0};
  };
  std::vector<Seen> seen(threads * columns);
  const bool finite = detail::each_block(
      dealt, columns, group, read, [](std::size_t, std::size_t, double*) {},
      [&](std::size_t t, std::size_t k, std::size_t n, const std::uint32_t*, const std::uint64_t* keys, const double*) {
        const Seen found = detail::bits_of_block<Seen>(keys, n);
        seen[t * columns + k].any |= found.any;
        seen[t * columns + k].all &= found.all;
      });
  if (!finite) return {};
  std::vector<Deal> deals(columns);
  const auto fitting = static_cast<unsigned>(std::bit_width(total / (groups + 1) / detail::kBucket));
  for (std::size_t k = 0; k < columns; ++k) {
    Seen all;
    for (std::size_t t = 0; t < threads; ++t) {
      all.any |= seen[t * columns + k].any;
      all.all &= seen[t * columns + k].all;
    }
    const auto width = static_cast<unsigned>(std::bit_width(all.any & ~all.all));
    deals[k].digit = total == 0 ? 0 : std::min({fitting, width, detail::kMostDigitBits});
    deals[k].shift = std::min(width - deals[k].digit, 63U);  // all 64 only where no digit is taken
  }

  std::vector<std::vector<std::vector<std::size_t>>> places(threads, std::vector<std::vector<std::size_t>>(columns));
  for (auto& of_thread : places)
    for (std::size_t k = 0; k < columns; ++k) of_thread[k].assign(groups << deals[k].digit, 0);
  detail::each_block(
      dealt, columns, group, read, [](std::size_t, std::size_t, double*) {},
      [&](std::size_t t, std::size_t k, std::size_t n, const std::uint32_t* g, const std::uint64_t* keys,
          const double*) {
        std::size_t* count = places[t][k].data();
        for (std::size_t j = 0; j < n; ++j) ++count[deals[k].bucket(g[j], keys[j])];
      });
  std::vector<std::vector<std::size_t>> edges(columns);  // where buckets begin, and the end of the last
  std::vector<std::shared_ptr<Row[]>> held;
  for (std::size_t k = 0; k < columns; ++k) {
    std::size_t at = 0;
    for (std::size_t bucket = 0; bucket < groups << deals[k].digit; ++bucket) {
      edges[k].push_back(at);
      for (std::size_t t = 0; t < threads; ++t) at += std::exchange(places[t][k][bucket], at);
    }
    edges[k].push_back(at);
    held.push_back(room_for<Row>(total));
  }
  detail::each_block(dealt, columns, group, read, weigh,
                     [&](std::size_t t, std::size_t k, std::size_t n, const std::uint32_t* g, const std::uint64_t* keys,
                         const double* weights) {
                       std::size_t* place = places[t][k].data();
                       Row* rows = held[k].get();
                       for (std::size_t j = 0; j < n; ++j)
                         rows[place[deals[k].bucket(g[j], keys[j])]++] = Row(keys[j], weights[j]);
                     });

  std::vector<std::pair<std::size_t, std::size_t>> tasks;  // column and first bucket
  for (std::size_t k = 0; k < columns; ++k)
    for (std::size_t bucket = 0; bucket + 1 < edges[k].size(); bucket += detail::kBucketsAtOnce)
      tasks.emplace_back(k, bucket);
  std::atomic<std::size_t> next{0};
  for_ranges(threads, threads, [&](std::size_t, std::size_t, std::size_t) {
    std::vector<Row> room;
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      const auto [k, first] = tasks[i];
      for (std::size_t bucket = first; bucket + 1 < std::min(first + detail::kBucketsAtOnce + 1, edges[k].size());
           ++bucket) {
        const std::size_t n = edges[k][bucket + 1] - edges[k][bucket];
        if (n < 2 || deals[k].shift == 0) continue;
        if (n > room.size()) room = std::vector<Row>(n);
        detail::sort_rows(held[k].get() + edges[k][bucket], room.data(), n, false);
      }
    }
  });

  // Large groups one after the other, by all threads; the others side by side.
  std::vector<std::vector<Runs>> out(columns, std::vector<Runs>(groups));
  std::vector<std::pair<std::size_t, std::size_t>> small;
  const auto finish = [&](std::size_t k, std::size_t g, std::size_t share) {
    out[k][g] = detail::to_runs(held[k], held[k].get() + starts[g], starts[g + 1] - starts[g], share);
  };
  for (std::size_t k = 0; k < columns; ++k)
    for (std::size_t g = 0; g < groups; ++g)
      if (starts[g + 1] - starts[g] < detail::kDealt)
        small.emplace_back(k, g);
      else
        finish(k, g, threads);
  next = 0;
  for_ranges(threads, threads, [&](std::size_t, std::size_t, std::size_t) {
    for (std::size_t i = next++; i < small.size(); i = next++) finish(small[i].first, small[i].second, 1);
  });
  return out;
}

// Whether scores are finite and in order.
[[maybe_unused]] TM_CLONES static bool in_order(const double* scores, std::size_t n) {
  if (n == 0) return true;
  std::int64_t falls = 0;
  for (std::size_t i = 1; i < n; ++i) falls |= scores[i - 1] <= scores[i] ? 0 : 1;
  return falls == 0 && magnitude(scores[0]) < kInfinity && magnitude(scores[n - 1]) < kInfinity;
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

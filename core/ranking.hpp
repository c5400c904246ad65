// Rankings: the rows of many queries, brought together and sorted by score, and the totals of their measures.
//
// One counting sort over the codes of the queries brings rows together; the state keeps them sorted, so that any number
// of measures reads one sort. Values of queries go into an exact sum. Within a group of equal scores, rows are ordered
// by relevance, so that no order of the input shows. That order is the worst one, which is what ties="worst" reads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "exact_sum.hpp"
#include "own_copy.hpp"
#include "parallel.hpp"
#include "query_measures.hpp"

namespace tallymark {

enum class Measure { ndcg, average_precision, reciprocal_rank, hit, precision, recall };
inline constexpr int kMeasures = 6;

// A measure of the first k rows (infinity: of all). `strict` takes the rows in the order in which they stand.
struct Wish {
  Measure measure = Measure::ndcg;
  double k = 0.0;
  bool exponential = false;
  bool strict = false;
};

// Relevances must be finite and not negative, scores finite. Codes lie in [0, queries); without codes, every query has
// n / queries rows, one after another. Weights are per query, or absent.
struct QueryRows {
  const double* relevance = nullptr;
  const double* score = nullptr;
  const std::int64_t* codes = nullptr;
  const double* weights = nullptr;
  std::size_t n = 0, queries = 0;
};

namespace detail {

// Orders doubles from high to low as integers; both zeros are one.
TM_INLINE std::uint64_t falling_key(double score) {
  const std::uint64_t b = bits(score + 0.0);
  return (b >> 63) != 0 ? b : ~(b | 0x8000000000000000ULL);
}

inline constexpr std::size_t kFewRows = 192;

// How many keys lie below each of them. Comparing all with all has no branches: for a few rows it beats sorting.
TM_CLONES static inline void count_below(const std::int64_t* keys, std::size_t padded, std::size_t n,
                                         std::uint32_t* below) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t own = keys[i];
    std::int64_t count = 0;
    for (std::size_t j = 0; j < padded; ++j) count += keys[j] < own ? 1 : 0;
    below[i] = static_cast<std::uint32_t>(count);
  }
}

// Sorts a few rows by their keys; rows of equal keys keep their order. Says whether there are any.
inline bool sort_few(Item* rows, std::size_t n) {
  if (n == 0) return false;
  std::int64_t keys[kFewRows];
  std::uint32_t below[kFewRows];
  std::uint8_t taken[kFewRows] = {};
  Item sorted[kFewRows];
  const std::size_t padded = (n + 7) / 8 * 8;
  for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<std::int64_t>(rows[i].key ^ 0x8000000000000000ULL);
  for (std::size_t i = n; i < padded; ++i) keys[i] = std::numeric_limits<std::int64_t>::max();
  count_below(keys, padded, n, below);
  bool tied = false;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t place = below[i] + taken[below[i]];
    tied = tied || taken[below[i]] != 0;
    ++taken[below[i]];
    sorted[place] = rows[i];
  }
  std::copy(sorted, sorted + n, rows);
  return tied;
}

// By falling score; rows of equal scores as they came, or from low to high relevance, which is their worst order.
inline void sort_items(Item* rows, std::size_t n, bool stable) {
  const auto by_key = [](const Item& a, const Item& b) { return a.key < b.key; };
  const auto by_both = [](const Item& a, const Item& b) {
    return a.key != b.key ? a.key < b.key : a.relevance < b.relevance;
  };
  if (n <= kFewRows) {
    if (!sort_few(rows, n) || stable) return;
    for (std::size_t first = 0; first < n;) {
      std::size_t last = first + 1;
      while (last < n && rows[last].key == rows[first].key) ++last;
      if (last - first > 1) std::sort(rows + first, rows + last, by_both);
      first = last;
    }
  } else if (stable) {
    std::stable_sort(rows, rows + n, by_key);
  } else {
    std::sort(rows, rows + n, by_both);
  }
}

}  // namespace detail

// Rows brought together by query and sorted by score, for any number of measures. Relevances that an exponential gain
// reads are at most 1,000.
class Rankings {
 public:
  Rankings(const QueryRows& rows, bool stable)
      : starts_(rows.queries + 1),
        items_(std::make_unique_for_overwrite<detail::Item[]>(rows.n)),
        relevant_(rows.queries) {
    if (rows.weights != nullptr) weights_.assign(rows.weights, rows.weights + rows.queries);
    gather(rows);
    std::vector<Seen> seen(threads());
    for_ranges(rows.queries, seen.size(), [&](std::size_t t, std::size_t first, std::size_t last) {
      for (std::size_t q = first; q < last; ++q) {
        detail::sort_items(items_.get() + starts_[q], starts_[q + 1] - starts_[q], stable);
        look(q, seen[t]);
      }
    });
    for (const Seen& part : seen) {
      highest = std::max(highest, part.highest);
      graded_ = graded_ && part.graded;
    }
    for (std::size_t q = 0; q < rows.queries; ++q) count(q);
  }

  // Queries of positive weight with and without a relevant row, and those of the former that have one row only.
  std::size_t present = 0, absent = 0, single = 0;
  ExactSum present_weight, absent_weight;
  double highest = 0.0;  // relevance

  // The exact total, over the queries that have a relevant row, of weight times measure.
  ExactSum total(const Wish& wish) const {
    std::vector<double> discounts;
    if (wish.measure == Measure::ndcg) {
      discounts.resize(cut_at(wish.k, longest_));
      detail::fill_discounts(discounts.size(), discounts.data());
    }
    const std::size_t parts = threads();
    std::vector<ExactSum> sums(parts);
    for_ranges(relevant_.size(), parts, [&](std::size_t t, std::size_t first, std::size_t last) {
      std::vector<double> ideal;
      for (std::size_t q = first; q < last; ++q) {
        if (relevant_[q] == 0 || weight(q) == 0.0) continue;
        const std::size_t n = starts_[q + 1] - starts_[q];
        const detail::Query query{items_.get() + starts_[q], n, relevant_[q], cut_at(wish.k, n), wish.strict};
        sums[t].add(weight(q) * std::min(1.0, value(query, wish, discounts.data(), ideal)));
      }
    });
    for (std::size_t t = 1; t < parts; ++t) sums[0].add(sums[t]);
    return sums[0];
  }

 private:
  static std::size_t cut_at(double k, std::size_t n) {
    return k < static_cast<double>(n) ? static_cast<std::size_t>(k) : n;
  }

  std::size_t threads() const {
    return std::min(threads_for(starts_.back()), std::max<std::size_t>(1, starts_.size()));
  }

  double weight(std::size_t q) const { return weights_.empty() ? 1.0 : weights_[q]; }

  void gather(const QueryRows& rows) {
    if (rows.codes == nullptr) {
      const std::size_t width = rows.queries == 0 ? 0 : rows.n / rows.queries;
      for (std::size_t q = 0; q <= rows.queries; ++q) starts_[q] = q * width;
      return take(rows, [](std::size_t i) { return i; });
    }
    const auto codes = own_indices(rows.codes, rows.n, rows.queries, "codes must lie between 0 and queries - 1");
    for (const std::int64_t code : codes) ++starts_[static_cast<std::size_t>(code) + 1];
    for (std::size_t q = 0; q < rows.queries; ++q) starts_[q + 1] += starts_[q];
    if (std::is_sorted(codes.begin(), codes.end())) return take(rows, [](std::size_t i) { return i; });
    std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
    take(rows, [&](std::size_t i) { return next[static_cast<std::size_t>(codes[i])]++; });
  }

  // Reads every row once, and puts it at its place.
  template <class Place>
  void take(const QueryRows& rows, Place&& place) {
    bool good = true;
    for (std::size_t i = 0; i < rows.n; ++i) {
      const double score = rows.score[i], relevance = rows.relevance[i];
      good = good && relevance >= 0.0 && relevance < HUGE_VAL && magnitude(score) < kInfinity;
      items_[place(i)] = {detail::falling_key(score), relevance};
    }
    if (!good) throw std::invalid_argument("relevance must be finite and not negative, score finite");
  }

  struct Seen {
    double highest = 0.0;
    bool graded = true;
  };

  // Counts the relevant rows of a query, and looks at what relevances there are.
  void look(std::size_t q, Seen& seen) {
    std::size_t relevant = 0;
    double highest = 0.0;
    bool graded = true;
    for (std::size_t i = starts_[q]; i < starts_[q + 1]; ++i) {
      const double r = items_[i].relevance;
      relevant += r > 0.0 ? 1 : 0;
      highest = std::max(highest, r);
      graded = graded && r == static_cast<double>(static_cast<std::int32_t>(std::min(r, 100.0)));
    }
    relevant_[q] = relevant;
    if (weight(q) == 0.0) return;
    seen.highest = std::max(seen.highest, highest);
    seen.graded = seen.graded && graded && highest < static_cast<double>(detail::kGrades);
  }

  void count(std::size_t q) {
    if (weight(q) == 0.0) return;
    const std::size_t n = starts_[q + 1] - starts_[q];
    longest_ = std::max(longest_, n);
    ++(relevant_[q] > 0 ? present : absent);
    single += n == 1 && relevant_[q] > 0 ? 1 : 0;
    if (!weights_.empty()) (relevant_[q] > 0 ? present_weight : absent_weight).add(weight(q));
  }

  double value(const detail::Query& q, const Wish& wish, const double* discounts, std::vector<double>& ideal) const {
    switch (wish.measure) {
      case Measure::ndcg: return detail::ndcg(q, wish.exponential, graded_, discounts, ideal);
      case Measure::average_precision: return detail::average_precision(q);
      case Measure::reciprocal_rank: return detail::first_relevant(q, true);
      case Measure::hit: return detail::first_relevant(q, false);
      case Measure::precision: return detail::relevant_before_cut(q) / wish.k;
      case Measure::recall: return detail::relevant_before_cut(q) / static_cast<double>(q.relevant);
    }
    return 0.0;
  }

  std::vector<std::size_t> starts_;
  std::unique_ptr<detail::Item[]> items_;
  std::vector<std::size_t> relevant_;
  std::vector<double> weights_;
  std::size_t longest_ = 0;
  bool graded_ = true;  // all relevances are small whole numbers
};

}  // namespace tallymark

// Measures of rankings: rows of a query in the order of their scores, and how early the relevant ones come.
//
// Rows whose scores are equal have no order. Their measure is its expectation over all orders that they could take,
// which has a closed form for each measure, so that a group of n rows costs n steps and no order of the input shows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "elementary.hpp"
#include "exact_sum.hpp"
#include "parallel.hpp"

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

// Relevances are finite and not negative. Codes lie in [0, queries); without codes, every query has n / queries rows,
// one after another. Weights are per query, or absent.
struct QueryRows {
  const double* relevance = nullptr;
  const double* score = nullptr;
  const std::int64_t* codes = nullptr;
  const double* weights = nullptr;
  std::size_t n = 0, queries = 0;
};

namespace detail {

struct Item {
  std::uint64_t key;  // the lower, the higher the score
  double relevance;
};

// Orders doubles from high to low as integers; both zeros are one.
TM_INLINE std::uint64_t falling_key(double score) {
  const std::uint64_t b = bits(score + 0.0);
  return (b >> 63) != 0 ? b : ~(b | 0x8000000000000000ULL);
}

inline constexpr std::size_t kFewRows = 192;

// How many keys lie below each of them. Comparing all with all has no branches: for a few rows it beats sorting.
TM_CLONES static void count_below(const std::int64_t* keys, std::size_t padded, std::size_t n, std::uint32_t* below) {
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t own = keys[i];
    std::int64_t count = 0;
    for (std::size_t j = 0; j < padded; ++j) count += keys[j] < own ? 1 : 0;
    below[i] = static_cast<std::uint32_t>(count);
  }
}

// Sorts a few rows by their keys; rows of equal keys keep their order. Says whether there are any.
inline bool sort_few(Item* rows, std::size_t n) {
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
inline void sort_rows(Item* rows, std::size_t n, bool stable) {
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

// A sum whose error does not grow with the number of its terms.
class CarefulSum {
 public:
  void add(double x) {
    const double total = high_ + x;
    const double kept = total - high_;
    low_ += (high_ - (total - kept)) + (x - kept);
    high_ = total;
  }
  double value() const { return high_ + low_; }

 private:
  double high_ = 0.0, low_ = 0.0;
};

inline constexpr std::size_t kGrades = 16;

struct Gain {
  bool exponential;
  double scale;  // a power of two that keeps sums in range; it cancels in the quotient

  double operator()(double relevance) const {
    if (!exponential) return relevance * scale;
    const auto whole = static_cast<std::int64_t>(relevance);  // at most 1,000, see `Rankings`
    const double power = real(static_cast<std::uint64_t>(whole + 1023) << 52);
    const double part = expm1_of((relevance - static_cast<double>(whole)) * 0x1.62e42fefa39efp-1);
    return ((power - 1.0) + power * part) * scale;
  }
};

// Calls visit(first, last) for each run of equal scores that begins before the cut, until it returns false.
template <class Visit>
void for_ties(const Item* rows, std::size_t n, std::size_t cut, bool strict, Visit&& visit) {
  for (std::size_t first = 0; first < cut;) {
    std::size_t last = first + 1;
    if (!strict)
      while (last < n && rows[last].key == rows[first].key) ++last;
    if (!visit(first, last)) return;
    first = last;
  }
}

inline std::size_t count_relevant(const Item* rows, std::size_t first, std::size_t last) {
  std::size_t count = 0;
  for (std::size_t i = first; i < last; ++i) count += rows[i].relevance > 0.0 ? 1 : 0;
  return count;
}

// One query: n rows, of which some are relevant, and the places before the cut that are looked at.
struct Query {
  const Item* rows;
  std::size_t n, relevant, cut;
  bool strict;
};

inline double discounted_gain(const Query& q, const Gain& gain, const double* discounts) {
  CarefulSum total;
  std::size_t seen = 0;
  for_ties(q.rows, q.n, q.cut, q.strict, [&](std::size_t first, std::size_t last) {
    const std::size_t relevant = count_relevant(q.rows, first, last);
    seen += relevant;
    if (relevant == 0) return true;
    if (last - first == 1) {
      total.add(gain(q.rows[first].relevance) * discounts[first]);
      return seen < q.relevant;
    }
    CarefulSum gains, places;
    for (std::size_t i = first; i < last; ++i)
      if (q.rows[i].relevance > 0.0) gains.add(gain(q.rows[i].relevance));
    for (std::size_t i = first; i < std::min(last, q.cut); ++i) places.add(discounts[i]);
    total.add(gains.value() / static_cast<double>(last - first) * places.value());
    return seen < q.relevant;
  });
  return total.value();
}

// The highest relevances of a query, as many as there are places; `graded` says that all are whole numbers below 16.
inline void best_order(const Query& q, bool graded, std::vector<double>& ideal) {
  ideal.clear();
  if (graded) {
    std::size_t counts[kGrades] = {};
    for (std::size_t i = 0; i < q.n; ++i) ++counts[static_cast<std::size_t>(q.rows[i].relevance)];
    for (std::size_t grade = kGrades; --grade > 0 && ideal.size() < q.cut;)
      ideal.resize(std::min(q.cut, ideal.size() + counts[grade]), static_cast<double>(grade));
    return;
  }
  for (std::size_t i = 0; i < q.n; ++i)
    if (q.rows[i].relevance > 0.0) ideal.push_back(q.rows[i].relevance);
  const auto best = static_cast<std::ptrdiff_t>(std::min(q.cut, ideal.size()));
  std::partial_sort(ideal.begin(), ideal.begin() + best, ideal.end(), std::greater<>());
  ideal.resize(static_cast<std::size_t>(best));
}

inline double ndcg(const Query& q, bool exponential, bool graded, const double* discounts, std::vector<double>& ideal) {
  best_order(q, graded, ideal);
  const double highest = ideal.front();
  const Gain gain{exponential, highest > 0x1p500 ? 0x1p-500 : highest < 0x1p-500 ? 0x1p500 : 1.0};
  CarefulSum total;
  for (std::size_t i = 0; i < ideal.size(); ++i) total.add(gain(ideal[i]) * discounts[i]);
  return discounted_gain(q, gain, discounts) / total.value();
}

inline double average_precision(const Query& q) {
  CarefulSum total;
  std::size_t above = 0;  // relevant rows of higher scores
  for_ties(q.rows, q.n, q.cut, q.strict, [&](std::size_t first, std::size_t last) {
    const std::size_t n = last - first, relevant = count_relevant(q.rows, first, last);
    if (relevant == 0) return true;
    if (n == 1) {
      total.add(static_cast<double>(above + 1) / static_cast<double>(last));
    } else {
      // A place holds a relevant row with probability r/n; each place before it then does with (r-1)/(n-1).
      const double step = static_cast<double>(relevant - 1) / static_cast<double>(n - 1);
      CarefulSum places;
      for (std::size_t i = first; i < std::min(last, q.cut); ++i)
        places.add((static_cast<double>(above + 1) + static_cast<double>(i - first) * step) /
                   static_cast<double>(i + 1));
      total.add(places.value() * static_cast<double>(relevant) / static_cast<double>(n));
    }
    above += relevant;
    return above < q.relevant;
  });
  return total.value() / static_cast<double>(q.relevant);
}

// The expectation of what the first relevant row earns: 1 before the cut, or 1 / rank.
inline double first_relevant(const Query& q, bool reciprocal) {
  CarefulSum total;
  for_ties(q.rows, q.n, q.cut, q.strict, [&](std::size_t first, std::size_t last) {
    const std::size_t n = last - first, relevant = count_relevant(q.rows, first, last);
    if (relevant == 0) return true;
    if (!reciprocal && q.cut - first > n - relevant) {
      total.add(1.0);  // more places than rows that are not relevant
      return false;
    }
    const auto r = static_cast<double>(relevant);
    double none = 1.0;  // the probability that no place so far holds a relevant row
    for (std::size_t i = first; i < q.cut && i - first <= n - relevant && none > 0x1p-200; ++i) {
      const auto left = static_cast<double>(last - i);
      const double found = none * r / left;
      total.add(reciprocal ? found / static_cast<double>(i + 1) : found);
      none = none * (left - r) / left;
    }
    return false;
  });
  return total.value();
}

// How many relevant rows stand before the cut.
inline double relevant_before_cut(const Query& q) {
  double total = 0.0;
  std::size_t seen = 0;
  for_ties(q.rows, q.n, q.cut, q.strict, [&](std::size_t first, std::size_t last) {
    const std::size_t relevant = count_relevant(q.rows, first, last);
    seen += relevant;
    const auto r = static_cast<double>(relevant);
    total += last <= q.cut ? r : r * static_cast<double>(q.cut - first) / static_cast<double>(last - first);
    return seen < q.relevant;
  });
  return total;
}

TM_CLONES static void fill_discounts(std::size_t n, double* out) {
  const double two = log_of(2.0);
  for (std::size_t i = 0; i < n; ++i) out[i] = two / log_of(static_cast<double>(i + 2));
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
        detail::sort_rows(items_.get() + starts_[q], starts_[q + 1] - starts_[q], stable);
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
    } else {
      for (std::size_t i = 0; i < rows.n; ++i) ++starts_[static_cast<std::size_t>(rows.codes[i]) + 1];
      for (std::size_t q = 0; q < rows.queries; ++q) starts_[q + 1] += starts_[q];
    }
    if (rows.codes == nullptr || std::is_sorted(rows.codes, rows.codes + rows.n)) {
      for (std::size_t i = 0; i < rows.n; ++i) items_[i] = {detail::falling_key(rows.score[i]), rows.relevance[i]};
      return;
    }
    std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
    for (std::size_t i = 0; i < rows.n; ++i)
      items_[next[static_cast<std::size_t>(rows.codes[i])]++] = {detail::falling_key(rows.score[i]), rows.relevance[i]};
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

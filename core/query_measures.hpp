// Measures of one query: how early its relevant rows come.
//
// Rows whose scores are equal have no order. Their measure is its expectation over all orders that they could take,
// which has a closed form for each measure, so that a group of n rows costs n steps and no order of the input shows.
// The place of the first relevant row is walked as a product of ratios, never as binomials.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "elementary.hpp"
#include "exact_sum.hpp"

namespace tallymark {

namespace detail {

struct Item {
  std::uint64_t key;  // the lower, the higher the score
  double relevance;
};

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
  const bool low = highest < 0x1p-500;
  const bool high = highest > (exponential ? 500.0 : 0x1p500);
  const Gain gain{exponential && !low, high ? 0x1p-500 : low ? 0x1p500 : 1.0};  // 2^r - 1 of a low r is r times ln 2
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

TM_CLONES static inline void fill_discounts(std::size_t n, double* out) {
  const double two = log_of(2.0);
  for (std::size_t i = 0; i < n; ++i) out[i] = two / log_of(static_cast<double>(i + 2));
}

}  // namespace detail

}  // namespace tallymark

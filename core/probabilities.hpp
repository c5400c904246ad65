// Rows of probabilities, one column per class: what is right with them, and what they say about the class that was.
//
// A chunk of rows is taken column by column: checked, passed through softmax if it holds margins, and written as one
// column per quantity that was asked for. Those columns are then summed like any other.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "column.hpp"
#include "decisions.hpp"
#include "own_copy.hpp"
#include "parallel.hpp"
#include "regression.hpp"

namespace tallymark {

// What can be asked of a row.
enum class Quantity : int {
  positive = 0,  // the probability of one column
  happened,      // the probability of the true class
  brier,         // the sum over classes of (p - [true])^2
  ranked,        // the same of cumulated probabilities, over the number of classes less one
  top,           // the largest probability
  right,         // 1 where the largest, the first of equals, is that of the true class
  each,          // all probabilities, one column after the other
};
inline constexpr int kQuantities = static_cast<int>(Quantity::right) + 1;  // that are one number per row

struct Wanted {
  Quantity quantity;
  double* out;  // one number per row, and column where each is wanted
};

struct ProbabilityTable {
  std::vector<Column> columns;
  const std::int64_t* places = nullptr;  // the column of each row's true class, where that is asked for
  std::size_t rows = 0;
  bool margin = false;       // before softmax
  bool normalize = false;    // divide the probabilities of a row by their sum
  std::size_t positive = 0;  // the column that Quantity::positive is about
};

namespace detail {

// Some rows of a table, column by column: x[k * step + i] is column k of row i.
struct Chunk {
  std::size_t n, count, step;
  double* x;
  double* sum;  // room for one number per row
  double* top;  // likewise
  double* best;
  double* rest;
  const std::int64_t* places;
};

TM_CLONES static inline bool all_below(std::size_t count, std::size_t n, const std::int64_t* places) {
  std::int64_t stray = 0;
  for (std::size_t i = 0; i < n; ++i) stray |= static_cast<std::uint64_t>(places[i]) >= count ? 1 : 0;
  return stray == 0;
}

// Sums and largest values of the rows; whether all are probabilities that add up to 1, or can be made to.
TM_CLONES static inline bool check_probabilities(const Chunk& c, bool normalize) {
  std::int64_t bad = 0;
  double* __restrict sum = c.sum;
  double* __restrict top = c.top;
  for (std::size_t i = 0; i < c.n; ++i) sum[i] = top[i] = 0.0;
  for (std::size_t k = 0; k < c.count; ++k) {
    const double* x = c.x + k * c.step;
    for (std::size_t i = 0; i < c.n; ++i) {
      sum[i] += x[i];
      top[i] = x[i] > top[i] ? x[i] : top[i];
      bad |= x[i] >= 0.0 ? 0 : 1;
    }
  }
  if (normalize) {
    for (std::size_t i = 0; i < c.n; ++i) bad |= sum[i] > 0.0 && magnitude(sum[i]) < kInfinity ? 0 : 1;
  } else {
    for (std::size_t i = 0; i < c.n; ++i) bad |= std::fabs(sum[i] - 1.0) <= kSumTolerance && top[i] <= 1.0 ? 0 : 1;
  }
  return bad == 0;
}

TM_CLONES static inline bool check_margins(const Chunk& c) {
  std::uint64_t most = 0;
  for (std::size_t k = 0; k < c.count; ++k) {
    const double* x = c.x + k * c.step;
    const std::uint64_t found = largest(c.n, TM_EACH(x[i]));
    most = found > most ? found : most;
  }
  return most < kInfinity;
}

// The largest of each row and its column, the first of equals.
TM_CLONES static inline void find_best(const Chunk& c) {
  const std::size_t n = c.n;
  double* __restrict top = c.top;
  double* __restrict best = c.best;
  const double* first = c.x;
  for (std::size_t i = 0; i < n; ++i) top[i] = first[i];
  for (std::size_t i = 0; i < n; ++i) best[i] = 0.0;
  for (std::size_t k = 1; k < c.count; ++k) {
    const double* x = c.x + k * c.step;
    const auto place = static_cast<double>(k);  // a double, as what it is chosen by: such loops vectorise
    for (std::size_t i = 0; i < n; ++i) {
      const bool above = x[i] > top[i];
      best[i] = above ? place : best[i];
      top[i] = above ? x[i] : top[i];
    }
  }
}

TM_CLONES static inline void divide_by_sums(const Chunk& c) {
  const double* sum = c.sum;
  for (std::size_t k = 0; k < c.count; ++k) {
    double* __restrict x = c.x + k * c.step;
    for (std::size_t i = 0; i < c.n; ++i) x[i] /= sum[i];
  }
}

// Needs the largest of each row, so that no power overflows. The powers, which are at most 1, are summed along two
// grids on which every partial sum is exact, so that the order of the columns does not show.
TM_CLONES static inline void softmax(const Chunk& c) {
  double* __restrict sum = c.sum;
  double* __restrict rest = c.rest;
  const double* top = c.top;
  const int grid = 52 - static_cast<int>(std::bit_width(c.count));
  const double coarse = std::ldexp(1.5, 52 - grid), fine = std::ldexp(1.5, 52 - 2 * grid);
  for (std::size_t i = 0; i < c.n; ++i) sum[i] = rest[i] = 0.0;
  for (std::size_t k = 0; k < c.count; ++k) {
    double* __restrict x = c.x + k * c.step;
    for (std::size_t i = 0; i < c.n; ++i) {
      x[i] = exp_of(x[i] - top[i]);
      const double high = (x[i] + coarse) - coarse;
      sum[i] += high;
      rest[i] += ((x[i] - high) + fine) - fine;
    }
  }
  for (std::size_t i = 0; i < c.n; ++i) sum[i] += rest[i];
  divide_by_sums(c);
}

TM_CLONES static inline void brier_terms(const Chunk& c, double* __restrict out) {
  const std::int64_t* places = c.places;
  for (std::size_t i = 0; i < c.n; ++i) out[i] = 0.0;
  for (std::size_t k = 0; k < c.count; ++k) {
    const double* x = c.x + k * c.step;
    const auto place = static_cast<std::int64_t>(k);
    for (std::size_t i = 0; i < c.n; ++i) {
      const double d = x[i] - (places[i] == place ? 1.0 : 0.0);
      out[i] += d * d;
    }
  }
}

TM_CLONES static inline void ranked_terms(const Chunk& c, double* __restrict out) {
  const std::int64_t* places = c.places;
  double* __restrict below = c.sum;
  for (std::size_t i = 0; i < c.n; ++i) out[i] = below[i] = 0.0;
  for (std::size_t k = 0; k + 1 < c.count; ++k) {
    const double* x = c.x + k * c.step;
    const auto place = static_cast<std::int64_t>(k);
    for (std::size_t i = 0; i < c.n; ++i) {
      below[i] += x[i];
      const double d = below[i] - (places[i] <= place ? 1.0 : 0.0);
      out[i] += d * d;
    }
  }
  const auto steps = static_cast<double>(c.count - 1);
  for (std::size_t i = 0; i < c.n; ++i) out[i] /= steps;
}

class ProbabilityReader {
 public:
  ProbabilityReader(const ProbabilityTable& table, const std::vector<Wanted>& wanted, std::size_t step)
      : table_(table),
        wanted_(wanted),
        step_(step),
        x_(step * table.columns.size()),
        sum_(step),
        top_(step),
        best_(step),
        rest_(step),
        places_(step) {
    for (const Wanted& w : wanted) ranks_ |= w.quantity == Quantity::top || w.quantity == Quantity::right;
  }

  void run(std::size_t first, std::size_t n) {
    const std::size_t count = table_.columns.size();
    for (std::size_t k = 0; k < count; ++k) read_rows(table_.columns[k], first, n, &x_[k * step_]);
    if (table_.places != nullptr) std::copy_n(table_.places + first, n, places_.data());
    if (!all_below(count, n, places_.data())) throw InputChanged("no such column");
    const Chunk c{n, count, step_, x_.data(), sum_.data(), top_.data(), best_.data(), rest_.data(), places_.data()};
    if (!(table_.margin ? check_margins(c) : check_probabilities(c, table_.normalize))) return find_faults(c, first);
    if (count == 2 && table_.margin) {
      const double* yes = c.x + table_.positive * step_;
      const double* no = c.x + (1 - table_.positive) * step_;
      for (const Wanted& w : wanted_)
        if (w.quantity == Quantity::positive)
          for (std::size_t i = 0; i < n; ++i) w.out[first + i] = sigmoid(yes[i] - no[i]);
      return;
    }
    if (table_.margin || ranks_) find_best(c);  // before softmax, which can round different margins to one probability
    if (table_.margin) {
      softmax(c);
    } else if (table_.normalize) {
      divide_by_sums(c);
    }
    for (const Wanted& w : wanted_) write(c, w.quantity, w.out + first);
  }

  Faults faults;

 private:
  void write(const Chunk& c, Quantity quantity, double* out) const {
    const auto pick = [&](const auto* place) {
      for (std::size_t i = 0; i < c.n; ++i) out[i] = c.x[static_cast<std::size_t>(place[i]) * c.step + i];
    };
    switch (quantity) {
      case Quantity::positive: std::copy_n(c.x + table_.positive * c.step, c.n, out); return;
      case Quantity::happened: return pick(c.places);
      case Quantity::brier: return brier_terms(c, out);
      case Quantity::ranked: return ranked_terms(c, out);
      case Quantity::top: return pick(c.best);
      case Quantity::right:
        for (std::size_t i = 0; i < c.n; ++i) out[i] = c.best[i] == static_cast<double>(c.places[i]) ? 1.0 : 0.0;
        return;
      case Quantity::each:
        for (std::size_t k = 0; k < c.count; ++k) std::copy_n(c.x + k * c.step, c.n, out + k * table_.rows);
        return;
    }
  }

  void find_faults(const Chunk& c, std::size_t first) {
    for (std::size_t i = 0; i < c.n; ++i) {
      double sum = 0.0;
      bool missing = false, outside = false;
      for (std::size_t k = 0; k < c.count; ++k) {
        const double x = c.x[k * c.step + i];
        missing = missing || magnitude(x) >= kInfinity;
        outside = outside || x < 0.0 || (x > 1.0 && !table_.normalize);
        sum += x;
      }
      if (missing) {
        faults.add(Fault::missing, first + i);
      } else if (!table_.margin && outside) {
        faults.add(Fault::outside, first + i);
      } else if (!table_.margin && (table_.normalize ? !(sum > 0.0) || magnitude(sum) >= kInfinity
                                                     : !(std::fabs(sum - 1.0) <= kSumTolerance))) {
        faults.add(Fault::sum, first + i);
      }
    }
  }

  const ProbabilityTable& table_;
  const std::vector<Wanted>& wanted_;
  std::size_t step_;
  bool ranks_ = false;  // whether the largest of a row is asked for
  std::vector<double> x_, sum_, top_, best_, rest_;
  std::vector<std::int64_t> places_;  // of the rows of a chunk
};

}  // namespace detail

// Writes what the sigmoid makes of a column of margins; false if one of them is not finite.
inline bool read_margins(const Column& margins, std::size_t rows, double* out) {
  const std::size_t blocks = rows / kBlock + (rows % kBlock != 0 ? 1 : 0);
  const std::size_t threads = threads_for(rows);
  std::vector<char> good(threads, 1);
  for_ranges(blocks, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    for (std::size_t b = first; b < last; ++b) {
      const std::size_t row = b * kBlock, n = std::min(kBlock, rows - row);
      read_rows(margins, row, n, out + row);
      if (!detail::all_finite(n, out + row)) good[t] = 0;
      detail::squash(n, out + row);
    }
  });
  return std::all_of(good.begin(), good.end(), [](char each) { return each != 0; });
}

// Which of the classes 0 .. count - 1 occur among the places; nothing if there is any other number.
inline std::vector<bool> classes_present(const std::int64_t* places, std::size_t rows, std::size_t count) {
  const std::size_t threads = threads_for(rows);
  std::vector<std::vector<char>> found(threads, std::vector<char>(count + 1));  // and one for all others
  for_ranges(rows, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    char* seen = found[t].data();
    for (std::size_t i = first; i < last; ++i) seen[std::min(static_cast<std::size_t>(places[i]), count)] = 1;
  });
  std::vector<bool> present(count);
  for (const auto& seen : found) {
    if (seen[count] != 0) return {};
    for (std::size_t k = 0; k < count; ++k) present[k] = present[k] || seen[k] != 0;
  }
  return present;
}

// Writes what is wanted of every row; where there are faults, what was written means nothing.
inline Faults read_probabilities(const ProbabilityTable& table, const std::vector<Wanted>& wanted) {
  constexpr std::size_t kNumbers = 8192;  // of a chunk, which should stay in the nearest caches
  const std::size_t step = std::clamp<std::size_t>(kNumbers / table.columns.size() / 8 * 8, 8, kBlock);
  const std::size_t chunks = table.rows / step + (table.rows % step != 0 ? 1 : 0);
  const std::size_t threads = threads_for(table.rows * std::max<std::size_t>(table.columns.size() / 2, 1));
  std::vector<Faults> found(threads);
  for_ranges(chunks, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    detail::ProbabilityReader reader(table, wanted, step);
    for (std::size_t k = first; k < last; ++k) reader.run(k * step, std::min(step, table.rows - k * step));
    found[t] = reader.faults;
  });
  for (std::size_t t = 1; t < threads; ++t) found.front().add(found[t]);
  return found.front();
}

}  // namespace tallymark

// Counts of pairs of labels: a dense table while the classes are few, a hashed one when they are many. Weights are
// added exactly, so that a count is a function of the multiset of rows: as 128-bit integers in the unit of the smallest
// weight where all fit, else as wide sums.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "exact_sum.hpp"
#include "labels.hpp"
#include "own_copy.hpp"
#include "parallel.hpp"

namespace tallymark {

inline constexpr std::size_t kDenseBytes = std::size_t{1} << 20;
inline constexpr std::size_t kSpreadCells = 512;  // tables this small are kept several times
inline constexpr std::size_t kCopies = 8;

using Wide = UInt128;

// What a cell totals, and what a row adds to it.
struct Counted {
  using Value = std::uint64_t;
  static constexpr Value kEmpty = 0;
  static constexpr bool kSpreads = true;
  static bool empty(Value v) { return v == 0; }
  static void add(Value& to, Value v) { to += v; }
};
// Weights in units of 2^unit, where they all fit.
struct Weighed {
  using Value = Wide;
  static constexpr Value kEmpty = 0;
  static constexpr bool kSpreads = false;
  static bool empty(Value v) { return v == 0; }
  static void add(Value& to, Value v) { to += v; }
};
// Weights too far apart for that.
struct Summed {
  using Value = ExactSum;
  static constexpr Value kEmpty{};
  static constexpr bool kSpreads = false;
  static bool empty(const Value& v) { return v.is_zero(); }
  static void add(Value& to, double v) { to.add(v); }
  static void add(Value& to, const Value& v) { to.add(v); }
};

TM_CLONES static inline void cells_of(const std::uint32_t* rows, const std::uint32_t* columns, std::size_t n,
                                      std::uint32_t width, std::uint32_t* cells) {
  for (std::size_t i = 0; i < n; ++i) cells[i] = rows[i] * width + columns[i];
}

template <class Cell>
class PairTable {
 public:
  using Value = typename Cell::Value;
  struct Entry {
    std::uint32_t row, column;
    Value value;
  };

  // Makes room for codes below these sizes.
  void reserve(std::size_t rows, std::size_t columns) {
    if (rows <= rows_ && columns <= columns_) return;
    const std::size_t r = grown(rows_, rows), c = grown(columns_, columns);
    if (hashed_) {
      rows_ = r;
      columns_ = c;
      return;
    }
    const std::vector<Entry> held = entries();
    rows_ = r;
    columns_ = c;
    hashed_ = c > 0 && r > kDenseBytes / sizeof(Value) / c;  // all rows of a side can be faults, so it can be empty
    spread_ = Cell::kSpreads && !hashed_ && r * c <= kSpreadCells;
    cells_.clear();
    cells_.resize(hashed_ ? 0 : r * c * (spread_ ? kCopies : 1));
    for (const Entry& e : held) add(e.row, e.column, e.value);
  }

  template <class Term>
  void add(std::uint32_t row, std::uint32_t column, const Term& term) {
    if (!hashed_) return Cell::add(cells_[row * columns_ + column], term);
    Cell::add(scattered_[(static_cast<std::uint64_t>(row) << 32) | column], term);
  }

  // Counts a block of rows. With copies of a small table, rows of one class in a row need not wait for each other.
  void count(const std::uint32_t* rows, const std::uint32_t* columns, std::size_t n) {
    if (!spread_) {
      for (std::size_t i = 0; i < n; ++i) add(rows[i], columns[i], Value{1});
      return;
    }
    std::uint32_t cells[kBlock];
    cells_of(rows, columns, n, static_cast<std::uint32_t>(columns_), cells);
    const std::size_t size = rows_ * columns_, even = n - n % kCopies;
    Value* const table = cells_.data();
    for (std::size_t i = 0; i < even; i += kCopies)
      for (std::size_t copy = 0; copy < kCopies; ++copy) ++table[copy * size + cells[i + copy]];
    for (std::size_t i = even; i < n; ++i) ++table[cells[i]];
  }

  // The cells that are not empty, in no particular order.
  std::vector<Entry> entries() const {
    std::vector<Entry> out;
    if (hashed_) {
      out.reserve(scattered_.size());
      scattered_.each([&](std::uint64_t key, const Value& value) {
        out.push_back({static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key), value});
      });
      return out;
    }
    const std::size_t size = rows_ * columns_;
    for (std::size_t k = 0; k < size; ++k) {
      Value total = cells_[k];
      for (std::size_t copy = 1; spread_ && copy < kCopies; ++copy) Cell::add(total, cells_[k + copy * size]);
      if (!Cell::empty(total))
        out.push_back({static_cast<std::uint32_t>(k / columns_), static_cast<std::uint32_t>(k % columns_), total});
    }
    return out;
  }

 private:
  static std::size_t grown(std::size_t have, std::size_t want) {
    if (want <= have) return have;
    return have == 0 ? want : std::max(want, 2 * have);
  }

  std::size_t rows_ = 0, columns_ = 0;
  bool hashed_ = false, spread_ = false;
  std::vector<Value> cells_;
  KeyTable<Value, Cell> scattered_;
};

// The smallest and largest positive weight, by their bit patterns, which have the order of the numbers.
struct WeightRange {
  std::uint64_t lowest = kInfinity, highest = 0;
  bool bad = false, whole = true;

  void add(const WeightRange& other) {
    lowest = std::min(lowest, other.lowest);
    highest = std::max(highest, other.highest);
    bad = bad || other.bad;
    whole = whole && other.whole;
  }
  // Whether a weight is one of those, as far as can be told. None is added that is not.
  TM_INLINE bool holds(double weight) const {
    const std::uint64_t b = bits(weight + 0.0);
    return (b == 0 || (b >= lowest && b <= highest)) && (!whole || std::trunc(weight) == weight);
  }
  // The exponent of the last bit that any of the weights can have.
  int unit() const { return highest == 0 ? 0 : WeightParts(real(lowest)).exponent; }
  // How many bits a sum of that many weights takes in that unit.
  int width(std::size_t rows) const {
    const int top = highest == 0 ? 0 : WeightParts(real(highest)).exponent - unit() + 53;
    return top + static_cast<int>(std::bit_width(rows));
  }

  struct WeightParts {
    std::uint64_t mantissa;
    int exponent;
    TM_INLINE explicit WeightParts(double w) {
      const std::uint64_t b = bits(w);
      const auto field = static_cast<int>(b >> 52);
      mantissa = (b & 0x000fffffffffffffULL) | (field == 0 ? 0 : 0x0010000000000000ULL);
      exponent = field == 0 ? -1074 : field - 1075;
    }
  };
};

TM_CLONES static inline WeightRange range_of_block(const double* values, std::size_t n) {
  WeightRange range;
  std::uint64_t bad = 0, odd = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t b = bits(values[i] + 0.0);  // -0.0 becomes 0.0
    bad |= b >= kInfinity ? 1U : 0U;
    odd |= std::trunc(values[i]) != values[i] ? 1U : 0U;
    range.highest = b > range.highest ? b : range.highest;
    range.lowest = b != 0 && b < range.lowest ? b : range.lowest;
  }
  range.bad = bad != 0;
  range.whole = odd == 0;
  return range;
}

inline WeightRange range_of_weights(const Column& weight, std::size_t rows) {
  const std::size_t blocks = (rows + kBlock - 1) / kBlock, threads = threads_for(rows);
  std::vector<WeightRange> found(threads);
  for_ranges(blocks, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    double values[kBlock];
    for (std::size_t b = first; b < last; ++b) {
      const std::size_t n = std::min(kBlock, rows - b * kBlock);
      read_rows(weight, b * kBlock, n, values);
      found[t].add(range_of_block(values, n));
    }
  });
  for (std::size_t t = 1; t < threads; ++t) found[0].add(found[t]);
  return found[0];
}

template <class Cell>
struct PairCounts {
  std::vector<typename PairTable<Cell>::Entry> entries;
  Faults truth, prediction;
};

// Counts the pairs of all rows. `terms(first, n, rows, columns, table)` adds a block whose codes are known.
template <class Cell, class Terms>
PairCounts<Cell> count_pairs(LabelReader& truth, LabelReader& prediction, std::size_t rows, Terms&& terms) {
  struct Part {
    std::unique_ptr<LabelReader> truth, prediction;
    PairTable<Cell> table;
  };
  const std::size_t blocks = (rows + kBlock - 1) / kBlock;
  std::vector<Part> parts(1);
  for (std::size_t t = 1; t < threads_for(rows); ++t) {
    Part part{truth.fork(), prediction.fork(), {}};
    if (part.truth == nullptr || part.prediction == nullptr) break;
    parts.push_back(std::move(part));
  }
  for_ranges(blocks, parts.size(), [&](std::size_t t, std::size_t first, std::size_t last) {
    LabelReader& y = t == 0 ? truth : *parts[t].truth;
    LabelReader& p = t == 0 ? prediction : *parts[t].prediction;
    std::uint32_t a[kBlock], b[kBlock];
    for (std::size_t block = first; block < last; ++block) {
      const std::size_t n = std::min(kBlock, rows - block * kBlock);
      y.read(block * kBlock, n, a);
      p.read(block * kBlock, n, b);
      if (y.faults.any() || p.faults.any()) continue;  // the rest is read for its faults only
      parts[t].table.reserve(y.size(), p.size());
      terms(block * kBlock, n, a, b, parts[t].table);
    }
  });
  PairCounts<Cell> out;
  out.truth = truth.faults;
  out.prediction = prediction.faults;
  for (std::size_t t = 1; t < parts.size(); ++t) {
    const auto to_row = truth.adopt(*parts[t].truth), to_column = prediction.adopt(*parts[t].prediction);
    parts[0].table.reserve(truth.size(), prediction.size());
    for (const auto& e : parts[t].table.entries()) parts[0].table.add(to_row[e.row], to_column[e.column], e.value);
    out.truth.add(parts[t].truth->faults);
    out.prediction.add(parts[t].prediction->faults);
  }
  out.entries = parts[0].table.entries();
  return out;
}

inline PairCounts<Counted> count_rows(LabelReader& truth, LabelReader& prediction, std::size_t rows) {
  return count_pairs<Counted>(truth, prediction, rows,
                              [](std::size_t, std::size_t n, const std::uint32_t* a, const std::uint32_t* b,
                                 PairTable<Counted>& table) { table.count(a, b, n); });
}

// Calls add(row, weight) for the rows of a block that weigh something.
template <class Add>
void each_weight(const Column& weight, const WeightRange& range, std::size_t first, std::size_t n, Add&& add) {
  double values[kBlock];
  read_rows(weight, first, n, values);
  for (std::size_t i = 0; i < n; ++i) {
    if (!range.holds(values[i])) throw InputChanged("weights beyond those that were checked");
    if (values[i] > 0.0) add(i, values[i]);
  }
}

// Weights in the unit of their range, which all of them are multiples of.
inline PairCounts<Weighed> weigh_rows(LabelReader& truth, LabelReader& prediction, std::size_t rows,
                                      const Column& weight, const WeightRange& range) {
  return count_pairs<Weighed>(truth, prediction, rows,
                              [&, unit = range.unit()](std::size_t first, std::size_t n, const std::uint32_t* a,
                                                       const std::uint32_t* b, PairTable<Weighed>& table) {
                                each_weight(weight, range, first, n, [&](std::size_t i, double value) {
                                  const WeightRange::WeightParts w(value);
                                  table.add(a[i], b[i], static_cast<Wide>(w.mantissa) << (w.exponent - unit));
                                });
                              });
}

inline PairCounts<Summed> sum_rows(LabelReader& truth, LabelReader& prediction, std::size_t rows, const Column& weight,
                                   const WeightRange& range) {
  return count_pairs<Summed>(
      truth, prediction, rows,
      [&](std::size_t first, std::size_t n, const std::uint32_t* a, const std::uint32_t* b, PairTable<Summed>& table) {
        each_weight(weight, range, first, n, [&](std::size_t i, double value) { table.add(a[i], b[i], value); });
      });
}

}  // namespace tallymark

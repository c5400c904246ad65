// Totals of terms over rows, exact and in one pass over memory.
//
// A caller lists tasks; each names a term, its parameter and the columns it reads. Rows are taken in blocks that stay
// in the nearest cache, and every task runs over a block before the next one is loaded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "column.hpp"
#include "error_loop.hpp"
#include "parallel.hpp"

namespace tallymark {

// What turns predictions into what the terms want.
enum class Link : int { none = 0, log, sigmoid };
inline constexpr int kLinks = static_cast<int>(Link::sigmoid) + 1;

struct Table {
  std::vector<Column> truth, prediction;
  Column weight;
  bool weighted = false;
  Link link = Link::none;
  std::size_t rows = 0;
};

struct Totals {
  std::vector<Tally> tallies;  // one per task
  bool bad_value = false;      // an input was NaN or infinite; the tallies mean nothing
  bool bad_weight = false;     // a weight was negative, NaN or infinite; likewise
};

namespace detail {

TM_CLONES static inline Span span_of(std::size_t n, const double* x) {
  Span s;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t k = magnitude(x[i]);
    s.least = k < s.least ? k : s.least;
    s.most = k > s.most ? k : s.most;
  }
  return s;
}

TM_CLONES static inline std::uint64_t largest_of(std::size_t n, const double* x) { return largest(n, TM_EACH(x[i])); }

inline bool all_finite(std::size_t n, const double* x) { return largest_of(n, x) < kInfinity; }

TM_CLONES static inline void exponentiate(std::size_t n, double* x) {
  for (std::size_t i = 0; i < n; ++i) x[i] = exp_of(x[i]);
}

// The probability that it does not happen, which has digits of its own where the other is close to 1.
TM_CLONES static inline void squash_other(std::size_t n, const double* x, double* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = sigmoid(-x[i]);
}

TM_CLONES static inline void squash(std::size_t n, double* x) {
  for (std::size_t i = 0; i < n; ++i) x[i] = sigmoid(x[i]);
}

struct WeightCheck {
  bool bad = false;           // a weight is negative or not finite
  bool zeros = false;         // a weight is zero
  std::uint64_t largest = 0;  // as a bit pattern
};

TM_CLONES static inline WeightCheck check_weights(std::size_t n, const double* w) {
  std::uint64_t highest = 0, zeros = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t k = bits(w[i] + 0.0);  // -0 becomes +0; a negative has its sign bit on top
    highest = k > highest ? k : highest;
    zeros |= k == 0 ? 1U : 0U;
  }
  return {highest >= kInfinity, zeros != 0, highest};
}

// The working memory of one thread, and the pass over its blocks.
class Pass {
 public:
  Pass(const Table& table, const std::vector<Task>& tasks)
      : table_(table), tasks_(tasks), buffers_(std::make_unique_for_overwrite<double[]>(kBuffers * kBlock)) {
    for (std::size_t k = 0; k < tasks.size(); ++k) share(k);
  }

  void run(std::size_t first, std::size_t n, Totals& out) {
    const double* w = nullptr;
    WeightCheck weights;
    if (table_.weighted) {
      w = rows(table_.weight, first, n, buffer(0));
      weights = check_weights(n, w);
      if (weights.bad) {
        out.bad_weight = true;
        return;
      }
    }
    for (Shared& shared : shared_) shared.totalled = 0;
    std::size_t truth = kNone, prediction = kNone;
    bool two = false;
    Block b;
    for (std::size_t k = 0; k < tasks_.size(); ++k) {
      const Task& task = tasks_[k];
      Shared& shared = shared_[places_[k]];
      const bool wants_two = reads_two(task.term);
      if (task.truth != truth || task.prediction != prediction || (wants_two && !two)) {
        truth = task.truth;
        prediction = task.prediction;
        two = wants_two;
        if (!load(task, two, first, n, w, weights, b, shared, out.tallies)) {
          out.bad_value = true;
          return;
        }
      }
      if (shared.has_totalled(k)) continue;
      b.power = task.power;
      run_task(task, b, out.tallies[k]);
    }
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  static constexpr std::size_t kBuffers = 10;

  // Of tasks that stand together and read the same columns, those that the loop over the errors can total.
  struct Shared {
    std::size_t truth, prediction;
    std::size_t absolute = kNone, squared = kNone, relative = kNone;
    Guess guess{};
    unsigned totalled = 0;  // in this block

    unsigned wanted() const {
      return (absolute != kNone ? kAbsolute : 0) | (squared != kNone ? kSquared : 0) |
             (relative != kNone ? kRelative : 0);
    }
    bool has_totalled(std::size_t k) const {
      return (k == absolute && (totalled & kAbsolute) != 0) || (k == squared && (totalled & kSquared) != 0) ||
             (k == relative && (totalled & kRelative) != 0);
    }
  };

  void share(std::size_t k) {
    const Task& task = tasks_[k];
    const bool same =
        !shared_.empty() && shared_.back().truth == task.truth && shared_.back().prediction == task.prediction;
    if (!same) shared_.push_back({task.truth, task.prediction});
    places_.push_back(shared_.size() - 1);
    if (table_.weighted || task.power != 1) return;
    const auto take = [&](Term term, std::size_t& place) {
      if (task.term == term && place == kNone) place = k;
    };
    take(Term::absolute_error, shared_.back().absolute);
    take(Term::squared_error, shared_.back().squared);
    take(Term::relative_error, shared_.back().relative);
  }

  // Writes the errors of a block. What is shared is totalled on the way, once.
  Span subtract(const Block& b, Shared& shared, std::vector<Tally>& tallies) {
    const auto tally = [&](std::size_t k) { return k == kNone ? nullptr : &tallies[k]; };
    const unsigned wanted = shared.wanted() & ~shared.totalled;
    const double least = shared.relative == kNone ? 0.0 : tasks_[shared.relative].parameter;
    const ErrorTallies to{tally(shared.absolute), tally(shared.squared), tally(shared.relative)};
    const Found found = total_errors(wanted, b, least, shared.guess, to);
    shared.totalled |= found.totalled;
    return found.errors;
  }

  double* buffer(std::size_t i) { return buffers_.get() + i * kBlock; }

  static const double* rows(const Column& c, std::size_t first, std::size_t n, double* room) {
    if (c.plain()) return reinterpret_cast<const double*>(c.data) + first;
    read_rows(c, first, n, room);
    return room;
  }

  // What doubles leave of integers that they cannot hold; nullptr where there is nothing.
  static const double* rests(const Column& c, const double* values, std::size_t first, std::size_t n, double* room) {
    if (!is_wide_integer(c) || largest_of(n, values) < bits(0x1p53)) return nullptr;
    read_rests(c, first, n, room);
    return room;
  }

  const double* predictions(std::size_t column, std::size_t first, std::size_t n, double* room, bool& finite) {
    const double* p = rows(table_.prediction[column], first, n, room);
    if (table_.link == Link::none) return p;
    finite = finite && all_finite(n, p);
    if (p != room) std::copy_n(p, n, room);
    table_.link == Link::log ? exponentiate(n, room) : squash(n, room);
    return room;
  }

  // Fills `b` with the columns of a task; false if one of them is not finite.
  bool load(const Task& task, bool two, std::size_t first, std::size_t n, const double* w, const WeightCheck& weights,
            Block& b, Shared& shared, std::vector<Tally>& tallies) {
    bool finite = true;
    b.truth = b.prediction = Range{};
    b.n = n;
    b.w = w;
    b.largest_weight = weights.largest;
    b.y = rows(table_.truth[task.truth], first, n, buffer(1));
    b.p = predictions(task.prediction, first, n, buffer(2), finite);
    b.upper = two ? predictions(task.prediction + 1, first, n, buffer(3), finite) : nullptr;
    b.other = nullptr;
    if (table_.link == Link::sigmoid) {
      squash_other(n, rows(table_.prediction[task.prediction], first, n, buffer(7)), buffer(7));
      b.other = buffer(7);
    }
    b.e = buffer(4);
    b.scratch = buffer(5);
    const Column& truth = table_.truth[task.truth];
    const Column& prediction = table_.prediction[task.prediction];
    const bool linked = table_.link != Link::none;
    b.truth_rest = rests(truth, b.y, first, n, buffer(8));
    b.prediction_rest = linked ? nullptr : rests(prediction, b.p, first, n, buffer(9));
    if (is_wide_integer(truth) && is_wide_integer(prediction) && !linked) {
      subtract_integers(prediction, truth, first, n, b.e);
      b.errors = span_of(n, b.e);
    } else if (!linked && (b.truth_rest != nullptr || b.prediction_rest != nullptr)) {
      // An error close to a large integer is exact before the rest is added, and any other has digits to spare.
      const double* rest = b.truth_rest != nullptr ? b.truth_rest : b.prediction_rest;
      const double sign = b.truth_rest != nullptr ? -1.0 : 1.0;
      for (std::size_t i = 0; i < n; ++i) b.e[i] = (b.p[i] - b.y[i]) + sign * rest[i];
      b.errors = span_of(n, b.e);
    } else {
      b.errors = subtract(b, shared, tallies);
    }
    // A difference that is not finite betrays a bad input, or is an honest overflow.
    if (b.errors.most >= kInfinity) finite = finite && all_finite(n, b.y) && (linked || all_finite(n, b.p));
    if (two && !linked) finite = finite && all_finite(n, b.upper);
    if (finite && weights.zeros) drop_zeros(b);
    return finite;
  }

  // Rows of weight zero take no part, not even in the extremes.
  void drop_zeros(Block& b) {
    double* y = buffer(1);
    double* p = buffer(2);
    double* upper = buffer(3);
    double* w = zero_free_;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < b.n; ++i) {
      if (b.w[i] == 0.0) continue;
      y[kept] = b.y[i];
      p[kept] = b.p[i];
      if (b.upper != nullptr) upper[kept] = b.upper[i];
      if (b.other != nullptr) buffer(7)[kept] = b.other[i];
      if (b.truth_rest != nullptr) buffer(8)[kept] = b.truth_rest[i];
      if (b.prediction_rest != nullptr) buffer(9)[kept] = b.prediction_rest[i];
      b.e[kept] = b.e[i];
      w[kept] = b.w[i];
      ++kept;
    }
    b.n = kept;
    b.y = y;
    b.p = p;
    if (b.upper != nullptr) b.upper = upper;
    b.w = w;
    b.errors = span_of(kept, b.e);
  }

  const Table& table_;
  const std::vector<Task>& tasks_;
  std::vector<Shared> shared_;
  std::vector<std::size_t> places_;    // among them, of each task
  std::unique_ptr<double[]> buffers_;  // not cleared: most tasks need few of them, and small batches are many
  double zero_free_[kBlock];
};

}  // namespace detail

// Runs every task over every row. Tasks that read the same columns should stand together.
inline Totals total(const Table& table, const std::vector<Task>& tasks) {
  const std::size_t blocks = table.rows / kBlock + (table.rows % kBlock != 0 ? 1 : 0);
  std::size_t work = 0;
  for (const Task& task : tasks) work += detail::can_share(task.term) ? 1 : 2;
  const std::size_t threads = threads_for(table.rows * std::max<std::size_t>(work / 4, 1));
  std::vector<Totals> partial(threads);
  for (auto& p : partial) p.tallies.resize(tasks.size());
  // Each thread takes a few blocks at a time, since one may start late, or share its processor with others.
  const std::size_t few = std::max<std::size_t>(blocks / (16 * threads), 1);
  std::atomic<std::size_t> taken{0};
  for_ranges(threads, threads, [&](std::size_t t, std::size_t, std::size_t) {
    detail::Pass pass(table, tasks);
    Totals& out = partial[t];
    for (std::size_t first = taken.fetch_add(few); first < blocks; first = taken.fetch_add(few))
      for (std::size_t k = first; k < std::min(first + few, blocks) && !out.bad_value && !out.bad_weight; ++k) {
        const std::size_t row = k * kBlock;
        pass.run(row, std::min(kBlock, table.rows - row), out);
      }
  });
  Totals& whole = partial.front();
  for (std::size_t t = 1; t < threads; ++t) {
    for (std::size_t k = 0; k < tasks.size(); ++k) whole.tallies[k].add(partial[t].tallies[k]);
    whole.bad_value |= partial[t].bad_value;
    whole.bad_weight |= partial[t].bad_weight;
  }
  return std::move(whole);
}

}  // namespace tallymark
// Rows of one class in the order of their scores, as runs of equal ones. Weights of equal scores are not added up,
// since their sum would depend on the order of the rows: with weights, a run is a distinct pair of score and weight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "column.hpp"
#include "exact_sum.hpp"

namespace tallymark {

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

// Whether scores are finite and in order.
TM_CLONES static inline bool in_order(const double* scores, std::size_t n) {
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

// A walk over the scores of two classes as bits: which classes each step takes, 64 steps a word. The walk itself waits
// for one comparison after the other; what is read from its bits waits for nothing, and passes over steps that nobody
// asks for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "rank_sums.hpp"

namespace tallymark::detail {

// The bits of some steps, the first one lowest.
struct StepWord {
  std::uint64_t negative, positive;
};

// The steps of a stretch.
class StepBits {
 public:
  // Room for all steps there can be.
  explicit StepBits(const Stretch& part)
      : words_(new StepWord[(part.negative - part.negative_end + part.positive - part.positive_end) / 64 + 1]) {}

  std::size_t words() const { return (steps_ + 63) / 64; }
  // How many steps there are in a word.
  TM_INLINE std::size_t steps(std::size_t word) const { return std::min<std::size_t>(steps_ - 64 * word, 64); }
  TM_INLINE const StepWord& operator[](std::size_t word) const { return words_[word]; }
  // The steps after those of a word; after the last one comes `below`, a word of one step or of none.
  TM_INLINE StepWord next(std::size_t word, const StepWord& below) const {
    const StepWord& here = words_[word];
    const StepWord& after = word + 1 < words() ? words_[word + 1] : below;
    const std::size_t top = steps(word) - 1;
    return {here.negative >> 1 | (after.negative & 1) << top, here.positive >> 1 | (after.positive & 1) << top};
  }

  // Where words are written to, and how many steps there are in the end.
  StepWord* data() { return words_.get(); }
  void finish(std::size_t steps) { steps_ = steps; }

 private:
  std::unique_ptr<StepWord[]> words_;
  std::size_t steps_ = 0;
};

// The step below a stretch; where there is none, it takes neither class.
inline StepWord step_below(const Runs& negative, const Runs& positive, const Stretch& part) {
  const std::size_t i = part.negative_end, j = part.positive_end;
  const bool takes_negative = i > 0 && (j == 0 || negative.scores[i - 1] >= positive.scores[j - 1]);
  const bool takes_positive = j > 0 && (i == 0 || positive.scores[j - 1] >= negative.scores[i - 1]);
  return {takes_negative ? 1U : 0U, takes_positive ? 1U : 0U};
}

// The sums of a walk, and its bits beside them.
template <bool kOnce, class Sums>
class Recorded {
 public:
  Recorded(Sums sums, StepBits& out) : sums_(sums), out_(out), at_(out.data()) {}

  TM_INLINE void add(std::uint64_t dn, std::uint64_t dp, std::uint64_t fp, std::uint64_t tp) {
    sums_.add(dn, dp, fp, tp);
    word_.negative = word_.negative >> 1 | taken(dn) << 63;
    word_.positive = word_.positive >> 1 | taken(dp) << 63;
    if (++steps_ % 64 == 0) *at_++ = word_;
  }
  void finish() {
    sums_.finish();
    const std::size_t free = 63 - (steps_ - 1) % 64;
    if (steps_ % 64 != 0) *at_ = {word_.negative >> free, word_.positive >> free};
    out_.finish(steps_);
  }

 private:
  static TM_INLINE std::uint64_t taken(std::uint64_t rows) { return kOnce || rows == 0 ? rows : 1; }

  Sums sums_;
  StepBits& out_;
  StepWord* at_;
  StepWord word_{0, 0};
  std::size_t steps_ = 0;
};

// The lowest step of those that are left, and all of its word down to it.
TM_INLINE std::uint64_t down_to_lowest(std::uint64_t left) { return left ^ (left - 1); }

// How many rows lie above, as steps are read from their bits.
template <bool kOnce>
class RowsAbove {
 public:
  RowsAbove(const Runs& negative, const Runs& positive, const Stretch& part)
      : negative_(negative),
        positive_(positive),
        i_(part.negative),
        j_(part.positive),
        first_i_(i_),
        first_j_(j_),
        fp_(part.fp),
        tp_(part.tp) {}

  // Goes down to the last of some steps of a word, which are its first ones.
  TM_INLINE void to(const StepWord& word, std::uint64_t steps) {
    move(first_i_ - ones(word.negative & steps), first_j_ - ones(word.positive & steps));
  }
  // Goes on to the next word.
  TM_INLINE void past(const StepWord& word) {
    first_i_ -= ones(word.negative);
    first_j_ -= ones(word.positive);
    move(first_i_, first_j_);
  }

  TM_INLINE std::uint64_t fp() const { return kOnce ? negative_.size - i_ : fp_; }
  TM_INLINE std::uint64_t tp() const { return kOnce ? positive_.size - j_ : tp_; }
  // The last score, of the positive class if that is 1, else of the negative one: the last step took it. Without a
  // branch that nobody could foresee.
  TM_INLINE double score(std::uint64_t of_positive) const {
    const auto a = std::bit_cast<std::uintptr_t>(negative_.scores + i_);
    const auto b = std::bit_cast<std::uintptr_t>(positive_.scores + j_);
    return *std::bit_cast<const double*>(a ^ ((a ^ b) & (0 - of_positive)));
  }
  // How many rows of a class the last step took, if it took any.
  TM_INLINE std::uint64_t dn() const { return rows(negative_, i_); }
  TM_INLINE std::uint64_t dp() const { return rows(positive_, j_); }
  // The same of the step after it, if that takes the class too.
  TM_INLINE std::uint64_t next_dn() const { return rows(negative_, i_ - 1); }
  TM_INLINE std::uint64_t next_dp() const { return rows(positive_, j_ - 1); }

 private:
  static TM_INLINE std::size_t ones(std::uint64_t bits) { return static_cast<std::size_t>(std::popcount(bits)); }
  static TM_INLINE std::uint64_t rows(const Runs& runs, std::size_t place) {
    return kOnce ? 1 : static_cast<std::uint64_t>(runs.count(place));
  }
  TM_INLINE void move(std::size_t i, std::size_t j) {
    if constexpr (!kOnce) {
      for (std::size_t k = i_; k > i;) fp_ += rows(negative_, --k);
      for (std::size_t k = j_; k > j;) tp_ += rows(positive_, --k);
    }
    i_ = i;
    j_ = j;
  }

  const Runs& negative_;
  const Runs& positive_;
  std::size_t i_, j_, first_i_, first_j_;
  std::uint64_t fp_, tp_;
};

}  // namespace tallymark::detail

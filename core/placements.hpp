// How each row of a class is placed among the rows of another: twice the share of them below it, half of those level.
// Sums of placements and of their squares say how far the area under the ROC curve can move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rank_sums.hpp"

namespace tallymark {

// A sum of squares times counts, in three digits of 64 bits: room for 2^62 rows, each twice as many places high.
class SquareSum {
 public:
  void add(std::uint64_t count, std::uint64_t value) {
    const Unsigned square = static_cast<Unsigned>(value) * value;
    const Unsigned low = static_cast<Unsigned>(count) * digit(square), high = count * (square >> 64);
    add({digit(low), 0, 0});
    add({0, digit(low >> 64), 0});
    add({0, digit(high), digit(high >> 64)});
  }
  void add(const SquareSum& other) { add(other.digits_); }
  const std::array<std::uint64_t, 3>& digits() const { return digits_; }

 private:
  using Unsigned = UInt128;
  static std::uint64_t digit(Unsigned value) { return static_cast<std::uint64_t>(value); }
  void add(const std::array<std::uint64_t, 3>& other) {
    Unsigned carry = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      carry += static_cast<Unsigned>(digits_[k]) + other[k];
      digits_[k] = digit(carry);
      carry >>= 64;
    }
  }

  std::array<std::uint64_t, 3> digits_{};
};

struct PlacementSums {
  std::uint64_t negatives = 0;  // of all scores
  Signed twice_wins = 0;        // Σ of the places of either class among the other
  SquareSum of_negatives = {}, of_positives = {};
};

namespace detail {

class PlacementSteps {
 public:
  explicit PlacementSteps(PlacementSums& out) : out_(out) {}
  // A step takes so many rows of each class; with it, so many are above.
  void add(std::uint64_t dn, std::uint64_t dp, std::uint64_t fp, std::uint64_t tp) {
    const std::uint64_t below = 2 * (out_.negatives - fp) + dn, above = 2 * tp - dp;
    out_.twice_wins += static_cast<Signed>(below) * static_cast<Signed>(dp);
    if (dp != 0) out_.of_positives.add(dp, below);
    if (dn != 0) out_.of_negatives.add(dn, above);
  }
  void finish() {}

 private:
  PlacementSums& out_;
};

}  // namespace detail

// Runs without weights that are a stretch of the scores of two classes, as in `count_stretch`.
inline PlacementSums sum_placements(const Runs& negative, const Runs& positive, std::uint64_t negatives,
                                    std::uint64_t fp, std::uint64_t tp) {
  const std::size_t threads = threads_for(negative.size + positive.size);
  const auto parts = cut_walk(negative, positive, threads, fp, tp);
  std::vector<PlacementSums> found(parts.size(), PlacementSums{negatives});
  for_ranges(threads, threads, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t t = first; t < last; ++t)
      detail::Walk<false, detail::PlacementSteps>(negative, positive, parts[t], detail::PlacementSteps(found[t]))
          .finish();
  });
  for (std::size_t t = 1; t < found.size(); ++t) {
    found[0].twice_wins += found[t].twice_wins;
    found[0].of_negatives.add(found[t].of_negatives);
    found[0].of_positives.add(found[t].of_positives);
  }
  return found[0];
}

}  // namespace tallymark

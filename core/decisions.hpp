// Probabilities and margins as labels: a threshold on one number, or the largest of several.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "elementary.hpp"
#include "labels.hpp"

namespace tallymark {

inline constexpr double kSumTolerance = 1e-4;  // how far from 1 the probabilities of a row may add up

// How numbers in the columns of a prediction become a class.
struct Decision {
  double threshold = 0.5;
  bool margin = false;       // before sigmoid or softmax
  bool normalize = false;    // divide the probabilities of a row by their sum
  std::size_t positive = 1;  // the column of the positive class, of two; 2 if none is: the largest decides
  bool by_margin = false;    // the threshold is a margin, not a probability

  // Whether a margin reaches the threshold.
  bool reached(double x) const { return (by_margin ? x : sigmoid(x)) >= threshold; }
};

// Codes that are columns (or no and yes), known from the start.
class DecisionReader : public LabelReader {
 public:
  DecisionReader(std::vector<Column> columns, const Decision& decision)
      : columns_(std::move(columns)), decision_(decision) {}
  std::size_t size() const override { return columns_.size() < 2 ? 2 : columns_.size(); }
  Label label(std::uint32_t code) const override { return {Label::Form::integer, code}; }
  bool less(std::uint32_t a, std::uint32_t b) const override { return a < b; }
  std::vector<std::uint32_t> adopt(const LabelReader& fork) override { return same_codes(fork.size()); }
  std::unique_ptr<LabelReader> fork() const override { return std::make_unique<DecisionReader>(columns_, decision_); }

  void read(std::size_t first, std::size_t n, std::uint32_t* codes) override {
    if (columns_.size() == 1) return decide_one(first, n, codes);
    rows_.resize(columns_.size() * kBlock);
    for (std::size_t k = 0; k < columns_.size(); ++k) read_rows(columns_[k], first, n, &rows_[k * kBlock]);
    for (std::size_t i = 0; i < n; ++i) codes[i] = decide(first + i, i);
  }

 private:
  void decide_one(std::size_t first, std::size_t n, std::uint32_t* codes) {
    double values[kBlock];
    read_rows(columns_[0], first, n, values);
    for (std::size_t i = 0; i < n; ++i) {
      const double x = values[i];
      if (!std::isfinite(x)) {
        codes[i] = refuse(Fault::missing, first + i);
      } else if (!decision_.margin && !(x >= 0.0 && x <= 1.0)) {
        codes[i] = refuse(Fault::outside, first + i);
      } else {
        codes[i] = (decision_.margin ? decision_.reached(x) : x >= decision_.threshold) ? 1U : 0U;
      }
    }
  }

  std::uint32_t decide(std::size_t row, std::size_t i) {
    const std::size_t count = columns_.size();
    std::size_t best = 0;
    double sum = 0.0;
    bool outside = false;
    for (std::size_t k = 0; k < count; ++k) {
      const double x = rows_[k * kBlock + i];
      if (!std::isfinite(x)) return refuse(Fault::missing, row);
      outside = outside || x < 0.0 || (x > 1.0 && !decision_.normalize);
      sum += x;
      if (x > rows_[best * kBlock + i]) best = k;  // the first of equals wins
    }
    if (!decision_.margin) {
      if (outside) return refuse(Fault::outside, row);
      if (decision_.normalize ? !(sum > 0.0) : std::fabs(sum - 1.0) > kSumTolerance) return refuse(Fault::sum, row);
    }
    if (count > 2 || decision_.positive > 1) return static_cast<std::uint32_t>(best);
    const double yes = rows_[decision_.positive * kBlock + i], no = rows_[(1 - decision_.positive) * kBlock + i];
    const bool called =
        decision_.margin ? decision_.reached(yes - no) : (decision_.normalize ? yes / sum : yes) >= decision_.threshold;
    return static_cast<std::uint32_t>(called ? decision_.positive : 1 - decision_.positive);
  }

  std::uint32_t refuse(Fault fault, std::size_t row) {
    faults.add(fault, row);
    return kNoLabel;
  }

  std::vector<Column> columns_;
  Decision decision_;
  std::vector<double> rows_;  // of one block, column by column
};

}  // namespace tallymark

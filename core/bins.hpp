// Probabilities in bins of equal width: the weight of each, and the exact totals of probability and of what happened. A
// calibration error is therefore a fraction of whole numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "column.hpp"
#include "parallel.hpp"

namespace tallymark {

struct Bin {
  ExactSum weight, probability, happened;

  void add(const Bin& other) {
    weight.add(other.weight);
    probability.add(other.probability);
    happened.add(other.happened);
  }
};

struct BinTable {
  Column truth, probability, weight;  // a truth other than 0 is what happened
  bool weighted = false;
  std::size_t rows = 0;
};

namespace detail {

// A bin of unweighted rows. Probabilities are added as whole numbers of 2^-96, which hold those from 2^-43 on.
class PlainBin {
 public:
  TM_INLINE void add(double p, bool happened) {
    ++count_;
    happened_ += happened ? 1U : 0U;
    const std::uint64_t b = bits(p);
    const auto field = static_cast<int>(b >> 52);
    if (field >= 1023 - 43 && field <= 1023) {
      const std::uint64_t units = (b & 0x000fffffffffffffULL) | (std::uint64_t{1} << 52);
      total_ += static_cast<UInt128>(units) << (field - 1075 + 96);
    } else {
      small_.add(p);
    }
  }

  Bin finish() const {
    Bin out;
    out.weight.add_scaled(count_, 0);
    out.happened.add_scaled(static_cast<std::int64_t>(happened_), 0);
    out.probability.add(small_);
    constexpr int kPart = 48;
    for (int k = 0; k < 3; ++k) {
      const auto part = static_cast<std::int64_t>((total_ >> (kPart * k)) & ((1ULL << kPart) - 1));
      out.probability.add_scaled(part, kPart * k - 96);
    }
    return out;
  }

 private:
  std::int64_t count_ = 0;
  std::uint64_t happened_ = 0;
  UInt128 total_ = 0;
  ExactSum small_;
};

// The bin of each probability; any number has one.
TM_CLONES static inline void find_bins(std::size_t n, const double* p, double bins, std::int32_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const double place = p[i] * bins;
    const double low = place >= 0.0 ? place : 0.0;
    out[i] = static_cast<std::int32_t>(low < bins ? low : bins - 1.0);
  }
}

inline void add_weighted(Bin& bin, double p, bool happened, double w) {
  bin.weight.add(w);
  if (happened) bin.happened.add(w);
  const double high = w * p;
  bin.probability.add(high);
  if (magnitude(high) < kInfinity) bin.probability.add(std::fma(w, p, -high));
}

}  // namespace detail

// Totals per bin. Weights that are zero or no weights are left out; other values must have been checked.
inline std::vector<Bin> total_bins(const BinTable& table, std::size_t bins) {
  const std::size_t blocks = table.rows / kBlock + (table.rows % kBlock != 0 ? 1 : 0);
  const std::size_t threads = threads_for(table.rows);
  std::vector<std::vector<Bin>> partial(threads);
  for_ranges(blocks, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    std::vector<double> y(kBlock), p(kBlock), w(kBlock);
    std::vector<std::int32_t> place(kBlock);
    std::vector<detail::PlainBin> plain(table.weighted ? 0 : bins);
    std::vector<Bin>& out = partial[t];
    out.resize(bins);
    for (std::size_t b = first; b < last; ++b) {
      const std::size_t row = b * kBlock, n = std::min(kBlock, table.rows - row);
      read_rows(table.truth, row, n, y.data());
      read_rows(table.probability, row, n, p.data());
      detail::find_bins(n, p.data(), static_cast<double>(bins), place.data());
      if (!table.weighted) {
        for (std::size_t i = 0; i < n; ++i) plain[static_cast<std::size_t>(place[i])].add(p[i], y[i] != 0.0);
        continue;
      }
      read_rows(table.weight, row, n, w.data());
      for (std::size_t i = 0; i < n; ++i)
        if (w[i] > 0.0) detail::add_weighted(out[static_cast<std::size_t>(place[i])], p[i], y[i] != 0.0, w[i]);
    }
    for (std::size_t k = 0; k < plain.size(); ++k) out[k] = plain[k].finish();
  });
  std::vector<Bin>& whole = partial.front();
  for (std::size_t t = 1; t < threads; ++t)
    for (std::size_t k = 0; k < bins; ++k) whole[k].add(partial[t][k]);
  return std::move(whole);
}

}  // namespace tallymark

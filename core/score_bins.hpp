// Rows counted by class and by the first bits of their scores.
//
// As many bits are kept as tell no more bins apart than there may be. That number depends on the set of scores alone,
// however the rows come: bits are dropped only when the scores seen so far fall into too many bins, and would then do
// so with all others too. Edges chosen beforehand would need the range of the scores, and lump together what lies
// close.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "exact_sum.hpp"
#include "target.hpp"

namespace tallymark {

// Scores as whole numbers in the same order; both zeros are one.
TM_CLONES static inline void to_ordered(const double* scores, std::size_t n, std::int64_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto raw = static_cast<std::int64_t>(bits(scores[i] + 0.0));
    out[i] = raw ^ ((raw >> 63) & 0x7fff'ffff'ffff'ffff);
  }
}

// The lowest and the highest of some numbers and those so far.
TM_CLONES static inline void widen_range(const std::int64_t* ordered, std::size_t n, std::int64_t& low,
                                         std::int64_t& high) {
  std::int64_t lowest = low, highest = high;
  for (std::size_t i = 0; i < n; ++i) {
    lowest = ordered[i] < lowest ? ordered[i] : lowest;
    highest = ordered[i] > highest ? ordered[i] : highest;
  }
  low = lowest;
  high = highest;
}

class ScoreBins {
 public:
  // No more than `most` bins, which are two at least. A sample, in order, tells how many bits must be left out at
  // least, and where most scores lie.
  ScoreBins(std::size_t most, const std::vector<std::int64_t>& sample) : most_(most), shift_(shift_for(sample, most)) {
    rebuild();
    if (sample.empty()) return;
    const std::int64_t low = sample.front() >> shift_, high = sample.back() >> shift_;
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    if (span >= kWindow / 2) return;
    window_first_ = static_cast<std::uint64_t>(low) - span / 2;
    window_.assign((2 * span + 2) * kWindowClasses, 0);
  }

  // Counts rows; classes are small numbers.
  void add(const std::int64_t* ordered, const std::uint32_t* classes, std::size_t n) {
    std::uint32_t* window = window_.data();
    const std::uint64_t first = window_first_, span = window_.size() / kWindowClasses;
    const unsigned shift = start_shift_;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t distance = static_cast<std::uint64_t>(ordered[i] >> shift) - first;
      if (distance < span && classes[i] < kWindowClasses) [[likely]]
        ++window[distance * kWindowClasses + classes[i]];
      else
        add(ordered[i] >> shift_, classes[i], 1);
    }
    in_window_ += n;
    if (in_window_ >= kFull) flush();
  }

  // Brings what was counted by distance to the bins. To be called before anything is read.
  void flush() {
    std::vector<std::uint32_t> cells(window_.size(), 0);
    cells.swap(window_);
    auto first = static_cast<std::int64_t>(window_first_);
    unsigned shift = start_shift_;
    for (; shift < shift_ || filled(cells) > most_; ++shift) {
      for (std::size_t k = 0; k < cells.size(); ++k) {
        const std::int64_t bin = (first + static_cast<std::int64_t>(k / kWindowClasses)) >> 1;
        const std::size_t to = static_cast<std::size_t>(bin - (first >> 1)) * kWindowClasses + k % kWindowClasses;
        if (to != k) cells[to] += std::exchange(cells[k], 0);
      }
      first >>= 1;
    }
    while (shift_ < shift) coarsen();
    for (std::size_t k = 0; k < cells.size(); ++k)
      if (cells[k] != 0)
        add((first + static_cast<std::int64_t>(k / kWindowClasses)) >> (shift_ - shift),
            static_cast<std::uint32_t>(k % kWindowClasses), cells[k]);
    in_window_ = 0;
  }

  // Adds what another has counted, its classes by other numbers.
  void add(const ScoreBins& other, const std::vector<std::uint32_t>& class_of) {
    while (shift_ < other.shift_) coarsen();
    for (std::size_t k = 0; k < other.bins_.size(); ++k)
      for (std::size_t c = 0; c < other.classes_; ++c) {
        const std::int64_t count = other.counts_[k * other.classes_ + c];
        if (count != 0) add(other.bins_[k] >> (shift_ - other.shift_), class_of[c], count);
      }
  }

  unsigned kept_bits() const { return 64 - shift_; }
  std::size_t classes() const { return classes_; }
  // Whether a class has rows.
  bool holds(std::uint32_t of_class) const {
    for (std::size_t k = of_class; k < counts_.size(); k += classes_)
      if (counts_[k] != 0) return true;
    return false;
  }

  // The bins in order.
  std::vector<std::int64_t> bins() const {
    std::vector<std::int64_t> out = bins_;
    std::sort(out.begin(), out.end());
    return out;
  }
  // The rows of a class in every bin, in order.
  std::vector<std::int64_t> counts(std::uint32_t of_class) const {
    std::vector<std::int64_t> out;
    for (const std::size_t k : order()) out.push_back(of_class < classes_ ? counts_[k * classes_ + of_class] : 0);
    return out;
  }

 private:
  static constexpr std::uint64_t kSpan = 1 << 16;    // of bins that are looked up by their distance from the first
  static constexpr std::uint64_t kWindow = 1 << 16;  // bins of the window, in which rows are counted by distance alone
  static constexpr std::uint32_t kWindowClasses = 2;
  static constexpr std::size_t kFull = std::size_t{1} << 31;  // rows that a cell of the window can count

  static std::size_t filled(const std::vector<std::uint32_t>& cells) {
    std::size_t out = 0;
    for (std::size_t k = 0; k < cells.size(); k += kWindowClasses) out += (cells[k] | cells[k + 1]) != 0 ? 1 : 0;
    return out;
  }

  // How many last bits must be left out for a sample in order to fall into few enough bins.
  static unsigned shift_for(const std::vector<std::int64_t>& sample, std::size_t most) {
    std::vector<unsigned> differ;  // bits from the last to the first in which neighbours differ
    for (std::size_t i = 1; i < sample.size(); ++i) {
      const auto width = std::bit_width(static_cast<std::uint64_t>(sample[i] ^ sample[i - 1]));
      if (width != 0) differ.push_back(static_cast<unsigned>(width));
    }
    if (differ.size() < most) return 0;
    std::nth_element(differ.begin(), differ.begin() + static_cast<std::ptrdiff_t>(most - 1), differ.end(),
                     std::greater<>());
    return std::min(differ[most - 1], 63U);
  }

  // Few rows come here, and the loop over all others needs every register.
  [[gnu::noinline]] void add(std::int64_t bin, std::uint32_t of_class, std::int64_t count) {
    if (of_class >= classes_) widen(of_class + 1);
    std::uint32_t at = find(bin);
    if (at == 0) {
      const unsigned before = shift_;
      at = insert(bin);
      if (bins_.size() > most_) {
        while (bins_.size() > most_) coarsen();
        at = find(bin >> (shift_ - before));
      }
    }
    counts_[(at - 1) * classes_ + of_class] += count;
  }

  // One more than the place of a bin; 0 where there is none.
  std::uint32_t find(std::int64_t bin) const {
    if (direct_) {
      const std::uint64_t distance = static_cast<std::uint64_t>(bin) - first_;
      return distance < places_.size() ? places_[distance] : 0;
    }
    return places_[slot_of(bin)];
  }

  // Where a bin stands in the table, or would.
  std::size_t slot_of(std::int64_t bin) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t slot = static_cast<std::size_t>((static_cast<std::uint64_t>(bin) * 0x9e37'79b9'7f4a'7c15ULL) >> 32);
    for (slot &= mask; places_[slot] != 0 && bins_[places_[slot] - 1] != bin;) slot = (slot + 1) & mask;
    return slot;
  }

  std::uint32_t insert(std::int64_t bin) {
    bins_.push_back(bin);
    counts_.resize(bins_.size() * classes_, 0);
    const auto at = static_cast<std::uint32_t>(bins_.size());
    const std::uint64_t distance = static_cast<std::uint64_t>(bin) - first_;
    if (direct_ ? distance >= places_.size() : 2 * bins_.size() > places_.size())
      rebuild();
    else
      places_[direct_ ? distance : slot_of(bin)] = at;
    return at;
  }

  // The places of all bins anew.
  void rebuild() {
    place_within(bins_);
    for (std::size_t k = 0; k < bins_.size(); ++k)
      places_[direct_ ? static_cast<std::uint64_t>(bins_[k]) - first_ : slot_of(bins_[k])] =
          static_cast<std::uint32_t>(k + 1);
  }

  // Room for the places of bins, by their distance from the first where they lie close together, else hashed.
  void place_within(const std::vector<std::int64_t>& bins) {
    const auto [low, high] = std::minmax_element(bins.begin(), bins.end());
    const std::uint64_t span =
        bins.empty() ? kSpan : static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low);
    direct_ = span < kSpan;
    first_ = direct_ ? static_cast<std::uint64_t>(*low) - span / 2 : 0;
    std::size_t size = 64;
    while (size < 4 * bins.size()) size *= 2;
    places_.assign(direct_ ? std::max<std::size_t>(2 * span + 2, 64) : size, 0);
  }

  // One bit less.
  void coarsen() {
    std::vector<std::int64_t> bins, counts;
    bins.swap(bins_);
    counts.swap(counts_);
    ++shift_;
    for (std::int64_t& bin : bins) bin >>= 1;
    place_within(bins);
    for (std::size_t k = 0; k < bins.size(); ++k) {
      std::uint32_t at = find(bins[k]);
      if (at == 0) at = insert(bins[k]);
      for (std::size_t c = 0; c < classes_; ++c) counts_[(at - 1) * classes_ + c] += counts[k * classes_ + c];
    }
  }

  std::vector<std::size_t> order() const {
    std::vector<std::size_t> out(bins_.size());
    std::iota(out.begin(), out.end(), std::size_t{0});
    std::sort(out.begin(), out.end(), [this](std::size_t a, std::size_t b) { return bins_[a] < bins_[b]; });
    return out;
  }

  void widen(std::size_t classes) {
    std::vector<std::int64_t> counts(bins_.size() * classes, 0);
    for (std::size_t k = 0; k < bins_.size(); ++k) std::copy_n(&counts_[k * classes_], classes_, &counts[k * classes]);
    classes_ = classes;
    counts_ = std::move(counts);
  }

  std::size_t most_, classes_ = 2;
  unsigned shift_, start_shift_ = shift_;
  std::uint64_t window_first_ = 0;
  std::size_t in_window_ = 0;
  std::vector<std::uint32_t> window_;  // rows by distance from the first bin of the window, then by class
  bool direct_ = false;
  std::uint64_t first_ = 0;
  std::vector<std::int64_t> bins_, counts_;  // in the order in which bins came
  std::vector<std::uint32_t> places_;
};

}  // namespace tallymark

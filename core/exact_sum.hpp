// Exact sums of doubles.
//
// A sum is kept as one wide fixed-point integer in units of 2^-1074, the smallest double, so adding is exact and the
// result is a function of the multiset of terms: no order, chunk size or thread count can change a bit of it.
//
// One wide addition per term would be slow, so a block of terms is first cut along two binary grids. Adding
// 1.5*2^(52+g) to x rounds it to a multiple of 2^g and leaves that multiple in the low bits of the result, where
// integer arithmetic can total it; what was rounded off goes to a second, finer grid. Two grids hold 102 bits below the
// largest term of the block, which costs about 0.25 ns per row and term. Blocks that need more are added term by term.
//
// Reproducible sums in a fixed number of folds cost the same, round in the last fold, and need more folds for
// differences such as a variance. From exact sums the difference W*sum(w*y^2) - sum(w*y)^2 is formed as whole numbers
// and rounded once. Products that feed such differences are kept whole, as high and low parts by FMA. The build never
// uses -ffast-math, and always -ffp-contract=off.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "target.hpp"

namespace tallymark {

inline constexpr std::uint64_t kMagnitude = 0x7fffffffffffffffULL;
inline constexpr std::uint64_t kInfinity = 0x7ff0000000000000ULL;
inline constexpr std::size_t kBlock = 1024;  // rows; 2^10 terms of 2^51 units each fit in 64 bits

TM_INLINE std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }
TM_INLINE double real(std::uint64_t b) { return std::bit_cast<double>(b); }
TM_INLINE std::uint64_t magnitude(double x) { return bits(x) & kMagnitude; }

class ExactSum {
 public:
  static constexpr int kDigits = 70;  // 32 bits each: 2^-1074 .. 2^1024, and room for 2^140 terms
  static constexpr std::size_t kBytes = 4 * kDigits;

  // Adds units * 2^exponent; exponent >= -1074.
  void add_scaled(std::int64_t units, int exponent) {
    const auto bit = static_cast<unsigned>(exponent + 1074);
    const std::size_t at = bit / 32;
    const auto wide = static_cast<Int128>(units) * (static_cast<Int128>(1) << (bit % 32));
    digits_[at] += static_cast<std::int64_t>(static_cast<std::uint32_t>(wide));
    digits_[at + 1] += static_cast<std::int64_t>(static_cast<std::uint32_t>(wide >> 32));
    digits_[at + 2] += static_cast<std::int64_t>(wide >> 64);
    if (++pending_ == kMaxPending) carry();
  }

  void add(double x) {
    const std::uint64_t m = magnitude(x);
    if (m >= kInfinity) {
      if (m > kInfinity)
        ++undefined_;
      else if (x > 0)
        ++above_;
      else
        ++below_;
      return;
    }
    const auto field = static_cast<int>(m >> 52);
    auto units = static_cast<std::int64_t>(m & 0x000fffffffffffffULL);
    if (field > 0) units |= std::int64_t{1} << 52;
    add_scaled(x < 0 ? -units : units, field > 0 ? field - 1075 : -1074);
  }

  void add(const ExactSum& other) {
    for (std::size_t i = 0; i < kDigits; ++i) digits_[i] += other.digits_[i];
    carry();
    above_ += other.above_;
    below_ += other.below_;
    undefined_ += other.undefined_;
  }

  // The total as a little-endian two's complement integer in units of 2^(32 skipped - 1074): writes `length` bytes.
  struct Written {
    std::size_t skipped, length;
  };
  Written write(unsigned char* out) {
    carry();
    std::size_t first = 0, last = kDigits;
    const std::int64_t sign = digits_[kDigits - 1] < 0 ? 0xffffffffLL : 0;
    while (first < last && digits_[first] == 0) ++first;
    while (last > first && (digits_[last - 1] & 0xffffffffLL) == sign) --last;
    if (last < kDigits && first < kDigits) ++last;  // one more digit, for the sign
    for (std::size_t i = first; i < last; ++i) {
      const auto digit = static_cast<std::uint32_t>(digits_[i]);
      for (unsigned k = 0; k < 4; ++k) *out++ = static_cast<unsigned char>(digit >> (8 * k));
    }
    return {first, 4 * (last - first)};
  }

  // Of a sum of terms that are not negative.
  bool is_zero() const {
    for (const std::int64_t digit : digits_)
      if (digit != 0) return false;
    return above_ == 0 && below_ == 0 && undefined_ == 0;
  }

  // The double nearest to the total of the finite terms.
  double nearest() {
    carry();
    const bool negative = digits_[kDigits - 1] < 0;
    std::array<std::int64_t, kDigits> size = digits_;
    if (negative) {
      std::int64_t up = 1;
      for (std::int64_t& digit : size) {
        up += ~digit & 0xffffffffLL;
        digit = up & 0xffffffffLL;
        up >>= 32;
      }
    }
    std::size_t top = kDigits - 1;
    while (top > 2 && size[top] == 0) --top;
    // Three digits hold the 53 bits and the one that decides; whether anything lies below them only breaks ties.
    bool below = false;
    for (std::size_t i = 0; i + 2 < top; ++i) below = below || size[i] != 0;
    UInt128 leading = 0;
    for (std::size_t i = top + 1; i-- > top - 2;) leading = leading << 32 | static_cast<std::uint64_t>(size[i]);
    leading |= below ? 1U : 0U;
    const double value = std::ldexp(static_cast<double>(leading), static_cast<int>(32 * (top - 2)) - 1074);
    return negative ? -value : value;
  }

  std::uint64_t above() const { return above_; }          // terms that were +inf
  std::uint64_t below() const { return below_; }          // terms that were -inf
  std::uint64_t undefined() const { return undefined_; }  // terms that were NaN

 private:
  static constexpr int kMaxPending = 1 << 28;

  // Brings every digit but the last into [0, 2^32); the last keeps the sign.
  void carry() {
    std::int64_t up = 0;
    for (std::size_t i = 0; i < kDigits; ++i) {
      const std::int64_t total = digits_[i] + up;
      up = total >> 32;
      digits_[i] = i + 1 < kDigits ? (total & 0xffffffffLL) : total;
    }
    pending_ = 0;
  }

  std::array<std::int64_t, kDigits> digits_{};
  std::uint64_t above_ = 0, below_ = 0, undefined_ = 0;
  int pending_ = 0;
};

// The two grids of a block whose terms do not exceed `bound`, the bit pattern of a magnitude, and what lies on them. A
// local variable, so that its totals stay in registers.
class Grids {
 public:
  TM_INLINE static bool fit(std::uint64_t bound) { return bound >> 52 < 2000; }

  TM_INLINE explicit Grids(std::uint64_t bound) {
    // |x| < 2^(field - 1022), which is at most 2^50 units of the coarse grid.
    const auto field = static_cast<int>(bound >> 52);
    coarse_ = field - 1072 > -1074 ? field - 1072 : -1074;
    fine_ = coarse_ - 51 > -1074 ? coarse_ - 51 : -1074;
    big_ = 1.5 * real(static_cast<std::uint64_t>(coarse_ + 52 + 1023) << 52);
    small_ = 1.5 * real(static_cast<std::uint64_t>(fine_ + 52 + 1023) << 52);
  }

  // Whether terms of at least this magnitude, a bit pattern, have no digits below the grids; never said of 0.
  TM_INLINE bool hold(std::uint64_t least) const { return static_cast<int>(least >> 52) - 1075 >= fine_; }

  TM_INLINE void take(double x) {
    const double t = x + big_;
    high_ += bits(t);
    const double r = x - (t - big_);
    const double u = r + small_;
    low_ += bits(u);
    rest_ |= bits(r - (u - small_));
  }

  // The same of a term that the grids hold.
  TM_INLINE void take_held(double x) {
    const double t = x + big_;
    high_ += bits(t);
    low_ += bits(x - (t - big_) + small_);
  }

  // Adds the n <= kBlock terms that were taken to `sum`; false, and nothing is added, if one has digits below the
  // grids.
  TM_INLINE bool give(ExactSum& sum, std::size_t n) const {
    if ((rest_ & kMagnitude) != 0) return false;
    sum.add_scaled(static_cast<std::int64_t>(high_ - n * bits(big_)), coarse_);
    sum.add_scaled(static_cast<std::int64_t>(low_ - n * bits(small_)), fine_);
    return true;
  }

 private:
  int coarse_, fine_;
  double big_, small_;
  std::uint64_t high_ = 0, low_ = 0, rest_ = 0;
};

// Adds term(0) .. term(n - 1) to `sum`; n <= kBlock. `bound` is the bit pattern of a magnitude that no term exceeds.
template <class Term>
TM_INLINE void add_block(ExactSum& sum, std::size_t n, std::uint64_t bound, Term&& term) {
  if (bound == 0) return;
  if (Grids::fit(bound)) {
    Grids grids(bound);
    for (std::size_t i = 0; i < n; ++i) grids.take(term(i));
    if (grids.give(sum, n)) return;
  }
  for (std::size_t i = 0; i < n; ++i) sum.add(term(i));
}

// The largest magnitude among term(0) .. term(n - 1), as a bit pattern; kInfinity or more if one is not finite.
template <class Term>
TM_INLINE std::uint64_t largest(std::size_t n, Term&& term) {
  std::uint64_t m = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t b = magnitude(term(i));
    m = b > m ? b : m;
  }
  return m;
}

}  // namespace tallymark

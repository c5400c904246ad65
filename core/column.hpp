// A column of numbers as the caller holds it: any numeric type, any stride, never copied as a whole.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "exact_sum.hpp"
#include "target.hpp"

namespace tallymark {

enum class Type { f64, f32, f16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

struct Column {
  const char* data = nullptr;
  std::ptrdiff_t stride = 0;  // bytes
  Type type = Type::f64;

  // True where rows [0, n) can be read as an array of doubles in place.
  bool plain() const {
    return type == Type::f64 && stride == sizeof(double) &&
           reinterpret_cast<std::uintptr_t>(data) % sizeof(double) == 0;
  }
};

// IEEE half precision in the low 16 bits.
TM_INLINE double half_to_double(std::uint16_t h) {
  const std::uint64_t sign = static_cast<std::uint64_t>(h & 0x8000U) << 48;
  const std::uint64_t exponent = (h >> 10) & 31U;
  const std::uint64_t fraction = h & 1023U;
  if (exponent == 31) return real(sign | kInfinity | (fraction << 42));
  if (exponent == 0) {
    const double value = static_cast<double>(fraction) * 0x1p-24;
    return sign != 0 ? -value : value;
  }
  return real(sign | ((exponent + 1008) << 52) | (fraction << 42));
}

template <class T>
TM_INLINE double to_double(T x) {
  return static_cast<double>(x);
}

// Any byte but 0 is true, as NumPy has it.
TM_INLINE double bool_to_double(std::uint8_t x) { return x != 0 ? 1.0 : 0.0; }

template <class T, class Convert>
TM_INLINE void read_as(const char* data, std::ptrdiff_t stride, std::size_t n, double* out, Convert&& convert) {
  if (stride == static_cast<std::ptrdiff_t>(sizeof(T))) {  // a constant stride vectorises
    for (std::size_t i = 0; i < n; ++i) {
      T x;
      std::memcpy(&x, data + i * sizeof(T), sizeof(T));
      out[i] = convert(x);
    }
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    T x;
    std::memcpy(&x, data + static_cast<std::ptrdiff_t>(i) * stride, sizeof(T));
    out[i] = convert(x);
  }
}

// Reads rows [first, first + n) into `out`.
TM_CLONES static inline void read_rows(const Column& c, std::size_t first, std::size_t n, double* out) {
  const char* at = c.data + static_cast<std::ptrdiff_t>(first) * c.stride;
  switch (c.type) {
    case Type::f64: return read_as<double>(at, c.stride, n, out, to_double<double>);
    case Type::f32: return read_as<float>(at, c.stride, n, out, to_double<float>);
    case Type::f16: return read_as<std::uint16_t>(at, c.stride, n, out, half_to_double);
    case Type::i64: return read_as<std::int64_t>(at, c.stride, n, out, to_double<std::int64_t>);
    case Type::i32: return read_as<std::int32_t>(at, c.stride, n, out, to_double<std::int32_t>);
    case Type::i16: return read_as<std::int16_t>(at, c.stride, n, out, to_double<std::int16_t>);
    case Type::i8: return read_as<std::int8_t>(at, c.stride, n, out, to_double<std::int8_t>);
    case Type::u64: return read_as<std::uint64_t>(at, c.stride, n, out, to_double<std::uint64_t>);
    case Type::u32: return read_as<std::uint32_t>(at, c.stride, n, out, to_double<std::uint32_t>);
    case Type::u16: return read_as<std::uint16_t>(at, c.stride, n, out, to_double<std::uint16_t>);
    case Type::u8: return read_as<std::uint8_t>(at, c.stride, n, out, to_double<std::uint8_t>);
    case Type::boolean: return read_as<std::uint8_t>(at, c.stride, n, out, bool_to_double);
  }
}

// Whether a column holds integers that a double may not hold.
inline bool is_wide_integer(const Column& c) { return c.type == Type::i64 || c.type == Type::u64; }

inline Int128 read_integer(const Column& c, std::size_t row) {
  std::uint64_t x;
  std::memcpy(&x, c.data + static_cast<std::ptrdiff_t>(row) * c.stride, sizeof x);
  return c.type == Type::u64 ? static_cast<Int128>(x) : static_cast<Int128>(static_cast<std::int64_t>(x));
}

// a - b of two such columns, taken before anything is rounded.
inline void subtract_integers(const Column& a, const Column& b, std::size_t first, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i)
    out[i] = static_cast<double>(read_integer(a, first + i) - read_integer(b, first + i));
}

// What doubles leave of such numbers.
inline void read_rests(const Column& c, std::size_t first, std::size_t n, double* out) {
  for (std::size_t i = 0; i < n; ++i) {
    const Int128 x = read_integer(c, first + i);
    out[i] = static_cast<double>(x - static_cast<Int128>(static_cast<double>(x)));
  }
}

}  // namespace tallymark

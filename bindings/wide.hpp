// Whole numbers of 128 bits, and exact sums, as Python has them.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "exact_sum.hpp"

namespace tallymark {

namespace nb = nanobind;

inline nb::object to_python(UInt128 value) {
  const auto low = static_cast<std::uint64_t>(value), high = static_cast<std::uint64_t>(value >> 64);
  const nb::object bottom = nb::steal(PyLong_FromUnsignedLongLong(low));
  if (high == 0) return bottom;
  const nb::object top = nb::steal(PyLong_FromUnsignedLongLong(high)), shift = nb::steal(PyLong_FromLong(64));
  const nb::object shifted = nb::steal(PyNumber_Lshift(top.ptr(), shift.ptr()));
  return nb::steal(PyNumber_Or(shifted.ptr(), bottom.ptr()));
}

// Digits of 64 bits, the lowest first.
template <std::size_t kDigits>
nb::object to_python(const std::array<std::uint64_t, kDigits>& digits) {
  nb::object out = nb::int_(0);
  const nb::object shift = nb::int_(64);
  for (std::size_t k = kDigits; k-- > 0;) {
    const nb::object shifted = nb::steal(PyNumber_Lshift(out.ptr(), shift.ptr()));
    const nb::object digit = nb::steal(PyLong_FromUnsignedLongLong(digits[k]));
    out = nb::steal(PyNumber_Or(shifted.ptr(), digit.ptr()));
  }
  return out;
}

// Little-endian bytes, and how many bits to shift them up to be in units of 2^-1074.
inline nb::tuple to_python(ExactSum& sum) {
  unsigned char raw[ExactSum::kBytes];
  const auto written = sum.write(raw);
  return nb::make_tuple(nb::bytes(raw, written.length), 32 * written.skipped);
}

}  // namespace tallymark

// The caller's memory may change while it is read: kernels run without the interpreter's lock, and another thread can
// write to the same arrays. The result is then any number, or an error, but nothing is read or written out of place and
// every loop ends. All kernels and bindings keep these rules:
//
// - What becomes an index, a size or a place is read once, into memory of our own, and checked there.
// - Where two passes must agree, the second follows what the first has noted, not what it would decide anew.
// - What is sorted or kept as a key lies in memory of our own: std::sort and hash tables need an order that stays.
// - A walk over scores takes a row with every step, in whatever order they are.
// - A number that only goes into a sum may be read twice: no number leads out of an array.
//
// tests/changing_input.py and tests/core/test_changing.cpp change the inputs of every metric, binding and kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace tallymark {

// What was checked before does not hold any more.
class InputChanged : public std::runtime_error {
 public:
  explicit InputChanged(const std::string& problem)
      : std::runtime_error(problem + ": the input changed while it was being read") {}
};

// Indices below `size`, as memory of our own; `message` where there are others.
inline std::vector<std::int64_t> own_indices(const std::int64_t* indices, std::size_t n, std::size_t size,
                                             const char* message) {
  std::vector<std::int64_t> out(indices, indices + n);
  for (const std::int64_t index : out)
    if (static_cast<std::uint64_t>(index) >= size) throw std::invalid_argument(message);
  return out;
}

}  // namespace tallymark

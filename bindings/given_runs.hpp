// Runs on their way between Python and the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "array.hpp"
#include "scores.hpp"

#define TM_REALS "numpy.typing.NDArray[numpy.float64]"
#define TM_RUNS "tuple[" TM_REALS ", " TM_REALS " | None, numpy.typing.NDArray[numpy.int64] | None]"

namespace tallymark {

namespace nb = nanobind;

// Memory of the core as an array that Python may read.
template <class T>
nb::object to_array(const T* data, std::size_t size, const std::shared_ptr<const void>& owner) {
  if (data == nullptr) return nb::none();
  auto* held = new std::shared_ptr<const void>(owner);
  const nb::capsule release(held, [](void* p) noexcept { delete static_cast<std::shared_ptr<const void>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<1>>(data, {size}, release));
}

inline nb::object list_runs(const Runs& runs) {
  static const double nothing = 0.0;
  return nb::make_tuple(to_array(runs.size == 0 ? &nothing : runs.scores, runs.size, runs.owner),
                        to_array(runs.weights, runs.size, runs.owner), to_array(runs.counts, runs.size, runs.owner));
}

// Runs that Python holds: (scores, weights or None, counts or None).
class GivenRuns {
 public:
  explicit GivenRuns(nb::handle given) {
    const nb::tuple parts = nb::cast<nb::tuple>(given);
    if (parts.size() != 3) throw nb::value_error("runs are scores, weights and counts");
    scores_.emplace(parts[0], "scores");
    runs.scores = scores_->data();
    runs.size = scores_->size();
    if (!parts[1].is_none()) runs.weights = hold(parts[1], "weights", weights_, own_weights_);
    if (!parts[2].is_none()) runs.counts = hold(parts[2], "counts", counts_, own_counts_);
  }
  // What walks make of other runs means nothing.
  void check() const {
    std::atomic<bool> ordered{true};
    for_ranges(runs.size, threads_for(runs.size), [&](std::size_t, std::size_t first, std::size_t last) {
      const std::size_t from = first == 0 ? 0 : first - 1;
      if (!in_order(runs.scores + from, last - from)) ordered = false;
    });
    if (!ordered) throw nb::value_error("scores must be finite and in order");
    bool weighed = true;
    for (std::size_t i = 0; runs.weights != nullptr && i < runs.size; ++i)
      weighed &= runs.weights[i] > 0.0 && runs.weights[i] < std::numeric_limits<double>::infinity();
    if (!weighed) throw nb::value_error("weights must be finite and positive");
    std::uint64_t total = 0;
    for (std::size_t i = 0; runs.counts != nullptr && i < runs.size; ++i) {
      if (runs.counts[i] < 1 || (total += static_cast<std::uint64_t>(runs.counts[i])) > kMostRows)
        throw nb::value_error("counts must be positive, and no more than 2**62 together");
    }
  }
  static constexpr std::uint64_t kMostRows = std::uint64_t{1} << 62;  // products of two such counts fit 128 bits
  Runs runs;

 private:
  // Those that the core made are read-only, and are read in place; others are copied before they are checked.
  template <class T>
  const T* hold(nb::handle source, const char* name, std::optional<Array<T>>& given, std::vector<T>& own) const {
    given.emplace(source, name);
    if (given->size() != runs.size)
      throw nb::value_error((std::string("scores and ") + name + " differ in length").c_str());
    if (given->read_only()) return given->data();
    own.assign(given->data(), given->data() + given->size());
    return own.data();
  }

  std::optional<Array<double>> scores_, weights_;  // scores are read in place: walks end in any order of them
  std::optional<Array<std::int64_t>> counts_;
  std::vector<double> own_weights_;
  std::vector<std::int64_t> own_counts_;
};

}  // namespace tallymark

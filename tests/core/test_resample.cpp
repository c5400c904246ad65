// Tests of resampling in the core alone, built with the address and undefined-behaviour sanitizers.
#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "resample.hpp"
#include "resampled_cells.hpp"
#include "resampled_ranks.hpp"

using namespace tallymark;

namespace {

void counts_by_hand() {
  check(poisson_of(INT32_MIN) == 0 && poisson_of(INT32_MAX) == 12, "both ends of the draws");
  check(poisson_of(-567453480) == 0 && poisson_of(-567453479) == 1, "from where on a row counts");
  std::vector<std::uint8_t> counts(100'000);
  poisson_counts(1, 2, nullptr, 0, counts.size(), counts.data());
  double sum = 0, squares = 0;
  for (const std::uint8_t count : counts) {
    sum += count;
    squares += count * count;
  }
  const double mean = sum / 1e5, variance = squares / 1e5 - mean * mean;
  check(std::fabs(mean - 1) < 0.015 && std::fabs(variance - 1) < 0.03, "mean and variance are 1");
}

// Any sizes, steps and numbers of replicates: nothing is read or written out of place, and threads never show.
void every_shape_runs() {
  std::mt19937_64 random(3);
  for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{255}, std::size_t{5000}}) {
    std::vector<std::uint64_t> keys(n);
    std::vector<std::uint8_t> steps(n);
    std::vector<std::int64_t> cells(n);
    std::vector<double> weights(n);
    for (std::size_t i = 0; i < n; ++i) {
      keys[i] = random();
      steps[i] = static_cast<std::uint8_t>(random());
      cells[i] = static_cast<std::int64_t>(random() % 9);
      weights[i] = static_cast<double>(random() % 100) / 7;
    }
    for (std::size_t resamples : {0U, 1U, 31U, 32U, 33U, 100U}) {
      std::vector<double> one(4 * resamples), four(4 * resamples);
      std::vector<std::int64_t> one_cells(9 * resamples), four_cells(9 * resamples);
      for (const bool several : {false, true}) {
        thread_limit().store(several ? 4 : 1);
        double* areas = several ? four.data() : one.data();
        const RankedRows rows{keys.data(), steps.data(), nullptr, n};
        const RankedRows weighted{keys.data(), steps.data(), weights.data(), n};
        resampled_areas(rows, 1, 5, resamples, areas);
        resampled_areas(weighted, 1, 5, resamples, areas + resamples);
        resampled_precision(rows, 1, 5, resamples, areas + 2 * resamples);
        resampled_precision(weighted, 1, 5, resamples, areas + 3 * resamples);
        const CellRows held{keys.data(), cells.data(), n, 9};
        resampled_cells(held, 1, 5, resamples, several ? four_cells.data() : one_cells.data());
      }
      bool same = one_cells == four_cells;
      for (std::size_t k = 0; k < 4 * resamples; ++k)
        same = same && (one[k] == four[k] || (std::isnan(one[k]) && std::isnan(four[k])));
      check(same, "threads do not show");
    }
  }
}

}  // namespace

int main() {
  counts_by_hand();
  every_shape_runs();
  return finish("resample");
}

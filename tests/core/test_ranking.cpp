// Tests of rankings in the core alone, built with the address and undefined-behaviour sanitizers.
#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "ranking.hpp"

using namespace tallymark;

namespace {

constexpr double kAll = HUGE_VAL;

double rounded(ExactSum sum) { return sum.nearest(); }

void values_by_hand() {
  const std::vector<double> relevance{2, 0, 3, 0, 1}, score{0.5, 0.7, 0.9, 0.4, 0.1};
  const std::vector<std::int64_t> codes(5, 0);
  const Rankings one({relevance.data(), score.data(), codes.data(), nullptr, 5, 1}, false);
  check(one.present == 1 && one.absent == 0 && one.single == 0, "one query");
  check(one.highest == 3.0, "the highest relevance");
  check(rounded(one.total({Measure::reciprocal_rank, kAll, false, false})) == 1.0, "the first is relevant");
  check(rounded(one.total({Measure::precision, 2.0, false, false})) == 0.5, "one of two");
  check(std::fabs(rounded(one.total({Measure::average_precision, kAll, false, false})) - (1 + 2. / 3 + 3. / 5) / 3) <
            1e-15,
        "average precision");
}

// Any sizes, ties and weights: nothing is read or written out of place, and threads never show.
void every_shape_runs() {
  std::mt19937_64 random(3);
  for (std::size_t queries : {1U, 2U, 7U, 300U}) {
    for (std::size_t n : {std::size_t{1}, std::size_t{5}, std::size_t{191}, std::size_t{193}, std::size_t{150'000}}) {
      if (queries > n) continue;
      std::vector<double> relevance(n), score(n), weights(queries);
      std::vector<std::int64_t> codes(n);
      for (std::size_t i = 0; i < n; ++i) {
        relevance[i] = n % 2 == 0 ? static_cast<double>(random() % 20) : static_cast<double>(random() % 9) / 4;
        score[i] = static_cast<double>(random() % 11) - 5;
        codes[i] = static_cast<std::int64_t>(random() % queries);
      }
      for (double& w : weights) w = static_cast<double>(random() % 4);
      for (const bool stable : {false, true}) {
        const QueryRows rows{relevance.data(), score.data(), codes.data(), weights.data(), n, queries};
        thread_limit().store(1);
        const Rankings alone(rows, stable);
        thread_limit().store(4);
        const Rankings together(rows, stable);
        check(alone.present == together.present && alone.absent == together.absent, "counts");
        for (int measure = 0; measure < kMeasures; ++measure)
          for (const double k : {1.0, 3.0, 1e300, kAll})
            for (const bool strict : {false, true}) {
              if (std::isinf(k) && measure == static_cast<int>(Measure::precision)) continue;
              const Wish wish{static_cast<Measure>(measure), k, measure == 0, strict};
              const double a = rounded(alone.total(wish)), b = rounded(together.total(wish));
              check(bits(a) == bits(b), "threads never show");
              check(a >= 0.0 && a <= 3.0 * static_cast<double>(queries), "every value lies in [0, 1]");
            }
      }
    }
  }
}

void tables_need_no_codes() {
  const std::vector<double> relevance{0, 1, 0, 0, 0, 0}, score{0, 0, 0, -1, -2, -3};
  const Rankings two({relevance.data(), score.data(), nullptr, nullptr, 6, 2}, false);
  check(two.present == 1 && two.absent == 1, "two queries of three rows");
  check(std::fabs(rounded(two.total({Measure::hit, 2.0, false, false})) - 2.0 / 3) < 1e-15, "a tie of three");
  check(rounded(two.total({Measure::hit, 2.0, false, true})) == 0.0, "the worst order");
  const Rankings none({nullptr, nullptr, nullptr, nullptr, 0, 0}, false);
  check(none.present == 0 && none.total({}).is_zero(), "no queries");
}

}  // namespace

int main() {
  values_by_hand();
  every_shape_runs();
  tables_need_no_codes();
  return finish("ranking");
}

// Tests of the core alone, built with the address and undefined-behaviour sanitizers.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "check.hpp"
#include "partitions.hpp"
#include "points.hpp"
#include "regression.hpp"

using namespace tallymark;

namespace {

// The total rounded to double: exact for totals of few significant bits, as the tests use.
double rounded(ExactSum sum) {
  unsigned char raw[ExactSum::kBytes];
  const auto written = sum.write(raw);
  if (written.length == 0) return 0.0;
  double value = 0.0;
  for (std::size_t i = 0; i < written.length; ++i) {
    const auto byte = static_cast<double>(i + 1 == written.length ? static_cast<int>(static_cast<signed char>(raw[i]))
                                                                  : static_cast<int>(raw[i]));
    value += std::ldexp(byte, static_cast<int>(8 * i + 32 * written.skipped) - 1074);
  }
  return value;
}

void sums_are_exact() {
  ExactSum sum;
  for (double x : {1e200, 1e100, 1.0, -1e200, -1e100}) sum.add(x);
  check(rounded(sum) == 1.0, "huge terms cancel exactly");
  ExactSum tiny;
  for (double x : {5e-324, 1.0, -1.0, 5e-324}) tiny.add(x);
  check(rounded(tiny) == 1e-323, "the smallest numbers survive");
  ExactSum negative;
  negative.add(-0.75);
  check(rounded(negative) == -0.75, "negative totals");
  ExactSum infinite;
  for (double x : {HUGE_VAL, -HUGE_VAL, HUGE_VAL, std::nan(""), 1.0}) infinite.add(x);
  check(infinite.above() == 2 && infinite.below() == 1 && infinite.undefined() == 1, "infinite terms are counted");
  check(rounded(infinite) == 1.0, "and leave the finite total alone");
}

void blocks_equal_single_terms() {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> exponent(-1070, 1020);
  for (int wide = 0; wide < 2; ++wide) {
    for (std::size_t n : {1U, 7U, 8U, 1000U, 1024U}) {
      std::vector<double> x(n);
      for (double& v : x) v = std::ldexp(normal(random), wide != 0 ? exponent(random) : 0);
      ExactSum block, single;
      add_block(block, n, largest(n, [&](std::size_t i) { return x[i]; }), [&](std::size_t i) { return x[i]; });
      for (double v : x) single.add(v);
      unsigned char a[ExactSum::kBytes], b[ExactSum::kBytes];
      const auto la = block.write(a), lb = single.write(b);
      bool same = la.length == lb.length && la.skipped == lb.skipped;
      for (std::size_t i = 0; same && i < la.length; ++i) same = a[i] == b[i];
      check(same, "a block equals its terms");
    }
  }
}

void near(double found, double expected, const char* what) {
  check(std::fabs(found - expected) <= 4e-16 * std::fabs(expected), what);
}

void elementary_functions_are_accurate() {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> power(-300, 300), small(-0.28, 0.4);
  for (int i = 0; i < 20000; ++i) {
    const double x = std::pow(10.0, power(random));
    near(log_of(x), std::log(x), "log");
    const double y = small(random);
    near(log1p_of(y), std::log1p(y), "log1p");
    near(log1p_near(y), std::log1p(y), "log1p near 0");
    near(expm1_of(y), std::expm1(y), "expm1");
  }
}

void exponentials_are_accurate() {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> any(-700, 700);
  for (int i = 0; i < 20000; ++i) {
    const double x = any(random);
    near(exp_of(x), std::exp(x), "exp");
  }
  check(exp_of(1000) == INFINITY, "exp overflows to infinity");
  check(exp_of(-1000) == 0.0, "exp underflows to zero");
  check(exp_of(-740) > 0.0, "exp reaches the subnormal numbers");
  check(log_of(5e-324) < -744.4 && log_of(5e-324) > -744.5, "log of the smallest number");
}

void log_cosh_is_accurate() {
  for (double x : {1e-200, 1e-9, 1e-4, 0.1, 0.7, 0.99, 1.01, 3.0, 20.0})
    check(std::fabs(log_cosh_of(x) - (x < 1e-3 ? x * x / 2 * (1 - x * x / 6) : std::log(std::cosh(x)))) <=
              1e-14 * log_cosh_of(x) + 1e-16 * (x > 1e-3 ? 1.0 : 0.0),
          "log cosh");
}

void halves_are_read() {
  check(half_to_double(0x3c00) == 1.0, "half one");
  check(half_to_double(0xc000) == -2.0, "half minus two");
  check(half_to_double(0x0001) == std::ldexp(1.0, -24), "smallest half");
  check(half_to_double(0x7bff) == 65504.0, "largest half");
  check(std::isinf(half_to_double(0xfc00)) && half_to_double(0xfc00) < 0, "half minus infinity");
  check(std::isnan(half_to_double(0x7e00)), "half NaN");
}

Column column(const std::vector<double>& x) {
  return {reinterpret_cast<const char*>(x.data()), sizeof(double), Type::f64};
}

void every_term_runs_on_every_length() {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> uniform(0.5, 2.0);
  for (std::size_t n : {1U, 15U, 1024U, 1025U, 200000U}) {
    std::vector<double> y(n), p(n), q(n), w(n);
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = uniform(random);
      p[i] = uniform(random);
      q[i] = p[i] + 1.0;
      w[i] = i % 3 == 0 ? 0.0 : uniform(random);
    }
    Table table;
    table.truth = {column(y)};
    table.prediction = {column(p), column(q)};
    table.rows = n;
    std::vector<Task> tasks;
    for (int t = 0; t < kTerms; ++t) tasks.push_back({static_cast<Term>(t), 0.5, 0, 0});
    for (int weighted = 0; weighted < 2; ++weighted) {
      table.weighted = weighted != 0;
      table.weight = column(w);
      for (int threads : {1, 3}) {
        thread_limit().store(threads);
        const Totals totals = total(table, tasks);
        check(!totals.bad_value && !totals.bad_weight, "good input is accepted");
      }
    }
    table.weighted = true;
    w[n - 1] = -1.0;
    check(total(table, tasks).bad_weight, "a negative weight is refused");
    table.weighted = false;
    y[n / 2] = NAN;
    check(total(table, tasks).bad_value, "NaN is refused");
  }
}

void totals_are_rounded_once() {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> exponent(-1074, 1000);
  for (int i = 0; i < 5000; ++i) {
    const double x = std::ldexp(normal(random), exponent(random));
    ExactSum sum;
    sum.add(x);
    check(sum.nearest() == x, "one term is its own total");
    const double y = std::ldexp(x, -static_cast<int>(random() % 120));
    sum.add(y);
    check(sum.nearest() == x + y, "two terms round as the processor rounds them");
  }
  ExactSum tie;
  for (double x : {1.0, 0x1p-53}) tie.add(x);
  check(tie.nearest() == 1.0, "a tie goes to the even neighbour");
  tie.add(5e-324);
  check(tie.nearest() == 1.0 + 0x1p-52, "unless anything lies above it");
  ExactSum none;
  check(none.nearest() == 0.0, "no terms");
  for (double x : {1e308, 1e308}) none.add(x);
  check(none.nearest() == HUGE_VAL, "a total beyond the range of double");
}

void partitions_agree() {
  const std::vector<double> sizes = {10, 20, 70};
  const std::vector<std::int64_t> index = {2, 0, 1}, whole = {10, 20, 70}, ones(100, 1);
  const std::vector<double> counts = {70, 10, 20};
  const double h = entropy(sizes.data(), 3, 100);
  near(h, -(0.1 * std::log(0.1) + 0.2 * std::log(0.2) + 0.7 * std::log(0.7)), "entropy");
  for (int threads : {1, 3}) {
    thread_limit().store(threads);
    check(mutual_information({index.data(), index.data(), counts.data(), sizes.data(), sizes.data(), 3, 100}) == h,
          "a partition shares its entropy with itself");
    near(expected_mutual_information(whole.data(), 3, ones.data(), 100, 100), h, "single rows share everything");
    std::vector<std::int64_t> many;
    std::int64_t total = 0;
    for (std::int64_t size = 1; size < 300; ++size) total += many.emplace_back(size);
    const double value = expected_mutual_information(many.data(), many.size(), many.data(), many.size(), total);
    check(value > 0.80467 && value < 0.80468, "many sizes");
  }
  const std::int64_t half[] = {std::int64_t{1} << 52, std::int64_t{1} << 52};
  near(expected_mutual_information(half, 2, half, 2, std::int64_t{1} << 53), 0x1p-54, "the largest totals");
}

void points_are_measured() {
  const std::vector<double> line = {0, 1, 10, 12, 5};
  const std::vector<std::int64_t> codes = {0, 0, 2, 2, 3};
  std::vector<double> out(5);
  silhouette({line.data(), codes.data(), nullptr, 5, 1, 4}, out.data());
  near(out[0], 0.8, "the nearest other cluster counts");
  near(out[2], 0.6, "and is another for other points");
  check(out[4] == 0.0, "a lone point counts 0");
  const Spread spread = centroid_spread({line.data(), codes.data(), nullptr, 5, 1, 4});
  check(std::ldexp(spread.centroids[2], spread.exponent) == 11.0, "centroid");
  check(std::ldexp(spread.squares[0], 2 * spread.exponent) == 0.5, "squares");
  check(spread.weights[1] == 0.0 && spread.distances[1] == 0.0, "a cluster without rows");

  std::mt19937_64 random(6);
  std::normal_distribution<double> normal;
  for (std::size_t n : {1U, 7U, 8U, 9U, 64U, 65U, 1500U}) {
    for (std::size_t d : {1U, 3U, 90U}) {
      std::vector<double> points(n * d), weights(n), first(n), second(n);
      std::vector<std::int64_t> any(n);
      for (double& x : points) x = std::ldexp(normal(random), 1000);
      for (std::size_t i = 0; i < n; ++i) {
        weights[i] = static_cast<double>(1 + random() % 3);
        any[i] = static_cast<std::int64_t>(random() % std::min<std::size_t>(n, 6));
      }
      const Points table{points.data(), any.data(), weights.data(), n, d, n};
      thread_limit().store(1);
      silhouette(table, first.data());
      const Spread alone = centroid_spread(table);
      thread_limit().store(4);
      silhouette(table, second.data());
      const Spread together = centroid_spread(table);
      for (std::size_t i = 0; i < n; ++i) check(bits(first[i]) == bits(second[i]), "threads never show");
      check(alone.centroids == together.centroids && alone.centre == together.centre, "nor in centroids");
      check(alone.distances == together.distances && alone.squares == together.squares, "nor in the spread");
    }
  }
}

}  // namespace

int main() {
  sums_are_exact();
  blocks_equal_single_terms();
  elementary_functions_are_accurate();
  exponentials_are_accurate();
  log_cosh_is_accurate();
  halves_are_read();
  every_term_runs_on_every_length();
  totals_are_rounded_once();
  partitions_agree();
  points_are_measured();
  return finish("core");
}

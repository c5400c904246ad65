// Tests of scores in order, built with the sanitizers.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "made_runs.hpp"

using namespace tallymark;

namespace {

using Counted = std::map<std::pair<double, double>, std::int64_t>;

// Runs are what a map of score and weight holds, in its order, and leave away what is all ones.
void equals(const Runs& runs, const Counted& expected, const char* what) {
  bool same = runs.size == expected.size(), ones = true, once = true;
  std::size_t i = 0;
  for (const auto& [pair, count] : expected) {
    if (!same) break;
    same = runs.scores[i] == pair.first && !(runs.scores[i] == 0.0 && std::signbit(runs.scores[i])) &&
           runs.weight(i) == pair.second && runs.count(i) == count;
    ones = ones && pair.second == 1.0;
    once = once && count == 1;
    ++i;
  }
  check(same, what);
  check(!same || ((runs.weights == nullptr) == ones && (runs.counts == nullptr) == once), "ones are left away");
}

void keys_order_as_scores() {
  const double ordered[] = {-1.7e308, -1.0, -1e-310, -5e-324, 0.0, 5e-324, 1e-310, 1.0, 1.7e308};
  for (std::size_t i = 0; i < std::size(ordered); ++i) {
    check(score_of(order_key(ordered[i])) == ordered[i], "a key has its score");
    if (i > 0) check(order_key(ordered[i - 1]) < order_key(ordered[i]), "keys rise with scores");
  }
  check(order_key(-0.0) == order_key(0.0), "both zeros are one");
}

void rows_are_sorted(std::size_t n, bool weighted, int every = 1) {
  for (int kind = 0; kind < kPatterns; kind += every) {
    const std::vector<double> scores = pattern(kind, n);
    std::vector<double> weights(weighted ? n : 0);
    std::vector<std::uint8_t> group(n);
    for (double& w : weights) w = static_cast<double>(1 + random_bits() % 3);
    for (auto& g : group) g = static_cast<std::uint8_t>(random_bits() % 8 == 0 ? random_bits() % 3 : 1);
    std::vector<Counted> expected(4);
    for (std::size_t i = 0; i < n; ++i) {
      if (group[i] > 1) continue;
      const double weight = weighted ? weights[i] : 1.0;
      ++expected[group[i]][{scores[i] + 0.0, weight}];
      ++expected[2U + group[i]][{0.0 - scores[i], weight}];
    }
    const auto found = sorted(scores, weights, group, 2);
    for (std::size_t k = 0; k < 4; ++k) equals(found[k / 2][k % 2], expected[k], "rows of a group in order");
  }
}

// Many rows, for which a map takes too long.
void many_rows_are_sorted(std::size_t n) {
  for (int kind = 0; kind < kPatterns; ++kind) {
    std::vector<double> scores = pattern(kind, n);
    const std::vector<std::uint8_t> group(n, 0);
    const Runs found = sorted(scores, {}, group, 1)[0][0];
    std::sort(scores.begin(), scores.end());
    std::size_t at = 0;
    bool same = true;
    for (std::size_t i = 0; i < found.size && same; ++i)
      for (std::int64_t k = 0; k < found.count(i) && same; ++k) same = at < n && scores[at++] == found.scores[i];
    check(same && at == n, "many rows in order");
  }
}

void scores_that_are_not_finite_are_refused() {
  for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    for (const std::size_t place : {0UL, 4000UL, 7999UL}) {
      std::vector<double> scores(8000);
      for (double& score : scores) score = uniform();
      scores[place] = bad;
      const Dealt dealt{8000, 1, {{8000}}};
      const auto group = [](std::size_t, std::size_t) -> std::size_t { return 0; };
      const auto read = [&](std::size_t first, std::size_t n, std::size_t, double* s) {
        read_rows(column(scores), first, n, s);
      };
      const auto weigh = [](std::size_t, std::size_t, double*) {};
      check(sort_groups<PlainRow>(dealt, 1, group, read, weigh).empty(), "a score that is not finite");
    }
  }
}

// Runs of few distinct scores, as a map and as runs.
std::pair<Counted, Runs> some_runs(std::size_t n, bool weighted, bool counted) {
  Counted held;
  for (std::size_t i = 0; i < n; ++i) {
    const double score = static_cast<double>(random_bits() % 12), weight = static_cast<double>(1 + random_bits() % 2);
    const auto count = static_cast<std::int64_t>(1 + random_bits() % 4);
    held[{score, weighted ? weight : 1.0}] += counted ? count : 0;
  }
  RunsBuilder out(0, weighted);
  for (auto& [pair, count] : held) out.add(pair.first, pair.second, count = std::max<std::int64_t>(count, 1));
  return {held, out.finish()};
}

void runs_merge() {
  for (int round = 0; round < 400; ++round) {
    auto [a, left] = some_runs(random_bits() % 10, random_bits() % 2 == 0, random_bits() % 2 == 0);
    const auto [b, right] = some_runs(random_bits() % 10, random_bits() % 2 == 0, random_bits() % 2 == 0);
    for (const auto& [pair, count] : b) a[pair] += count;
    equals(merge(left, right), a, "both sets of rows");
    equals(merge(right, left), a, "in either order");
  }
}

}  // namespace

int main() {
  keys_order_as_scores();
  for (std::size_t n = 0; n <= 70; ++n) {
    rows_are_sorted(n, false);
    rows_are_sorted(n, true);
  }
  for (const std::size_t n : {2047UL, 2048UL, 2049UL, 5000UL}) {
    rows_are_sorted(n, false);
    rows_are_sorted(n, true);
  }
  for (int threads = 1; threads <= 4; threads += 3) {
    thread_limit().store(threads);
    for (const std::size_t n : {131071UL, 131072UL}) many_rows_are_sorted(n);
  }
  thread_limit().store(4);
  rows_are_sorted(150000, true, 3);
  thread_limit().store(1);
  scores_that_are_not_finite_are_refused();
  runs_merge();
  return finish("scores");
}

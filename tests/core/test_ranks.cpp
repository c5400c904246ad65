// Tests of how the scores of two classes stand to each other, and of the curves, built with the sanitizers.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "curve_points.hpp"
#include "made_runs.hpp"
#include "placements.hpp"

using namespace tallymark;

namespace {

// Every pair of rows is looked at; every threshold counts all rows again.
struct Naive {
  Signed twice_wins = 0, farthest = 0;
  long double area = 0, distance = 0, steps = 0, trapezoids = 0;
};

Naive naive(const Runs& negative, const Runs& positive) {
  Naive out;
  const auto total = [](const Runs& runs, double from) {
    long double sum = 0;
    for (std::size_t i = 0; i < runs.size; ++i)
      if (runs.scores[i] >= from) sum += static_cast<long double>(runs.weight(i)) * runs.count(i);
    return sum;
  };
  const long double p = total(positive, -HUGE_VAL), n = total(negative, -HUGE_VAL);
  for (std::size_t j = 0; j < positive.size; ++j)
    for (std::size_t i = 0; i < negative.size; ++i) {
      const double a = positive.scores[j], b = negative.scores[i];
      const int twice = a > b ? 2 : a == b ? 1 : 0;
      out.twice_wins += static_cast<Signed>(twice) * positive.count(j) * negative.count(i);
      out.area += 0.5L * twice * positive.weight(j) * positive.count(j) * negative.weight(i) * negative.count(i);
    }
  out.area /= p * n;
  std::map<double, int, std::greater<>> thresholds;
  for (const Runs* runs : {&negative, &positive})
    for (std::size_t i = 0; i < runs->size; ++i) thresholds[runs->scores[i]] = 1;
  long double before = -1, tp_before = 0;
  for (const auto& [score, unused] : thresholds) {
    const long double tp = total(positive, score), fp = total(negative, score), now = tp / (tp + fp);
    if (before < 0) before = now;
    out.steps += (tp - tp_before) * now;
    out.trapezoids += (tp - tp_before) * (now + before) / 2;
    out.distance = std::max(out.distance, std::abs(tp / p - fp / n));
    out.farthest = std::max(out.farthest, static_cast<Signed>(std::abs(tp * n - fp * p)));
    before = now;
    tp_before = tp;
  }
  return out;
}

bool near(double found, long double expected) { return std::abs(found - expected) <= 1e-15L + 4e-16L * expected; }

void ranks_are_counted() {
  for (int round = 0; round < 300; ++round) {
    const int kind = round % kPatterns;
    const Runs negative = made(pattern(kind, 1 + random_bits() % 40), false);
    const Runs positive = made(pattern(kind, 1 + random_bits() % 40), false);
    const Naive expected = naive(negative, positive);
    for (const RankWants wanted :
         {RankWants{}, RankWants{false, false, true}, RankWants{true, false, true}, RankWants{true, true, true}}) {
      RankCounts found = count_ranks(negative, positive, wanted);
      check(found.twice_wins == expected.twice_wins, "pairs in order");
      if (wanted.distance) check(std::max(found.highest, -found.lowest) == expected.farthest, "the largest distance");
      if (wanted.steps) check(near(found.steps.nearest(), expected.steps), "steps of precision");
      if (wanted.trapezoids) check(near(found.trapezoids.nearest(), expected.trapezoids), "trapezoids of precision");
    }
  }
}

bool same(RankCounts& a, RankCounts& b) {
  return a.positives == b.positives && a.negatives == b.negatives && a.twice_wins == b.twice_wins &&
         a.highest == b.highest && a.lowest == b.lowest && bits(a.steps.nearest()) == bits(b.steps.nearest()) &&
         bits(a.trapezoids.nearest()) == bits(b.trapezoids.nearest());
}

// The walk that writes the ROC curve takes the same sums, and parts of a walk are of as many steps.
void roc_walks_take_sums() {
  for (int round = 0; round < 300; ++round) {
    const int kind = round % kPatterns;
    const std::size_t most = round % 10 == 0 ? 400000 : 40;  // many rows are cut for several threads
    const Runs negative = made(pattern(kind, 1 + random_bits() % most), false);
    const Runs positive = made(pattern(kind, 1 + random_bits() % most), false);
    for (const bool steps : {false, true}) {
      RankCounts found, expected = count_ranks(negative, positive, {steps, false, true});
      const CurvePoints curve = list_roc(negative, positive, true, steps, found);
      check(same(found, expected), "sums beside the ROC curve");
      const CurvePoints alone = list_points<RocCurve>(negative, positive, true);
      bool equal = curve.size == alone.size;
      for (std::size_t k = 0; equal && k < curve.columns; ++k)
        equal = std::equal(curve.column(k), curve.column(k) + curve.size, alone.column(k));
      check(equal, "the ROC curve with sums");
    }
    for (const std::size_t count : {1, 2, 3, 8}) {
      const auto parts = cut_walk(negative, positive, count);
      const std::size_t rows = negative.size + positive.size;
      std::size_t i = negative.size, j = positive.size;
      for (const auto& part : parts) {
        check(part.negative == i && part.positive == j, "a part begins where the one above ends");
        const std::size_t steps = (i - part.negative_end) + (j - part.positive_end);
        check(steps <= rows / count + 3, "parts of as many steps");
        i = part.negative_end;
        j = part.positive_end;
        check(i == 0 || j == positive.size || negative.scores[i - 1] < positive.scores[j], "scores are not parted");
        check(j == 0 || i == negative.size || positive.scores[j - 1] < negative.scores[i], "scores are not parted");
      }
      check(i == 0 && j == 0, "parts cover the walk");
    }
  }
}

Runs between(const Runs& runs, std::size_t first, std::size_t last) {
  Runs out = runs;
  out.scores += first;
  if (out.counts != nullptr) out.counts += first;
  out.size = last - first;
  return out;
}

// The sums of stretches that were walked one by one, knowing only what lies above, are those of all scores.
void stretches_add_up() {
  for (int round = 0; round < 200; ++round) {
    const int kind = round % kPatterns;
    const std::size_t most = round % 20 == 0 ? 100000 : 40;
    const Runs negative = made(pattern(kind, random_bits() % most), false);
    const Runs positive = made(pattern(kind, random_bits() % most), false);
    const RankWants wanted{true, true, true};
    const RankCounts classes = count_classes(negative, positive);
    RankCounts expected = count_ranks(negative, positive, wanted);
    for (const std::size_t count : {1, 2, 7}) {
      std::vector<RankCounts> found;
      for (const auto& part : cut_walk(negative, positive, count))
        found.push_back(count_stretch(between(negative, part.negative_end, part.negative),
                                      between(positive, part.positive_end, part.positive), wanted, 1 + round % 3,
                                      classes, part.fp, part.tp));
      RankCounts together = add_parts(classes, found);
      check(same(together, expected), "stretches add up");
      SquareSum of_negatives, of_positives;
      for (const auto& part : cut_walk(negative, positive, count)) {
        const PlacementSums placed =
            sum_placements(between(negative, part.negative_end, part.negative),
                           between(positive, part.positive_end, part.positive), classes.negatives, part.fp, part.tp);
        of_negatives.add(placed.of_negatives);
        of_positives.add(placed.of_positives);
      }
      const PlacementSums placed = sum_placements(negative, positive, classes.negatives, 0, 0);
      check(placed.twice_wins == expected.twice_wins, "places add up to wins");
      check(placed.of_negatives.digits() == of_negatives.digits(), "squares of places of negatives add up");
      check(placed.of_positives.digits() == of_positives.digits(), "squares of places of positives add up");
    }
  }
}

// Squares of numbers of any size, many times: each by long addition.
void squares_are_wide() {
  const std::uint64_t most = std::uint64_t{1} << 62;
  SquareSum sum;
  sum.add(most, 2 * most);  // 2^188
  check(sum.digits() == std::array<std::uint64_t, 3>{0, 0, std::uint64_t{1} << 60}, "the largest square");
  SquareSum by_one, at_once;
  for (int k = 0; k < 1000; ++k) by_one.add(1, most + 12345);
  at_once.add(1000, most + 12345);
  check(by_one.digits() == at_once.digits(), "a square as often as it counts");
}

// Every threshold, and how many rows of each class reach it.
void steps_are_listed() {
  for (int round = 0; round < 100; ++round) {
    const bool weighted = round % 3 == 0;
    const Runs negative = made(pattern(round % kPatterns, random_bits() % 40), weighted);
    const Runs positive = made(pattern(round % kPatterns, random_bits() % 40), false);
    const StepList found = list_steps(negative, positive);
    std::map<double, std::pair<double, double>, std::greater<>> expected;
    for (std::size_t i = 0; i < negative.size; ++i)
      expected[negative.scores[i]].second += negative.weight(i) * static_cast<double>(negative.count(i));
    for (std::size_t i = 0; i < positive.size; ++i)
      expected[positive.scores[i]].first += static_cast<double>(positive.count(i));
    check(found.size == expected.size(), "every distinct score");
    double tp = 0, fp = 0;
    std::size_t at = 0;
    for (const auto& [score, here] : expected) {
      if (at == found.size) break;
      tp += here.first;
      fp += here.second;
      check(found.scores[at] == score && found.hits[at] == tp && near(found.alarms[at], fp), "what reaches a score");
      ++at;
    }
  }
}

// Whether a point is more than what lies between its neighbours, by how many rows of each class the steps to it and
// from it take: the ROC curve turns, recall is not that of both neighbours, and all other curves need every point.
struct Taken {
  Signed dn, dp;
};

template <class Curve>
bool is_needed(const Taken& to, const Taken& from) {
  if constexpr (std::is_same_v<Curve, RocCurve>) return to.dn * from.dp != from.dn * to.dp;
  if constexpr (std::is_same_v<Curve, PrecisionRecallCurve>) return to.dp != 0 || from.dp != 0;
  return true;
}

// The points of a curve from its steps, one after the other: the score first, then the columns.
template <class Curve>
std::vector<std::vector<double>> points_of(const StepList& steps, bool drop) {
  const auto taken = [&](std::size_t i) -> Taken {
    const double tp = i == 0 ? 0.0 : steps.hits[i - 1], fp = i == 0 ? 0.0 : steps.alarms[i - 1];
    return {static_cast<Signed>(steps.alarms[i] - fp), static_cast<Signed>(steps.hits[i] - tp)};
  };
  const std::size_t size = steps.size;
  const double p = size == 0 ? 0.0 : steps.hits[size - 1], n = size == 0 ? 0.0 : steps.alarms[size - 1];
  std::vector<std::vector<double>> out;
  const auto put = [&](double score, const typename Curve::Point& point) {
    out.push_back({score});
    out.back().insert(out.back().end(), point.begin(), point.end());
  };
  put(HUGE_VAL, Curve::before(size == 0 ? typename Curve::Point{} : Curve::at({steps.hits[0], steps.alarms[0], p, n})));
  for (std::size_t i = 0; i < size; ++i)
    if (!drop || i + 1 == size || is_needed<Curve>(taken(i), taken(i + 1)))
      put(steps.scores[i], Curve::at({steps.hits[i], steps.alarms[i], p, n}));
  return out;
}

template <class Curve>
bool lists(const Runs& negative, const Runs& positive, const StepList& steps, bool drop) {
  const CurvePoints found = list_points<Curve>(negative, positive, drop);
  const auto expected = points_of<Curve>(steps, drop);
  bool same = found.size == expected.size() && found.columns == expected[0].size();
  for (std::size_t i = 0; i < expected.size() && same; ++i)
    for (std::size_t k = 0; k < found.columns; ++k) {
      const double a = found.column(k)[i], b = expected[i][k];
      same = same && (bits(a) == bits(b) || (std::isnan(a) && std::isnan(b)));
    }
  return same;
}

bool lists_curves(const Runs& negative, const Runs& positive, const StepList& steps) {
  bool same = true;
  for (const bool drop : {false, true})
    same = same && lists<RocCurve>(negative, positive, steps, drop) &&
           lists<PrecisionRecallCurve>(negative, positive, steps, drop) &&
           lists<DetCurve>(negative, positive, steps, drop) && lists<LiftCurve>(negative, positive, steps, drop);
  return same;
}

void curves_are_listed() {
  for (int round = 0; round < 300; ++round) {
    const Runs negative = made(pattern(round % kPatterns, random_bits() % 40), false);
    const Runs positive = made(pattern(round % kPatterns, random_bits() % 40), false);
    check(lists_curves(negative, positive, list_steps(negative, positive)), "the points of curves");
  }
  // A straight line of unequal steps has its ends only; the products of these counts need more than 64 bits.
  RunsBuilder some(2, false), more(2, false);
  for (const double score : {1.0, 2.0}) {
    const auto count = static_cast<std::int64_t>(score) << 40;
    some.add(score, 1.0, count);
    more.add(score, 1.0, 3 * count);
  }
  const Runs few = some.finish(), many = more.finish();
  check(list_points<RocCurve>(few, many, true).size == 2 && list_points<RocCurve>(few, many, false).size == 3,
        "a straight line");
}

void threads_change_nothing() {
  constexpr std::size_t kRows = 270000;  // four threads' worth
  for (const auto& [kind, share] : {std::pair{0, 2UL}, {3, 50000UL}, {4, 2UL}, {9, 3UL}}) {
    const std::vector<double> scores = pattern(kind, kRows);
    std::vector<std::uint8_t> group(kRows);
    for (std::size_t i = 0; i < kRows; ++i) group[i] = i % share == 0 ? 1 : 0;
    RankCounts first;
    StepList listed;
    for (int threads = 1; threads <= 4; ++threads) {
      thread_limit().store(threads);
      const std::vector<Runs> runs = sorted(scores, {}, group, 2)[0];
      RankCounts found = count_ranks(runs[0], runs[1], {true, true, true});
      const StepList steps = list_steps(runs[0], runs[1]);
      if (threads == 1) {
        first = found;
        listed = steps;
      }
      check(same(first, found), "any number of threads");
      bool alike = steps.size == listed.size;
      for (std::size_t i = 0; i < steps.size && alike; ++i)
        alike = steps.scores[i] == listed.scores[i] && steps.hits[i] == listed.hits[i] &&
                steps.alarms[i] == listed.alarms[i];
      check(alike, "steps on any number of threads");
      check(lists_curves(runs[0], runs[1], listed), "curves on any number of threads");
      const RankCounts other = count_ranks(runs[1], runs[0], {true, true, true});
      check(found.twice_wins + other.twice_wins ==
                2 * static_cast<Signed>(found.positives) * static_cast<Signed>(found.negatives),
            "every pair is won by one side, or halved");
      check(other.highest == -found.lowest && other.lowest == -found.highest, "distances change their sign");
    }
    thread_limit().store(1);
  }
}

void ranks_are_weighed() {
  for (int round = 0; round < 600; ++round) {
    const int kind = round % kPatterns;
    const bool far = round % 3 == 0;
    const Runs negative = made(pattern(kind, 1 + random_bits() % 30), round % 2 == 0, far);
    const Runs positive = made(pattern(kind, 1 + random_bits() % 30), true, far);
    const Naive expected = naive(negative, positive);
    const RankWeights found = weigh_ranks(negative, positive);
    long double all = 0;
    for (std::size_t i = 0; i < positive.size; ++i)
      all += static_cast<long double>(positive.weight(i)) * positive.count(i);
    check(found.positives && found.negatives, "there are rows of both");
    check(near(found.area, expected.area), "the share of pairs in order");
    check(near(found.distance, expected.distance), "the distance of rates");
    check(near(found.steps, expected.steps / all), "weighted steps");
    check(near(found.trapezoids, expected.trapezoids / all), "weighted trapezoids");
  }
  // Weights that no common unit holds: precision is that of the rows above, however light they are.
  RunsBuilder light(2, true), heavy(1, true);
  light.add(1.0, 1e300, 1);
  light.add(3.0, 1e-300, 2);
  heavy.add(0.5, 1e308, 1);
  const RankWeights apart = weigh_ranks(heavy.finish(), light.finish());
  check(apart.steps == 1.0 && apart.trapezoids == 1.0, "weights far apart");
  const Runs some = made({1.0, 2.0}, true), none;
  check(count_ranks(none, none, {true, true, true}).twice_wins == 0, "no rows at all");
  check(!weigh_ranks(some, none).positives, "no positives");
  check(weigh_ranks(none, some).positives && !weigh_ranks(none, some).negatives, "no negatives");
  check(weigh_ranks(none, some).steps == 1.0, "all that is there is right");
}

void pairs_hold_twice_the_digits() {
  const Pair third = Pair{1.0, 0.0} / Pair{3.0, 0.0};
  const Pair one = third * 3.0;
  check(std::abs((one - Pair{1.0, 0.0}).value()) < 0x1p-100, "a third, three times");
  check((Pair::sum(1.0, 0x1p-80) - Pair{1.0, 0.0}).value() == 0x1p-80, "what a double loses");
  const Pair square = Pair::product(1.0 + 0x1p-40, 1.0 + 0x1p-40);
  check(square.high + square.low == square.high && (square - Pair::sum(1.0, 0x1p-39)).value() == 0x1p-80,
        "products are whole");
  check(Pair{1.0, -0x1p-60} < Pair{1.0, 0.0} && !(Pair{1.0, 0.0} < Pair{1.0, 0.0}), "order by both parts");
  for (int round = 0; round < 2000; ++round) {
    const Pair a = Pair::sum(uniform() + 0.5, uniform() * 0x1p-55), b = Pair::sum(uniform() + 0.5, uniform() * 0x1p-55);
    const Pair back = (a / b) * b - a, sum = (a + b) - b - a;
    check(std::abs(back.value()) < 0x1p-98 && std::abs(sum.value()) < 0x1p-98, "there and back");
  }
}

}  // namespace

int main() {
  ranks_are_counted();
  thread_limit().store(4);
  roc_walks_take_sums();
  thread_limit().store(1);
  stretches_add_up();
  squares_are_wide();
  steps_are_listed();
  curves_are_listed();
  threads_change_nothing();
  ranks_are_weighed();
  pairs_hold_twice_the_digits();
  return finish("ranks");
}

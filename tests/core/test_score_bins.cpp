// Tests of bins of scores, built with the address and undefined-behaviour sanitizers.
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "check.hpp"
#include "score_bins.hpp"

using namespace tallymark;

namespace {

struct Rows {
  std::vector<std::int64_t> ordered;
  std::vector<std::uint32_t> classes;
};

// Scores of one style: even, of any size, or few distinct ones.
Rows make_rows(std::mt19937_64& random, int style, std::size_t n) {
  std::uniform_real_distribution<double> even;
  Rows out;
  for (std::size_t i = 0; i < n; ++i) {
    double score = even(random);
    if (style == 1) score = (score - 0.5) * std::pow(10.0, static_cast<int>(random() % 600) - 300);
    if (style == 2) score = static_cast<double>(random() % 5) - 2.0;
    std::int64_t key;
    to_ordered(&score, 1, &key);
    out.ordered.push_back(key);
    out.classes.push_back(static_cast<std::uint32_t>(random() % 3));
  }
  return out;
}

// The most first bits that tell no more bins apart than there may be, found one by one.
unsigned bits_of(const Rows& rows, std::size_t most) {
  for (unsigned bits = 64;; --bits) {
    std::set<std::int64_t> bins;
    for (const std::int64_t key : rows.ordered) bins.insert(key >> (64 - bits));
    if (bins.size() <= most) return bits;
  }
}

void check_counts(const ScoreBins& found, const Rows& rows, std::size_t most) {
  const unsigned bits = bits_of(rows, most);
  check(found.kept_bits() == bits, "as many bits are kept as tell few enough bins apart");
  std::map<std::int64_t, std::map<std::uint32_t, std::int64_t>> expected;
  for (std::size_t i = 0; i < rows.ordered.size(); ++i) ++expected[rows.ordered[i] >> (64 - bits)][rows.classes[i]];
  const auto bins = found.bins();
  check(bins.size() == expected.size(), "the bins are those that have rows");
  for (std::uint32_t c = 0; c < 3; ++c) {
    const auto counts = found.counts(c);
    std::size_t k = 0;
    for (auto& [bin, by_class] : expected) {
      check(bins[k] == bin && counts[k] == by_class[c], "every row is counted in its bin and class");
      ++k;
    }
  }
}

}  // namespace

int main() {
  std::mt19937_64 random(1);
  for (int turn = 0; turn < 300; ++turn) {
    const std::size_t n = 1 + random() % 2000, most = 2 + random() % 60;
    const Rows rows = make_rows(random, turn % 3, n);
    std::vector<std::int64_t> sample(rows.ordered.begin(), rows.ordered.begin() + static_cast<std::ptrdiff_t>(n / 3));
    std::sort(sample.begin(), sample.end());
    ScoreBins all(most, sample);
    all.add(rows.ordered.data(), rows.classes.data(), n);
    all.flush();
    check_counts(all, rows, most);

    const std::size_t cut = random() % (n + 1);  // two parts that add up, the classes of one under other numbers
    ScoreBins left(most, {}), right(most, sample);
    left.add(rows.ordered.data(), rows.classes.data(), cut);
    std::vector<std::uint32_t> renamed(rows.classes.begin() + static_cast<std::ptrdiff_t>(cut), rows.classes.end());
    for (auto& each : renamed) each = 2 - each;
    right.add(rows.ordered.data() + cut, renamed.data(), n - cut);
    left.flush();
    right.flush();
    left.add(right, {2, 1, 0});
    check_counts(left, rows, most);
  }
  return finish("score bins");
}

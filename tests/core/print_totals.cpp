// Prints the bytes of every term's total over random rows, and measures of clusters, so that builds for different
// processors can be compared.
#include <cstdio>
#include <random>
#include <vector>

#include "bins.hpp"
#include "partitions.hpp"
#include "points.hpp"
#include "probabilities.hpp"
#include "regression.hpp"
#include "resampled_ranks.hpp"

using namespace tallymark;

namespace {

void print(ExactSum& sum) {
  unsigned char raw[ExactSum::kBytes];
  const auto written = sum.write(raw);
  std::printf("%zu:", written.skipped);
  for (std::size_t i = 0; i < written.length; ++i) std::printf("%02x", raw[i]);
}

}  // namespace

int main() {
  constexpr std::size_t n = 5003;  // whole blocks and a tail
  std::mt19937_64 random(9);
  std::vector<double> y(n), p(n), q(n), w(n);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (std::size_t i = 0; i < n; ++i) {
    const double scale = std::ldexp(1.0, static_cast<int>(random() % 40) - 20);
    y[i] = scale * (uniform() + 0.01);
    p[i] = y[i] * (0.5 + uniform());
    q[i] = p[i] + uniform();
    w[i] = uniform() + 0.5;
  }
  const auto column = [](const std::vector<double>& x) {
    return Column{reinterpret_cast<const char*>(x.data()), sizeof(double), Type::f64};
  };
  Table table;
  table.truth = {column(y)};
  table.prediction = {column(p), column(q)};
  table.weight = column(w);
  table.rows = n;
  for (int weighted = 0; weighted < 2; ++weighted) {
    table.weighted = weighted != 0;
    for (double parameter : {0.5, 1.0, 1.5, 2.0, 2.7}) {
      std::vector<Task> tasks;
      for (int t = 0; t < kTerms; ++t) tasks.push_back({static_cast<Term>(t), parameter, 0, 0});
      Totals totals = total(table, tasks);
      for (Tally& tally : totals.tallies) {
        print(tally.sum);
        std::printf(" %a %a\n", tally.lowest, tally.highest);
      }
    }
  }

  // Probabilities: of one class by sigmoid and log loss, of several by softmax, and in bins.
  constexpr std::size_t classes = 7;
  std::vector<double> yes(n), margin(n), several(n * classes), read(6 * n);
  std::vector<std::int64_t> place(n);
  for (std::size_t i = 0; i < n; ++i) {
    yes[i] = static_cast<double>(random() % 2);
    margin[i] = 40.0 * (uniform() - 0.5);
    place[i] = static_cast<std::int64_t>(random() % classes);
  }
  for (double& m : several) m = 10.0 * uniform();
  table.truth = {column(yes)};
  table.prediction = {column(margin)};
  table.link = Link::sigmoid;
  for (double clip : {0.0, 1e-15, 0.1}) {
    Totals totals = total(table, {{Term::log_loss, clip, 0, 0}});
    print(totals.tallies[0].sum);
    std::printf("\n");
  }
  ProbabilityTable probabilities{{}, place.data(), n, true, false, 1};
  for (std::size_t k = 0; k < classes; ++k)
    probabilities.columns.push_back({reinterpret_cast<const char*>(&several[k]), classes * sizeof(double), Type::f64});
  std::vector<Wanted> wanted;
  for (int k = 0; k < kQuantities; ++k)
    wanted.push_back({static_cast<Quantity>(k), read.data() + static_cast<std::size_t>(k) * n});
  read_probabilities(probabilities, wanted);
  for (std::size_t i = 0; i < read.size(); i += 97) std::printf("%a\n", read[i]);
  const Column chance{reinterpret_cast<const char*>(read.data()), sizeof(double), Type::f64};
  for (Bin& bin : total_bins({column(yes), chance, column(w), true, n}, 9)) {
    print(bin.probability);
    std::printf("\n");
  }

  constexpr std::size_t d = 5, clusters = 30, points = n / d;
  std::vector<std::int64_t> code(points), size(clusters);
  std::vector<double> real_size(clusters), repeats(points), out(points);
  for (std::size_t i = 0; i < points; ++i) {
    const double u = uniform();
    code[i] = static_cast<std::int64_t>(u * u * clusters);
    repeats[i] = static_cast<double>(1 + random() % 3);
    ++size[static_cast<std::size_t>(code[i])];
  }
  for (std::size_t c = 0; c < clusters; ++c) real_size[c] = static_cast<double>(size[c]) + y[c];
  std::printf("%a %a\n", entropy(real_size.data(), clusters, 1.1 * points),
              expected_mutual_information(size.data(), clusters, size.data(), clusters, points));
  const Points table_of_points{y.data(), code.data(), repeats.data(), points, d, clusters};
  silhouette(table_of_points, out.data());
  for (double s : out) std::printf("%a\n", s);
  const Spread spread = centroid_spread(table_of_points);
  for (std::size_t c = 0; c < clusters; ++c)
    std::printf("%a %a %a\n", spread.centroids[c], spread.distances[c], spread.squares[c]);

  std::vector<std::uint64_t> keys(n);
  std::vector<std::uint8_t> steps(n);
  for (std::size_t i = 0; i < n; ++i) {
    keys[i] = random();
    steps[i] = static_cast<std::uint8_t>(random() % 5);
  }
  std::vector<double> areas(70);
  for (const double* weights : {static_cast<const double*>(nullptr), static_cast<const double*>(w.data())}) {
    resampled_areas({keys.data(), steps.data(), weights, n}, 1, 0, areas.size(), areas.data());
    for (const double area : areas) std::printf("%a\n", area);
    resampled_precision({keys.data(), steps.data(), weights, n}, 1, 0, areas.size(), areas.data());
    for (const double area : areas) std::printf("%a\n", area);
  }
  return 0;
}

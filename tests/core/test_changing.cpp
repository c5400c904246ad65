// Kernels whose inputs another thread changes meanwhile, built with the address and undefined-behaviour sanitizers:
// they return anything, or throw, but nothing is read or written out of place, and they end. See `own_copy.hpp`.
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bins.hpp"
#include "check.hpp"
#include "curve_points.hpp"
#include "matching.hpp"
#include "pairs.hpp"
#include "placements.hpp"
#include "points.hpp"
#include "probabilities.hpp"
#include "ranking.hpp"
#include "resampled_cells.hpp"
#include "score_bins.hpp"
#include "scores.hpp"

using namespace tallymark;

namespace {

constexpr std::size_t kRows = 140'000;  // for two threads
constexpr int kRounds = 8;

std::mt19937_64 random_bits(1);

// Another thread that writes to arrays all the time, one version after the other.
class Changing {
 public:
  template <class T>
  void change(std::vector<T>& array, std::vector<T> odd) {
    std::vector<T> mixed = array;
    std::shuffle(mixed.begin(), mixed.end(), random_bits);
    for (const auto& held : {mixed, odd, array}) add(array.data(), held.data(), held.size() * sizeof(T));
  }
  // Runs work while the arrays change; it may throw what kernels throw.
  template <class Work>
  void during(Work&& work) {
    std::atomic<bool> over{false};
    std::thread writer([&] {
      while (!over)
        for (const Write& each : writes_) std::memcpy(each.to, each.from.data(), each.from.size());
    });
    for (int round = 0; round < kRounds; ++round) {
      try {
        work();
      } catch (const InputChanged&) {
      } catch (const std::invalid_argument&) {
      }
    }
    over = true;
    writer.join();
  }

 private:
  struct Write {
    void* to;
    std::vector<char> from;
  };
  void add(void* to, const void* from, std::size_t size) {
    const auto* bytes = static_cast<const char*>(from);
    writes_.push_back({to, {bytes, bytes + size}});
  }
  std::vector<Write> writes_;
};

std::vector<double> uniform_numbers(std::size_t n) {
  std::vector<double> out(n);
  for (double& x : out) x = static_cast<double>(random_bits() >> 11) * 0x1p-53;
  return out;
}

// Any bits as doubles: NaN, infinities and all.
std::vector<double> any_numbers(std::size_t n) {
  std::vector<double> out(n);
  for (double& x : out) x = real(random_bits());
  return out;
}

template <class T>
std::vector<T> any_integers(std::size_t n) {
  std::vector<T> out(n);
  for (T& x : out) x = static_cast<T>(random_bits());
  return out;
}

std::vector<std::int64_t> codes_below(std::size_t n, std::uint64_t count) {
  std::vector<std::int64_t> out(n);
  for (auto& code : out) code = static_cast<std::int64_t>(random_bits() % count);
  return out;
}

Column column(const std::vector<double>& v) { return {reinterpret_cast<const char*>(v.data()), 8, Type::f64}; }
Column column(const std::vector<std::int64_t>& v) { return {reinterpret_cast<const char*>(v.data()), 8, Type::i64}; }

template <class Row>
void scores_are_sorted() {
  std::vector<double> scores = uniform_numbers(kRows), weights(kRows, 2.0);
  std::vector<std::uint8_t> group(kRows);
  Dealt dealt{kRows, 2, std::vector<std::vector<std::size_t>>(2, std::vector<std::size_t>(2))};
  const std::size_t blocks = (kRows + kBlock - 1) / kBlock;
  for (std::size_t i = 0; i < kRows; ++i) {
    group[i] = random_bits() % 2;
    ++dealt.counts[i < blocks / 2 * kBlock ? 0 : 1][group[i]];
  }
  Changing changing;
  changing.change(scores, any_numbers(kRows));
  changing.change(weights, any_numbers(kRows));
  changing.during([&] {
    sort_groups<Row>(
        dealt, 1, [&](std::size_t, std::size_t i) -> std::size_t { return group[i]; },
        [&](std::size_t first, std::size_t n, std::size_t, double* out) { read_rows(column(scores), first, n, out); },
        [&](std::size_t first, std::size_t n, double* out) { read_rows(column(weights), first, n, out); });
  });
}

void walks_end() {
  std::vector<double> low = uniform_numbers(kRows), high = uniform_numbers(kRows), weights(kRows, 1.5);
  std::sort(low.begin(), low.end());
  std::sort(high.begin(), high.end());
  Runs negative, positive;
  negative.scores = low.data();
  positive.scores = high.data();
  negative.size = positive.size = kRows;
  Runs heavy = positive;
  heavy.weights = weights.data();
  Changing changing;
  changing.change(low, any_numbers(kRows));
  changing.change(high, any_numbers(kRows));
  changing.during([&] { count_ranks(negative, positive, {true, true, true}); });
  changing.during([&] {
    RankCounts counts;
    list_roc(negative, positive, true, true, counts);
    list_points<PrecisionRecallCurve>(negative, positive, false);
  });
  changing.during([&] { list_steps(negative, heavy); });
  changing.during([&] { weigh_ranks(negative, heavy); });
  changing.during([&] { sum_placements(negative, positive, kRows, 0, 0); });
  changing.during([&] { merge(negative, positive); });
}

void labels_are_counted() {
  std::vector<std::int64_t> few = codes_below(kRows, 9), many = codes_below(kRows, 1 << 20);
  std::vector<double> reals(kRows), weights = uniform_numbers(kRows);
  for (std::size_t i = 0; i < kRows; ++i) reals[i] = static_cast<double>(few[i]);
  std::vector<std::uint32_t> texts(kRows * 6);
  for (auto& c : texts) c = 'a' + random_bits() % 2;
  Changing changing;
  changing.change(few, any_integers<std::int64_t>(kRows));
  changing.change(many, any_integers<std::int64_t>(kRows));
  changing.change(reals, any_numbers(kRows));
  changing.change(texts, any_integers<std::uint32_t>(kRows * 6));
  changing.change(weights, any_numbers(kRows));
  const auto count = [](LabelReader& a, LabelReader& b) {
    const auto found = count_rows(a, b, kRows);
    std::vector<std::uint32_t> codes;
    for (const auto& e : found.entries) codes.push_back(e.row);
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
    a.sort(codes);
    for (const std::uint32_t code : codes) check(code < a.size(), "a code that there is");
  };
  const auto count_columns = [&](const Column& a, const Column& b) {
    changing.during([&] { count(*read_numbers(a, kRows, true), *read_numbers(b, kRows, true)); });
  };
  count_columns(column(few), column(reals));
  count_columns(column(many), column(few));
  changing.during([&] {
    TextReader a({reinterpret_cast<const char*>(texts.data()), 24, 24, true});
    TextReader b({reinterpret_cast<const char*>(texts.data()), 24, 12, false});
    count(a, b);
  });
  changing.during([&] {
    const auto a = read_numbers(column(few), kRows, false), b = read_numbers(column(few), kRows, false);
    const WeightRange range = range_of_weights(column(weights), kRows);
    if (range.bad) return;
    if (range.width(kRows) < 128)
      weigh_rows(*a, *b, kRows, column(weights), range);
    else
      sum_rows(*a, *b, kRows, column(weights), range);
  });
}

// Labels stay what they were when they were read, in a fork and after it too: sorting needs an order that stays.
void texts_are_kept() {
  char texts[] = "the first text of manythe other text of many";
  TextReader reader({texts, 22, 22, false});
  auto fork = reader.fork();
  std::uint32_t codes[2];
  reader.read(0, 1, codes);
  fork->read(0, 2, codes);
  const auto adopted = reader.adopt(*fork);
  fork.reset();
  std::fill_n(texts, 44, 'z');
  check(reader.label(0).text == "the first text of many", "the text that was read");
  check(reader.label(adopted[1]).text == "the other text of many", "the text that a fork has read");
  check(reader.less(0, adopted[1]), "in their order");
  reader.read(0, 2, codes);
  check(codes[0] == 2 && codes[1] == 2 && reader.size() == 3, "a new text");
}

void probabilities_are_read() {
  constexpr std::size_t kClasses = 5;
  std::vector<double> p(kRows * kClasses, 1.0 / kClasses), out(2 * kRows);
  std::vector<std::int64_t> places = codes_below(kRows, kClasses);
  Changing changing;
  changing.change(places, any_integers<std::int64_t>(kRows));
  ProbabilityTable table{{}, places.data(), kRows};
  for (std::size_t k = 0; k < kClasses; ++k)
    table.columns.push_back({reinterpret_cast<const char*>(p.data() + k), 8 * kClasses, Type::f64});
  changing.during(
      [&] { read_probabilities(table, {{Quantity::happened, out.data()}, {Quantity::right, out.data() + kRows}}); });
  changing.during([&] { classes_present(places.data(), kRows, kClasses); });
  std::vector<double> chance = uniform_numbers(kRows);
  Changing chances;
  chances.change(chance, any_numbers(kRows));
  chances.during([&] { total_bins({column(places), column(chance), column(chance), true, kRows}, 10); });
  chances.during([&] {
    std::vector<std::int64_t> ordered(kBlock);
    std::vector<double> scores(kBlock);
    const std::vector<std::uint32_t> classes(kBlock, 1);
    ScoreBins bins(16, {0, 1});
    for (std::size_t first = 0; first + kBlock <= kRows; first += kBlock) {
      read_rows(column(chance), first, kBlock, scores.data());
      to_ordered(scores.data(), kBlock, ordered.data());
      bins.add(ordered.data(), classes.data(), kBlock);
    }
    bins.flush();
  });
}

void codes_are_indices() {
  constexpr std::size_t kCodes = 50, kFewer = 3000;
  std::vector<std::int64_t> codes = codes_below(kRows, kCodes);
  std::vector<double> relevance(kRows), score = uniform_numbers(kRows), coordinates = uniform_numbers(2 * kFewer);
  for (double& r : relevance) r = static_cast<double>(random_bits() % 4);
  Changing changing;
  changing.change(codes, any_integers<std::int64_t>(kRows));
  changing.change(relevance, any_numbers(kRows));
  changing.change(score, any_numbers(kRows));
  changing.change(coordinates, any_numbers(2 * kFewer));
  changing.during([&] {
    const Rankings rankings({relevance.data(), score.data(), codes.data(), nullptr, kRows, kCodes}, false);
    rankings.total({Measure::ndcg, 10.0, false, false});
  });
  Changing relevances;
  relevances.change(relevance, std::vector<double>(kRows, -3.0));
  relevances.during([&] {
    const Rankings rankings({relevance.data(), score.data(), nullptr, nullptr, kRows, kRows / 70}, false);
    rankings.total({Measure::ndcg, 10.0, false, false});
  });
  const Points points{coordinates.data(), codes.data(), nullptr, kFewer, 2, kCodes};
  std::vector<double> out(kFewer);
  changing.during([&] { silhouette(points, out.data()); });
  changing.during([&] { centroid_spread(points); });
  std::vector<std::int64_t> counts(40 * kCodes);
  changing.during([&] { resampled_cells({nullptr, codes.data(), kRows, kCodes}, 1, 0, 40, counts.data()); });
}

// Arrow texts by their offsets; the last one says how many bytes there are.
void offsets_are_cut() {
  constexpr std::size_t kTexts = 70'000, kWidth = 11;
  std::vector<std::int32_t> offsets(kTexts + 1);
  for (std::size_t i = 0; i <= kTexts; ++i) offsets[i] = static_cast<std::int32_t>(i * kWidth);
  const std::vector<char> data(kTexts * kWidth, 'x');
  std::vector<std::int32_t> odd = any_integers<std::int32_t>(kTexts + 1);
  for (std::size_t i = 0; i < odd.size(); i += 2) odd[i] = static_cast<std::int32_t>(random_bits() % data.size());
  odd.back() = offsets.back();
  const void* buffers[] = {nullptr, offsets.data(), data.data()};
  ArrowSchema schema{};
  schema.format = "u";
  schema.release = [](ArrowSchema* s) { s->release = nullptr; };
  ArrowArray array{};
  array.length = kTexts;
  array.n_buffers = 3;
  array.buffers = buffers;
  array.release = [](ArrowArray* a) { a->release = nullptr; };
  std::vector<Owned<ArrowArray>> arrays;
  arrays.emplace_back(&array);
  const auto column = std::make_shared<const ArrowColumn>(Owned<ArrowSchema>(&schema), std::move(arrays));
  std::vector<std::int32_t> codes(kTexts);
  Changing changing;
  changing.change(offsets, odd);
  changing.during([&] { TextCodes().code(column, codes.data()); });
  changing.during([&] { are_plain(*column); });
  changing.during([&] {
    ArrowReader a(column, false), b(column, false);
    count_rows(a, b, kTexts);
  });
}

}  // namespace

int main() {
  thread_limit() = 2;
  scores_are_sorted<PlainRow>();
  scores_are_sorted<WeightedRow>();
  walks_end();
  labels_are_counted();
  texts_are_kept();
  probabilities_are_read();
  codes_are_indices();
  offsets_are_cut();
  return finish("changing inputs");
}

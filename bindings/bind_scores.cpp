#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "given_runs.hpp"
#include "label_input.hpp"
#include "pairs.hpp"
#include "score_bins.hpp"
#include "scores.hpp"
#include "wide.hpp"

namespace nb = nanobind;
using namespace tallymark;

namespace {

// The weights of rows, checked while they are read.
struct Weights {
  std::optional<Buffer> held;
  Column column;
  bool all_one = true, bad = false;
  ExactSum total;

  Weights(nb::handle source, std::size_t rows) {
    if (source.is_none()) return;
    held.emplace(source);
    const auto columns = held->columns();
    if (held->rows() != rows || columns.size() != 1) throw nb::value_error("weight must be one number per row");
    column = columns.front();
  }
  bool given() const { return held.has_value(); }
};

// What one range of blocks found.
struct Range {
  std::unique_ptr<LabelReader> fork;
  std::vector<std::size_t> counts = std::vector<std::size_t>(256, 0);
  ExactSum total;
  bool all_one = true, bad = false, many = false;
  std::array<std::uint8_t, 256> group{};
};

// Marks rows of weight zero, and adds the weights up.
void weigh(const Column& weight, std::size_t first, std::size_t n, std::uint8_t* codes, Range& out) {
  double w[kBlock];
  read_rows(weight, first, n, w);
  const WeightRange range = range_of_block(w, n);
  out.bad = out.bad || range.bad;
  if (range.bad) return;
  for (std::size_t i = 0; i < n; ++i) {
    if (w[i] == 0.0)
      codes[i] = kNoGroup;
    else
      out.all_one = out.all_one && w[i] == 1.0;
  }
  add_block(out.total, n, range.highest, TM_EACH(w[i]));
}

// Columns by group; nothing if a score is not finite.
template <class Row, class Group>
std::vector<std::vector<Runs>> sort_dealt(const Dealt& dealt, const Column* columns, std::size_t count,
                                          const Weights& weights, Group&& group) {
  return sort_groups<Row>(
      dealt, count, group,
      [&](std::size_t first, std::size_t n, std::size_t k, double* scores) { read_rows(columns[k], first, n, scores); },
      [&](std::size_t first, std::size_t n, double* w) {
        if (weights.given()) read_rows(weights.column, first, n, w);
      });
}

template <class Group>
std::vector<std::vector<Runs>> sort_dealt(const Dealt& dealt, const Column* columns, std::size_t count,
                                          const Weights& weights, bool all_one, Group&& group) {
  return all_one ? sort_dealt<PlainRow>(dealt, columns, count, weights, group)
                 : sort_dealt<WeightedRow>(dealt, columns, count, weights, group);
}

nb::list list_runs(const std::vector<Runs>& groups) {
  nb::list out;
  for (const Runs& runs : groups) out.append(list_runs(runs));
  return out;
}

// One column of scores by the labels of the truth.
nb::object sort_scores(nb::handle truth, nb::handle prediction, nb::handle weight, nb::handle normal) {
  Input y(truth, normal, false);
  const std::size_t rows = y.rows();
  const Buffer held(prediction);
  const auto columns = held.columns();
  if (held.rows() != rows || columns.size() != 1) throw nb::value_error("there must be one score per row");
  Weights weights(weight, rows);
  auto codes = std::unique_ptr<std::uint8_t[]>(new std::uint8_t[rows]);
  std::vector<Range> ranges(1);
  for (std::size_t t = 1; t < threads_for(rows); ++t) {
    Range range;
    range.fork = y.reader().fork();
    if (range.fork == nullptr) break;
    ranges.push_back(std::move(range));
  }
  const std::size_t blocks = (rows + kBlock - 1) / kBlock;
  run(y.holds_objects(), [&] {
    for_ranges(blocks, ranges.size(), [&](std::size_t t, std::size_t first, std::size_t last) {
      Range& range = ranges[t];
      LabelReader& reader = t == 0 ? y.reader() : *range.fork;
      std::uint32_t block[kBlock];
      for (std::size_t b = first; b < last; ++b) {
        const std::size_t row = b * kBlock, n = std::min(kBlock, rows - row);
        reader.read(row, n, block);
        for (std::size_t i = 0; i < n; ++i)
          codes[row + i] = static_cast<std::uint8_t>(std::min<std::uint32_t>(block[i], kNoGroup - 1));
        if (weights.given()) weigh(weights.column, row, n, &codes[row], range);
        for (std::size_t i = 0; i < n; ++i) ++range.counts[codes[row + i]];
      }
      range.many = range.counts[kNoGroup - 1] != 0;
    });
  });
  nb::list faults;
  bool bad = false, many = false, all_one = true;
  for (std::size_t t = 0; t < ranges.size(); ++t) {
    if (t > 0) y.reader().faults.add(ranges[t].fork->faults);
    bad = bad || ranges[t].bad;
    all_one = all_one && ranges[t].all_one;
  }
  list_faults(faults, 0, y.reader().faults);
  if (faults.size() != 0) return faults;
  if (bad) return nb::none();
  // Codes of a fork as those of the first reader, and the labels that rows with weight have in their order.
  struct Entry {
    std::uint32_t row, column;
  };
  std::vector<Entry> used;
  std::vector<std::vector<std::uint32_t>> adopted(ranges.size());
  for (std::size_t t = 0; t < ranges.size(); ++t) {
    many = many || ranges[t].many;
    adopted[t] = t == 0 ? same_codes(y.reader().size()) : y.reader().adopt(*ranges[t].fork);
    for (std::size_t c = 0; c < std::min<std::size_t>(kNoGroup, adopted[t].size()); ++c)
      if (ranges[t].counts[c] != 0) used.push_back({adopted[t][c], 0});
  }
  const Ordered order(y.reader(), used, false);
  if (many || order.labels.size() > 2) return nb::make_tuple(order.labels, nb::none(), nb::none(), rows);
  Dealt dealt{rows, order.labels.size(), {}};
  ExactSum total;
  for (std::size_t t = 0; t < ranges.size(); ++t) {
    Range& range = ranges[t];
    range.group.fill(kNoGroup);
    dealt.counts.emplace_back(dealt.groups, 0);
    for (std::size_t c = 0; c < std::min<std::size_t>(kNoGroup, adopted[t].size()); ++c) {
      if (range.counts[c] == 0) continue;
      range.group[c] = static_cast<std::uint8_t>(order.place[adopted[t][c]]);
      dealt.counts[t][range.group[c]] += range.counts[c];
    }
    total.add(range.total);
  }
  const auto found = run(false, [&] {
    return sort_dealt(dealt, columns.data(), 1, weights, all_one,
                      [&](std::size_t t, std::size_t i) -> std::size_t { return ranges[t].group[codes[i]]; });
  });
  if (found.empty()) return nb::none();
  return nb::make_tuple(order.labels, list_runs(found.front()),
                        weights.given() ? nb::object(to_python(total)) : nb::object(nb::none()), rows);
}

// One column of scores in bins, by the labels of the truth; every row counts once.
nb::object bin_scores(nb::handle truth, nb::handle prediction, std::size_t most, nb::handle normal) {
  Input y(truth, normal, false);
  const std::size_t rows = y.rows();
  const Buffer held(prediction);
  const auto columns = held.columns();
  if (held.rows() != rows || columns.size() != 1) throw nb::value_error("there must be one score per row");
  if (most < 2) throw nb::value_error("there must be two bins");  // which every set of scores fits
  struct Part {
    std::unique_ptr<LabelReader> fork;
    ScoreBins bins;
    bool bad = false;
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
  };
  std::vector<std::int64_t> sample(std::min<std::size_t>(rows, 2 * most));
  run(false, [&] {
    for (std::size_t i = 0; i < sample.size(); ++i) {
      double score;
      read_rows(columns.front(), rows / sample.size() * i, 1, &score);
      to_ordered(&score, 1, &sample[i]);
    }
    std::sort(sample.begin(), sample.end());
  });
  std::vector<Part> parts;
  parts.push_back({nullptr, ScoreBins(most, sample)});
  for (std::size_t t = 1; t < threads_for(rows); ++t) {
    auto fork = y.reader().fork();
    if (fork == nullptr) break;
    parts.push_back({std::move(fork), ScoreBins(most, sample)});
  }
  const std::size_t blocks = (rows + kBlock - 1) / kBlock;
  run(y.holds_objects(), [&] {
    for_ranges(blocks, parts.size(), [&](std::size_t t, std::size_t first, std::size_t last) {
      Part& part = parts[t];
      LabelReader& reader = t == 0 ? y.reader() : *part.fork;
      std::uint32_t labels[kBlock];
      double scores[kBlock];
      std::int64_t ordered[kBlock];
      for (std::size_t b = first; b < last; ++b) {
        const std::size_t row = b * kBlock, n = std::min(kBlock, rows - row);
        reader.read(row, n, labels);
        read_rows(columns.front(), row, n, scores);
        if (detail::largest_score(scores, n) >= kInfinity) part.bad = true;
        for (std::size_t i = 0; i < n; ++i) labels[i] = std::min<std::uint32_t>(labels[i], kNoGroup);
        to_ordered(scores, n, ordered);
        widen_range(ordered, n, part.low, part.high);
        part.bins.add(ordered, labels, n);
      }
      part.bins.flush();
    });
  });
  nb::list faults;
  for (std::size_t t = 1; t < parts.size(); ++t) y.reader().faults.add(parts[t].fork->faults);
  list_faults(faults, 0, y.reader().faults);
  if (faults.size() != 0) return faults;
  if (std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.bad; })) return nb::none();
  ScoreBins& all = parts.front().bins;
  for (std::size_t t = 1; t < parts.size(); ++t) {
    auto adopted = y.reader().adopt(*parts[t].fork);
    adopted.resize(kNoGroup + 1, kNoGroup);
    for (auto& code : adopted) code = std::min<std::uint32_t>(code, kNoGroup);
    all.add(parts[t].bins, adopted);
    parts.front().low = std::min(parts.front().low, parts[t].low);
    parts.front().high = std::max(parts.front().high, parts[t].high);
  }
  struct Entry {
    std::uint32_t row, column;
  };
  std::vector<Entry> used;
  for (std::uint32_t c = 0; c < all.classes(); ++c)
    if (all.holds(c)) used.push_back({c, 0});
  if (!used.empty() && used.back().row == kNoGroup) return nb::none();
  const Ordered order(y.reader(), used, false);
  std::vector<nb::bytes> counts(used.size());
  for (const Entry& entry : used) counts[order.place[entry.row]] = to_bytes(all.counts(entry.row));
  nb::list by_label;
  for (const auto& each : counts) by_label.append(each);
  return nb::make_tuple(order.labels, all.kept_bits(), to_bytes(all.bins()), by_label, rows,
                        parts.front().low >= 0 && parts.front().high <= static_cast<std::int64_t>(bits(1.0)));
}

// Every column of a table of scores by the places of the true classes.
nb::object sort_columns(nb::handle places, std::size_t classes, nb::handle table, nb::handle weight) {
  const auto at = read_places(places);
  const Buffer held(table);
  const auto columns = held.columns();
  if (held.rows() != at.size()) throw nb::value_error("table and places differ in length");
  for (const std::int64_t place : at)
    if (place < 0 || static_cast<std::size_t>(place) >= classes) throw InputChanged("no such class");
  Weights weights(weight, at.size());
  const std::size_t blocks = (at.size() + kBlock - 1) / kBlock, threads = threads_for(at.size());
  std::vector<std::uint8_t> kept(at.size(), 0);
  std::vector<Range> ranges(threads);
  Dealt dealt{at.size(), classes, {}};
  std::vector<std::vector<Runs>> out;
  bool finite = true, bad = false, all_one = true;
  ExactSum total;
  run(false, [&] {
    dealt.counts.assign(threads, std::vector<std::size_t>(classes, 0));
    for_ranges(blocks, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
      for (std::size_t b = first; b < last; ++b) {
        const std::size_t row = b * kBlock, n = std::min(kBlock, at.size() - row);
        if (weights.given()) weigh(weights.column, row, n, &kept[row], ranges[t]);
        for (std::size_t i = row; i < row + n; ++i)
          if (kept[i] == 0) ++dealt.counts[t][static_cast<std::size_t>(at[i])];
      }
    });
    for (const Range& range : ranges) {
      bad = bad || range.bad;
      all_one = all_one && range.all_one;
      total.add(range.total);
    }
    for (std::size_t k = 0; k < columns.size() && finite && !bad; k += kMostColumns) {
      const std::size_t count = std::min(kMostColumns, columns.size() - k);
      auto found =
          sort_dealt(dealt, &columns[k], count, weights, all_one, [&](std::size_t, std::size_t i) -> std::size_t {
            return kept[i] == 0 ? static_cast<std::size_t>(at[i]) : classes;
          });
      finite = !found.empty();
      for (auto& groups : found) out.push_back(std::move(groups));
    }
  });
  if (!finite || bad) return nb::none();
  nb::list lists;
  for (const auto& groups : out) lists.append(list_runs(groups));
  return nb::make_tuple(lists, weights.given() ? nb::object(to_python(total)) : nb::object(nb::none()));
}

nb::object merge_runs(nb::handle left, nb::handle right) {
  const GivenRuns a(left), b(right);
  Runs merged;
  {
    nb::gil_scoped_release release;
    merged = merge(a.runs, b.runs);
  }
  return list_runs(merged);
}

}  // namespace

void bind_scores(nb::module_& m) {
  m.def("sort_scores", &sort_scores, nb::arg("truth"), nb::arg("scores"), nb::arg("weight").none(), nb::arg("normal"),
        nb::sig("def sort_scores(truth: object, scores: object, weight: object | None, normal: object) -> "
                "tuple[list[int | str], list[" TM_RUNS "] | None, tuple[bytes, int] | None, int] | "
                "list[tuple[int, str, int, int]] | None"),
        "The labels in order, the runs of each, the exact total weight and the rows; no runs of more than "
        "two labels.\n\nFaults of the labels if rows must be refused; None if a score or a weight must.");
  m.def(
      "bin_scores", &bin_scores, nb::arg("truth"), nb::arg("scores"), nb::arg("most"), nb::arg("normal"),
      nb::sig("def bin_scores(truth: object, scores: object, most: int, normal: object) -> "
              "tuple[list[int | str], int, bytes, list[bytes], int, bool] | list[tuple[int, str, int, "
              "int]] | None"),
      "The labels in order, how many first bits of the scores are told apart, the bins, and the rows of each label.\n\n"
      "After them all rows, and whether all scores lie in [0, 1]. Faults of the labels if rows must be refused; None "
      "if\n"
      "a score must, or there are many labels.");
  m.def("sort_columns", &sort_columns, nb::arg("places"), nb::arg("classes"), nb::arg("table"),
        nb::arg("weight").none(),
        nb::sig("def sort_columns(places: object, classes: int, table: object, weight: object | None) -> "
                "tuple[list[list[" TM_RUNS "]], tuple[bytes, int] | None] | None"),
        "For every column the runs of every class, and the exact total weight; None if a score or a weight must be "
        "refused.");
  m.def("merge_runs", &merge_runs, nb::arg("left"), nb::arg("right"),
        nb::sig("def merge_runs(left: object, right: object) -> " TM_RUNS ""), "The runs of both sets of rows.");
}

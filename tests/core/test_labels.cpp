// Tests of the label side of the core, built with the address and undefined-behaviour sanitizers.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "decisions.hpp"
#include "dictionary.hpp"
#include "label_number.hpp"
#include "labels.hpp"
#include "pairs.hpp"

using namespace tallymark;

namespace {

// A copy on the heap of exactly that size, so that the address sanitizer sees a read beyond it.
struct Exact {
  std::unique_ptr<char[]> data;
  std::size_t size;
  explicit Exact(std::string_view text) : data(new char[text.size()]), size(text.size()) {
    if (size != 0) std::memcpy(data.get(), text.data(), size);
  }
  std::string_view view() const { return {data.get(), size}; }
};

void texts_of_every_length_differ() {
  TextDictionary dictionary;
  std::vector<Exact> held;
  for (std::size_t length = 0; length <= 40; ++length) {
    held.emplace_back(std::string(length, 'a'));
    for (std::size_t at = 0; at < length; ++at) {
      std::string other(length, 'a');
      other[at] = '\0';
      held.emplace_back(other);
      other[at] = '\xff';
      held.emplace_back(other);
    }
  }
  for (std::size_t k = 0; k < held.size(); ++k) check(dictionary.code(held[k].view()) == k, "a new text, a new code");
  for (std::size_t k = 0; k < held.size(); ++k) {
    const Exact again(held[k].view());
    check(dictionary.code(again.view()) == k, "an equal text elsewhere has the same code");
    check(dictionary.text(k) == again.view(), "a code leads back to its text");
    const Text a(held[k].view()), b(again.view());
    check(a == b && a.hash(7) == b.hash(7), "equal texts are equal and hash alike");
    check(k == 0 || !(a == Text(held[k - 1].view())), "different texts differ");
  }
  check(dictionary.size() == held.size(), "as many codes as texts");
  TextDictionary other;
  other.code(held[5].view());
  other.code("new");
  const auto codes = other.adopt(dictionary);
  check(codes.size() == held.size() && codes[5] == 0 && codes[0] == 2, "texts of another dictionary keep their codes");
}

void keys_are_found_again() {
  KeyDictionary dictionary;
  std::vector<std::uint64_t> keys = {0, 1, ~std::uint64_t{0}, kTop, kTop - 1};
  for (std::uint64_t k = 1; k < 20000; ++k) keys.push_back(k << 32);  // multiples of a power of two
  for (std::size_t k = 0; k < keys.size(); ++k) check(dictionary.code(keys[k]) == k, "a new key, a new code");
  for (std::size_t k = 0; k < keys.size(); ++k)
    check(dictionary.code(keys[k]) == k && dictionary.key(k) == keys[k], "a known key, the same code");
  KeyTable<std::uint64_t, Counted> table;
  for (int round = 0; round < 3; ++round)
    for (const std::uint64_t key : keys) table[key] += key % 7 + 1;
  std::size_t seen = 0;
  table.each([&](std::uint64_t key, std::uint64_t value) {
    ++seen;
    check(value == 3 * (key % 7 + 1), "a table keeps its values as it grows");
  });
  check(seen == keys.size() && table.size() == keys.size(), "each key once");
}

template <class T>
std::vector<char> packed(const std::vector<T>& values, std::ptrdiff_t stride, std::size_t shift) {
  std::vector<char> bytes(shift + values.size() * static_cast<std::size_t>(std::abs(stride)), '\x55');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t place = stride > 0 ? i : values.size() - 1 - i;
    std::memcpy(&bytes[shift + place * static_cast<std::size_t>(std::abs(stride))], &values[i], sizeof(T));
  }
  return bytes;
}

// How many of twice as many slots 65,536 keys or texts take: 51,570 by chance, give or take 90.
template <class Hash>
void spreads(Hash&& hash, const char* what) {
  std::vector<bool> taken(std::size_t{1} << 17);
  std::size_t count = 0;
  for (std::uint64_t k = 0; k < (std::uint64_t{1} << 16); ++k) {
    const std::size_t slot = hash(k) & (taken.size() - 1);
    count += taken[slot] ? 0U : 1U;
    taken[slot] = true;
  }
  check(count > 51'000, what);
}

// Keys that all end or begin alike, which a plain table would put into one slot, and a poor seed into a few.
void hashes_spread() {
  std::mt19937_64 seeds(1);
  for (int turn = 0; turn < 16; ++turn) {
    const std::uint64_t seed = seeds();
    for (unsigned shift : {0U, 16U, 32U, 40U, 48U})
      spreads([=](std::uint64_t k) { return hash_integer(k << shift, seed); }, "multiples of powers of two spread");
    for (std::size_t padding : {0U, 3U, 10U, 40U}) {
      const std::string same(padding, 'x');
      spreads([&](std::uint64_t k) { return Text(same + std::to_string(k)).hash(seed); },
              "texts that begin alike spread");
      spreads([&](std::uint64_t k) { return Text(std::to_string(k) + same).hash(seed); },
              "texts that end alike spread");
    }
  }
}

// Reads `values` with many strides and offsets; every row must lead back to its value, in the right order.
template <class T>
void reads_numbers(Type type, const std::vector<T>& values, const char* what) {
  const auto size = static_cast<std::ptrdiff_t>(sizeof(T));
  for (const std::ptrdiff_t stride : {size, size + 1, 3 * size, -size, -size - 3}) {
    for (const std::size_t shift : {0U, 1U, 3U}) {
      const std::vector<char> bytes = packed(values, stride, shift);
      const char* first = bytes.data() + shift;
      if (stride < 0) first += (values.size() - 1) * static_cast<std::size_t>(-stride);
      const Column column{first, stride, type};
      const auto chosen = read_numbers(column, values.size(), false);
      NumberReader direct(column, false);
      for (LabelReader* reader : {chosen.get(), static_cast<LabelReader*>(&direct)}) {
        std::vector<std::uint32_t> codes(values.size());
        reader->read(0, values.size(), codes.data());
        check(!reader->faults.any(), what);
        for (std::size_t i = 0; i < values.size(); ++i) {
          double expected;
          read_rows(column, i, 1, &expected);
          check(codes[i] < reader->size() && number(reader->label(codes[i])) == expected, what);
          if (i == 0 || codes[i] == codes[0]) continue;
          double zeroth;
          read_rows(column, 0, 1, &zeroth);
          if (zeroth != expected) check(reader->less(codes[0], codes[i]) == (zeroth < expected), what);
        }
        const auto fork = reader->fork();
        std::uint32_t code;
        fork->read(values.size() - 1, 1, &code);
        check(reader->adopt(*fork)[code] == codes.back(), "a fork's codes are taken over");
      }
    }
  }
}

void numbers_of_every_type_are_read() {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  reads_numbers<std::int8_t>(Type::i8, {-128, 127, 0, -1, 5, 5}, "i8");
  reads_numbers<std::uint8_t>(Type::u8, {255, 0, 7, 7}, "u8");
  reads_numbers<std::int16_t>(Type::i16, {-32768, 32767, 3, 3}, "i16");
  reads_numbers<std::uint16_t>(Type::u16, {65535, 0, 3}, "u16");
  reads_numbers<std::int32_t>(Type::i32, {-2147483647 - 1, 2147483647, 0}, "i32");
  reads_numbers<std::uint32_t>(Type::u32, {0xffffffffU, 0, 9}, "u32");
  reads_numbers<std::int32_t>(Type::i32, {-2147483647 - 1, -2147483647, -2147480000}, "i32 at the bottom");
  reads_numbers<std::uint32_t>(Type::u32, {0xffffffffU, 0xfffff001U, 0xfffffffeU}, "u32 at the top");
  reads_numbers<std::int64_t>(Type::i64, {kLeast, kMost, 0, -1, kMost}, "i64");
  reads_numbers<std::int64_t>(Type::i64, {kMost, kMost - 4096, kMost - 4095}, "i64 at the top");
  reads_numbers<std::int64_t>(Type::i64, {kLeast, kLeast + 4095}, "i64 at the bottom, a small range");
  reads_numbers<std::uint64_t>(Type::u64, {~std::uint64_t{0}, 0, kTop, kTop - 1}, "u64");
  reads_numbers<std::uint64_t>(Type::u64, {~std::uint64_t{0}, ~std::uint64_t{0} - 7}, "u64, a small range");
  reads_numbers<std::uint8_t>(Type::boolean, {0, 1, 2, 255, 0}, "bool");
  reads_numbers<double>(Type::f64, {1.0, -3.0, 0.0, -0.0, 4000.0}, "f64, a small range");
  reads_numbers<double>(Type::f64, {1e300, -1e300, 0.0, 0x1p63, 1e9, 1e9 + 1}, "f64");
  reads_numbers<float>(Type::f32, {1.0F, -2.0F, 16777216.0F}, "f32");
  reads_numbers<std::uint16_t>(Type::f16, {0x3c00, 0xc000, 0x0000, 0x7bff}, "f16");
}

void faults_of_numbers_are_found() {
  const std::vector<double> values = {1.0, NAN, 0.5, HUGE_VAL, -0.0, -HUGE_VAL, 2.5};
  const Column column{reinterpret_cast<const char*>(values.data()), sizeof(double), Type::f64};
  std::uint32_t codes[8];
  const auto whole = read_numbers(column, values.size(), false);
  whole->read(0, values.size(), codes);
  const auto& missing = whole->faults.entries[static_cast<std::size_t>(Fault::missing)];
  const auto& fractional = whole->faults.entries[static_cast<std::size_t>(Fault::fractional)];
  check(missing.count == 3 && missing.first == 1, "missing numbers are counted, and the first is known");
  check(fractional.count == 2 && fractional.first == 2, "fractions are counted, and the first is known");
  check(codes[1] == kNoLabel && codes[0] != kNoLabel && codes[4] != kNoLabel, "they have no code");
  const auto any = read_numbers(column, values.size(), true);
  any->read(0, values.size(), codes);
  check(any->faults.entries[static_cast<std::size_t>(Fault::fractional)].count == 0, "fractions may be allowed");
  check(number(any->label(codes[2])) == 0.5 && !std::signbit(number(any->label(codes[4]))), "and are kept, not -0");
}

// Input that changes after its range was taken must not lead out of the table.
template <class T>
void changes_stay_in_range(Type type) {
  std::vector<T> changing = {3, 4, 5};
  const Column live{reinterpret_cast<const char*>(changing.data()), sizeof(T), type};
  const auto reader = read_numbers(live, 3, false);
  changing = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 2};
  std::uint32_t codes[3];
  reader->read(0, 3, codes);
  for (const std::uint32_t code : codes) check(code < reader->size(), "codes stay in range");
}

void changing_numbers_stay_in_range() {
  changes_stay_in_range<std::int64_t>(Type::i64);
  changes_stay_in_range<std::uint64_t>(Type::u64);
  changes_stay_in_range<std::int32_t>(Type::i32);
  changes_stay_in_range<std::uint32_t>(Type::u32);
  changes_stay_in_range<std::int8_t>(Type::i8);
}

void fixed_texts_are_read() {
  for (std::size_t width = 0; width <= 40; ++width) {
    for (const std::ptrdiff_t gap : {0, 3}) {
      const std::size_t step = width + static_cast<std::size_t>(gap);
      std::vector<char> bytes(step * 4 + 1, 0);
      for (std::size_t k = 0; k < width; ++k) bytes[1 + k] = 'x';          // full width
      if (width > 0) bytes[1 + step] = 'y';                                // one character, padded
      if (width > 2) bytes[1 + 2 * step] = bytes[1 + 2 * step + 2] = 'z';  // a zero inside
      TextReader reader({bytes.data() + 1, static_cast<std::ptrdiff_t>(step), width, false});
      std::uint32_t codes[4];
      reader.read(0, 4, codes);
      check(reader.label(codes[0]).text == std::string(width, 'x'), "a text of full width");
      check(reader.label(codes[3]).text.empty(), "an empty text");
      if (width > 0) check(reader.label(codes[1]).text == "y", "padding is no text");
      if (width > 2) check(reader.label(codes[2]).text == std::string_view("z\0z", 3), "a zero inside is");
      TextReader reversed({bytes.data() + 1 + 3 * step, -static_cast<std::ptrdiff_t>(step), width, false});
      std::uint32_t back[4];
      reversed.read(0, 4, back);
      for (int i = 0; i < 4; ++i)
        check(reversed.label(back[3 - i]).text == reader.label(codes[i]).text, "backwards too");
    }
  }
  const char32_t wide[] = {U'a', 0x10ffff, U'a', 0xffff, U'b', 0, 0, 0};
  std::vector<char> bytes(sizeof wide + 1);
  std::memcpy(bytes.data() + 1, wide, sizeof wide);  // unaligned
  TextReader reader({bytes.data() + 1, 8, 8, true});
  std::uint32_t codes[4];
  reader.read(0, 4, codes);
  check(reader.size() == 4 && reader.label(codes[3]).text.empty(), "wide texts");
  check(reader.less(codes[3], codes[1]) && reader.less(codes[1], codes[0]) && reader.less(codes[0], codes[2]) &&
            !reader.less(codes[2], codes[0]),
        "in the order of their characters");
}

std::vector<std::uint32_t> decided(const std::vector<std::vector<double>>& columns, const Decision& decision,
                                   Faults* faults = nullptr) {
  std::vector<Column> held;
  for (const auto& c : columns) held.push_back({reinterpret_cast<const char*>(c.data()), sizeof(double), Type::f64});
  DecisionReader reader(held, decision);
  std::vector<std::uint32_t> codes(columns[0].size());
  reader.read(0, codes.size(), codes.data());
  if (faults != nullptr) *faults = reader.faults;
  return codes;
}

void decisions_are_made() {
  using Codes = std::vector<std::uint32_t>;
  check(decided({{0.0, 0.5, 0.49, 1.0}}, {}) == Codes{0, 1, 0, 1}, "a threshold includes itself");
  check(decided({{-1.0, 0.0, 1e308, -1e308}}, {0.5, true}) == Codes{0, 1, 1, 0}, "margins");
  check(decided({{1e308, -1e308}, {-1e308, 1e308}}, {0.5, true}) == Codes{0, 1}, "margins whose difference overflows");
  check(decided({{0.5, 0.7}, {0.5, 0.3}}, {}) == Codes{1, 0}, "two columns");
  check(decided({{0.5, 0.7}, {0.5, 0.3}}, {0.6, false, false, 0}) == Codes{1, 0}, "another positive column");
  check(decided({{0.3, 0.2}, {0.3, 0.6}, {0.4, 0.2}}, {}) == Codes{2, 1}, "the largest of three");
  check(decided({{0.4, 0.0}, {0.4, 0.5}, {0.2, 0.5}}, {}) == Codes{0, 1}, "the first of equals");
  check(decided({{3.0}, {1.0}}, {0.5, false, true}) == Codes{0}, "normalized");
  Faults faults;
  decided({{NAN, 1.5, -0.1, HUGE_VAL, 0.5}}, {}, &faults);
  check(faults.entries[0].count == 2 && faults.entries[static_cast<std::size_t>(Fault::outside)].count == 2, "faults");
  decided({{0.2, 0.5, NAN}, {0.2, 0.5, 0.0}, {0.2, 0.0, 0.0}}, {}, &faults);
  check(faults.entries[static_cast<std::size_t>(Fault::sum)].count == 1 && faults.entries[0].first == 2, "sums");
  decided({{0.0}, {0.0}}, {0.5, false, true}, &faults);
  check(faults.entries[static_cast<std::size_t>(Fault::sum)].count == 1, "nothing to divide by");
}

void tables_grow_from_dense_to_hashed() {
  PairTable<Counted> table;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> expected;
  std::mt19937 random(1);
  for (const std::size_t size : {1U, 2U, 22U, 23U, 300U, 400U, 1000U, 100000U}) {
    table.reserve(size, size / 2 + 1);
    std::vector<std::uint32_t> rows, columns;
    for (int i = 0; i < 1021; ++i) {
      rows.push_back(static_cast<std::uint32_t>(random() % size));
      columns.push_back(static_cast<std::uint32_t>(random() % (size / 2 + 1)));
      ++expected[{rows.back(), columns.back()}];
    }
    table.count(rows.data(), columns.data(), rows.size());
    const auto entries = table.entries();
    check(entries.size() == expected.size(), "as many cells as pairs");
    for (const auto& e : entries) check(expected[{e.row, e.column}] == e.value, "counts survive growth");
  }
  PairTable<Counted> empty;
  empty.reserve(5, 0);
  empty.reserve(5, 3);
  check(empty.entries().empty(), "a side without labels");
}

bool same(ExactSum a, ExactSum b) {
  unsigned char x[ExactSum::kBytes], y[ExactSum::kBytes];
  const auto left = a.write(x), right = b.write(y);
  return left.length == right.length && left.skipped == right.skipped && std::memcmp(x, y, left.length) == 0;
}

// A wide integer in units of 2^unit as an exact sum.
ExactSum in_units(Wide value, int unit) {
  ExactSum out;
  for (int part = 0; part < 4; ++part)
    out.add(std::ldexp(static_cast<double>(static_cast<std::uint32_t>(value >> (32 * part))), 32 * part + unit));
  return out;
}

void weights_are_exact_on_any_number_of_threads() {
  constexpr std::size_t kRows = 300000;
  std::mt19937_64 random(2);
  std::vector<std::int64_t> y(kRows), p(kRows);
  std::vector<double> near(kRows), far(kRows);
  std::uniform_real_distribution<double> uniform(1e-3, 1e3);
  for (std::size_t i = 0; i < kRows; ++i) {
    y[i] = static_cast<std::int64_t>(random() % 7) * (std::int64_t{1} << 40);
    p[i] = static_cast<std::int64_t>(random() % 5);
    near[i] = i % 10 == 0 ? 0.0 : uniform(random);
    far[i] = i % 3 == 0 ? 1e-300 : i % 3 == 1 ? 1e300 : 5e-324;
  }
  const auto column = [](const auto& v, Type type) { return Column{reinterpret_cast<const char*>(v.data()), 8, type}; };
  const Column truth = column(y, Type::i64), prediction = column(p, Type::i64);
  using Pair = std::pair<std::int64_t, std::int64_t>;
  std::map<Pair, ExactSum> expected[2];
  std::map<Pair, std::uint64_t> counts;
  for (std::size_t i = 0; i < kRows; ++i) {
    ++counts[{y[i], p[i]}];
    if (near[i] > 0) expected[0][{y[i], p[i]}].add(near[i]);
    expected[1][{y[i], p[i]}].add(far[i]);
  }
  for (int threads = 1; threads <= 4; ++threads) {
    thread_limit().store(threads);
    const auto a = read_numbers(truth, kRows, false), b = read_numbers(prediction, kRows, false);
    const auto pair = [&](const auto& e) { return Pair(a->label(e.row).integer, b->label(e.column).integer); };
    const auto counted = count_rows(*a, *b, kRows);
    check(counted.entries.size() == counts.size(), "every pair");
    for (const auto& e : counted.entries) check(counts[pair(e)] == e.value, "counts");
    const WeightRange range = range_of_weights(column(near, Type::f64), kRows);
    check(!range.bad && range.width(kRows) < 128, "weights of one size have a common unit");
    const auto weighed = weigh_rows(*a, *b, kRows, column(near, Type::f64), range);
    check(weighed.entries.size() == expected[0].size(), "every pair that weighs");
    for (const auto& e : weighed.entries)
      check(same(in_units(e.value, range.unit()), expected[0][pair(e)]), "weights in units");
    const WeightRange wide = range_of_weights(column(far, Type::f64), kRows);
    check(wide.width(kRows) >= 128, "others have none");
    const auto summed = sum_rows(*a, *b, kRows, column(far, Type::f64), wide);
    for (const auto& e : summed.entries) check(same(e.value, expected[1][pair(e)]), "weights far apart");
  }
  far[kRows - 1] = -1.0;
  check(range_of_weights(column(far, Type::f64), kRows).bad, "a negative weight");
  far[kRows - 1] = -0.0;
  check(!range_of_weights(column(far, Type::f64), kRows).bad, "minus zero is zero");
  far[kRows - 1] = NAN;
  check(range_of_weights(column(far, Type::f64), kRows).bad, "a weight that is NaN");
  std::vector<double> nothing(kRows, NAN);
  for (int threads = 1; threads <= 4; ++threads) {
    thread_limit().store(threads);
    const auto a = read_numbers(truth, kRows, false);
    const auto b = read_numbers(column(nothing, Type::f64), kRows, false);
    check(count_rows(*a, *b, kRows).prediction.entries[0].count == kRows, "a column without any label");
    const auto c = read_numbers(column(nothing, Type::f64), kRows, false);
    check(count_rows(*c, *a, kRows).truth.entries[0].count == kRows, "on the other side too");
  }
}

}  // namespace

int main() {
  texts_of_every_length_differ();
  keys_are_found_again();
  numbers_of_every_type_are_read();
  faults_of_numbers_are_found();
  changing_numbers_stay_in_range();
  fixed_texts_are_read();
  decisions_are_made();
  tables_grow_from_dense_to_hashed();
  weights_are_exact_on_any_number_of_threads();
  hashes_spread();
  return finish("labels");
}

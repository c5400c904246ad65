// Labels of one input as codes. A reader turns rows into small codes and remembers which label has which code, so that
// pairs of labels can be counted without ever holding a code per row.
//
// There is a reader for each form of labels: whole numbers of a small range are coded by their distance from the
// lowest; other numbers, NumPy texts and Arrow texts (arrow.hpp) through a dictionary; Python objects
// (bindings/objects.hpp) under the interpreter's lock; probabilities by a threshold or the largest column
// (decisions.hpp). Threads have readers and tables of their own, which are united at the end, as states are when they
// add.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "column.hpp"
#include "dictionary.hpp"
#include "parallel.hpp"

namespace tallymark {

inline constexpr std::uint32_t kNoLabel = 0xffffffffU;

// What can be wrong with a row. The caller looks the row up in its input and says it in words.
enum class Fault { missing, fractional, outside, sum, mixed, unreadable, malformed };
inline constexpr std::size_t kFaults = 7;

struct Faults {
  struct Entry {
    std::uint64_t count = 0;
    std::size_t first = std::numeric_limits<std::size_t>::max();
  };
  Entry entries[kFaults];

  void add(Fault fault, std::size_t row) {
    Entry& e = entries[static_cast<std::size_t>(fault)];
    ++e.count;
    e.first = std::min(e.first, row);
  }
  void add(const Faults& other) {
    for (std::size_t k = 0; k < kFaults; ++k) {
      entries[k].count += other.entries[k].count;
      entries[k].first = std::min(entries[k].first, other.entries[k].first);
    }
  }
  bool any() const {
    return std::any_of(std::begin(entries), std::end(entries), [](const Entry& e) { return e.count != 0; });
  }
};

// A label in one of the forms that inputs have.
struct Label {
  enum class Form { integer, large, real, utf8, ucs4, object };
  Form form;
  std::int64_t integer = 0;  // of `integer`; the bits of a uint64 of `large`
  double real = 0.0;
  std::string_view text{};
  void* object = nullptr;
};

class LabelReader {
 public:
  virtual ~LabelReader() = default;
  LabelReader() = default;
  LabelReader(const LabelReader&) = delete;
  LabelReader& operator=(const LabelReader&) = delete;

  // Writes the codes of rows [first, first + n), n <= kBlock: kNoLabel, and a fault, where there is no label.
  virtual void read(std::size_t first, std::size_t n, std::uint32_t* codes) = 0;
  // All codes so far are below this.
  virtual std::size_t size() const = 0;
  virtual Label label(std::uint32_t code) const = 0;
  virtual bool less(std::uint32_t a, std::uint32_t b) const = 0;
  // Puts codes into the order of their labels.
  virtual void sort(std::vector<std::uint32_t>& codes) const {
    std::sort(codes.begin(), codes.end(), [this](std::uint32_t a, std::uint32_t b) { return less(a, b); });
  }
  // A reader of the same input that starts afresh, for another thread; null where only one thread may read.
  virtual std::unique_ptr<LabelReader> fork() const { return nullptr; }
  // The codes that the labels of a fork have here.
  virtual std::vector<std::uint32_t> adopt(const LabelReader& fork) = 0;

  Faults faults;
};

inline std::vector<std::uint32_t> same_codes(std::size_t size) {
  std::vector<std::uint32_t> codes(size);
  for (std::size_t k = 0; k < size; ++k) codes[k] = static_cast<std::uint32_t>(k);
  return codes;
}

// Number columns as 64-bit keys whose order is that of the numbers. Floats that are whole become integers.
inline constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

inline bool is_float(Type type) { return type == Type::f64 || type == Type::f32 || type == Type::f16; }

// Calls body(key), where key(i) is that of row first + i, as narrow as the column has it.
template <class T, class Body>
TM_INLINE void over_integers(const Column& c, std::size_t first, Body&& body) {
  const std::ptrdiff_t stride = c.stride;
  const char* at = c.data + static_cast<std::ptrdiff_t>(first) * stride;
  const auto read = [](const char* place) TM_LAMBDA {
    T x;
    std::memcpy(&x, place, sizeof(T));
    return x;
  };
  if (stride == static_cast<std::ptrdiff_t>(sizeof(T)))  // a constant stride vectorises
    return body([=](std::size_t i) TM_LAMBDA { return read(at + i * sizeof(T)); });
  body([=](std::size_t i) TM_LAMBDA { return read(at + static_cast<std::ptrdiff_t>(i) * stride); });
}

// The same for an integer or bool column of any type.
template <class Body>
TM_INLINE void over_keys(const Column& c, std::size_t first, Body&& body) {
  switch (c.type) {
    case Type::i64: return over_integers<std::int64_t>(c, first, body);
    case Type::i32: return over_integers<std::int32_t>(c, first, body);
    case Type::i16: return over_integers<std::int16_t>(c, first, body);
    case Type::i8: return over_integers<std::int8_t>(c, first, body);
    case Type::u32: return over_integers<std::uint32_t>(c, first, body);
    case Type::u16: return over_integers<std::uint16_t>(c, first, body);
    case Type::u8: return over_integers<std::uint8_t>(c, first, body);
    case Type::boolean:
      return over_integers<std::uint8_t>(c, first, [&](auto byte) TM_LAMBDA {
        body([=](std::size_t i) TM_LAMBDA { return static_cast<std::uint8_t>(byte(i) != 0 ? 1 : 0); });
      });
    default:  // u64: the top bit is flipped, which keeps the order
      return over_integers<std::uint64_t>(c, first, [&](auto whole) TM_LAMBDA {
        body([=](std::size_t i) TM_LAMBDA { return static_cast<std::int64_t>(whole(i) ^ kTop); });
      });
  }
}

TM_CLONES static inline void read_keys(const Column& c, std::size_t first, std::size_t n, std::int64_t* out) {
  over_keys(c, first, [=](auto key) TM_LAMBDA {
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::int64_t>(key(i));
  });
}

struct KeyRange {
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  bool whole = true;  // every value is an integer that fits

  void add(const KeyRange& other) {
    lowest = std::min(lowest, other.lowest);
    highest = std::max(highest, other.highest);
    whole = whole && other.whole;
  }
};

TM_CLONES static inline KeyRange range_of_keys(const Column& c, std::size_t first, std::size_t n) {
  KeyRange range;
  over_keys(c, first, [n, &range](auto key) TM_LAMBDA {
    auto lowest = key(0), highest = lowest;
    for (std::size_t i = 1; i < n; ++i) {
      lowest = std::min(lowest, key(i));
      highest = std::max(highest, key(i));
    }
    range.lowest = static_cast<std::int64_t>(lowest);
    range.highest = static_cast<std::int64_t>(highest);
  });
  return range;
}

inline constexpr std::int64_t kSmall = 4096;  // ranges up to this are codes as they are

// Reads doubles as keys where they are small whole numbers; `whole` says whether they all are.
TM_CLONES static inline KeyRange keys_of_reals(const double* values, std::size_t n, std::int64_t* keys) {
  KeyRange range;
  std::size_t odd = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = values[i];
    const bool fits = x >= -1e9 && x <= 1e9;
    const double kept = fits ? x : 0.5;
    const auto key = static_cast<std::int64_t>(static_cast<std::int32_t>(kept));
    odd += static_cast<double>(key) != kept ? 1U : 0U;
    keys[i] = key;
    range.lowest = key < range.lowest ? key : range.lowest;
    range.highest = key > range.highest ? key : range.highest;
  }
  range.whole = odd == 0;
  return range;
}

// The range of a whole column, on several threads.
inline KeyRange range_of(const Column& c, std::size_t rows) {
  const std::size_t blocks = (rows + kBlock - 1) / kBlock;
  const std::size_t threads = threads_for(rows);
  std::vector<KeyRange> found(threads);
  for_ranges(blocks, threads, [&](std::size_t t, std::size_t first, std::size_t last) {
    std::int64_t keys[kBlock];
    double values[kBlock];
    for (std::size_t b = first; b < last && found[t].whole; ++b) {
      const std::size_t n = std::min(kBlock, rows - b * kBlock);
      if (is_float(c.type)) {
        read_rows(c, b * kBlock, n, values);
        found[t].add(keys_of_reals(values, n, keys));
      } else {
        found[t].add(range_of_keys(c, b * kBlock, n));
        // A wide range is known at once; the rest need not be read.
        if (static_cast<std::uint64_t>(found[t].highest) - static_cast<std::uint64_t>(found[t].lowest) >=
            static_cast<std::uint64_t>(kSmall))
          found[t].whole = false;
      }
    }
  });
  for (std::size_t t = 1; t < threads; ++t) found[0].add(found[t]);
  return found[0];
}

// Distances from the lowest key. The input may change under our hands: what was not there before must not lead out of
// the table.
template <class Key>
TM_INLINE void codes_from(std::int64_t lowest, std::size_t n, std::uint32_t limit, std::uint32_t* codes, Key key) {
  // Keys of 32 bits or fewer keep their distances apart in 32.
  using Distance = std::conditional_t<sizeof(key(0)) < 8, std::uint32_t, std::uint64_t>;
  for (std::size_t i = 0; i < n; ++i) {
    const Distance code = static_cast<Distance>(key(i)) - static_cast<Distance>(lowest);
    codes[i] = static_cast<std::uint32_t>(code < limit ? code : limit);
  }
}

TM_CLONES static inline void codes_of_keys(const std::int64_t* keys, std::size_t n, std::int64_t lowest,
                                           std::uint32_t limit, std::uint32_t* codes) {
  codes_from(lowest, n, limit, codes, [=](std::size_t i) TM_LAMBDA { return keys[i]; });
}

TM_CLONES static inline void codes_of_column(const Column& c, std::size_t first, std::size_t n, std::int64_t lowest,
                                             std::uint32_t limit, std::uint32_t* codes) {
  over_keys(c, first, [=](auto key) TM_LAMBDA { codes_from(lowest, n, limit, codes, key); });
}

// Whole numbers of a small range: the code is the distance from the lowest.
class RangeReader final : public LabelReader {
 public:
  RangeReader(const Column& column, const KeyRange& range) : column_(column), range_(range) {}

  void read(std::size_t first, std::size_t n, std::uint32_t* codes) override {
    const auto limit = static_cast<std::uint32_t>(size() - 1);
    if (!is_float(column_.type)) return codes_of_column(column_, first, n, range_.lowest, limit, codes);
    std::int64_t keys[kBlock];
    double values[kBlock];
    read_rows(column_, first, n, values);
    keys_of_reals(values, n, keys);
    codes_of_keys(keys, n, range_.lowest, limit, codes);
  }
  std::size_t size() const override {
    return range_.highest < range_.lowest ? 1 : static_cast<std::size_t>(range_.highest - range_.lowest) + 1;
  }
  Label label(std::uint32_t code) const override {
    const std::int64_t key = range_.lowest + code;
    if (column_.type == Type::u64)
      return {Label::Form::large, static_cast<std::int64_t>(static_cast<std::uint64_t>(key) ^ kTop)};
    return {Label::Form::integer, key};
  }
  bool less(std::uint32_t a, std::uint32_t b) const override { return a < b; }
  std::unique_ptr<LabelReader> fork() const override { return std::make_unique<RangeReader>(column_, range_); }
  std::vector<std::uint32_t> adopt(const LabelReader& fork) override { return same_codes(fork.size()); }

 private:
  Column column_;
  KeyRange range_;
};

// Keys beside their codes: a million of them sort ten times as fast as through look-ups.
inline void sort_by_key(const KeyDictionary& dictionary, std::vector<std::uint32_t>& codes) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> keyed;
  keyed.reserve(codes.size());
  for (const std::uint32_t code : codes) keyed.emplace_back(static_cast<std::int64_t>(dictionary.key(code)), code);
  std::sort(keyed.begin(), keyed.end());
  for (std::size_t k = 0; k < codes.size(); ++k) codes[k] = keyed[k].second;
}

// Numbers of any range. Floats go by their bits, so that any of them can be a label where `fractions` allows it.
class NumberReader final : public LabelReader {
 public:
  NumberReader(const Column& column, bool fractions) : column_(column), fractions_(fractions) {}

  void read(std::size_t first, std::size_t n, std::uint32_t* codes) override {
    if (is_float(column_.type)) return read_reals(first, n, codes);
    std::int64_t keys[kBlock];
    read_keys(column_, first, n, keys);
    for (std::size_t i = 0; i < n; ++i) codes[i] = dictionary_.code(static_cast<std::uint64_t>(keys[i]));
  }
  std::size_t size() const override { return dictionary_.size(); }
  Label label(std::uint32_t code) const override {
    const std::uint64_t key = dictionary_.key(code);
    if (is_float(column_.type)) return {Label::Form::real, 0, real(key)};
    if (column_.type == Type::u64) return {Label::Form::large, static_cast<std::int64_t>(key ^ kTop)};
    return {Label::Form::integer, static_cast<std::int64_t>(key)};
  }
  bool less(std::uint32_t a, std::uint32_t b) const override {
    const std::uint64_t x = dictionary_.key(a), y = dictionary_.key(b);
    if (is_float(column_.type)) return real(x) < real(y);
    return static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
  }
  void sort(std::vector<std::uint32_t>& codes) const override {
    if (is_float(column_.type)) return LabelReader::sort(codes);
    sort_by_key(dictionary_, codes);
  }
  std::unique_ptr<LabelReader> fork() const override { return std::make_unique<NumberReader>(column_, fractions_); }
  std::vector<std::uint32_t> adopt(const LabelReader& fork) override {
    return dictionary_.adopt(static_cast<const NumberReader&>(fork).dictionary_);
  }

 private:
  void read_reals(std::size_t first, std::size_t n, std::uint32_t* codes) {
    double values[kBlock];
    read_rows(column_, first, n, values);
    for (std::size_t i = 0; i < n; ++i) {
      const double x = values[i];
      if (!std::isfinite(x) || (!fractions_ && std::trunc(x) != x)) {
        faults.add(std::isfinite(x) ? Fault::fractional : Fault::missing, first + i);
        codes[i] = kNoLabel;
      } else {
        codes[i] = dictionary_.code(bits(x + 0.0));  // -0.0 becomes 0.0
      }
    }
  }

  Column column_;
  bool fractions_;
  KeyDictionary dictionary_;
};

inline std::unique_ptr<LabelReader> read_numbers(const Column& column, std::size_t rows, bool fractions) {
  const KeyRange range = range_of(column, rows);
  const bool small =
      range.whole && static_cast<std::uint64_t>(range.highest) - static_cast<std::uint64_t>(range.lowest) <
                         static_cast<std::uint64_t>(kSmall);
  if (small || rows == 0) return std::make_unique<RangeReader>(column, range);
  return std::make_unique<NumberReader>(column, fractions);
}

// Texts of a fixed width, padded with zeros: NumPy's U (four bytes a character) and S (one).
struct FixedTexts {
  const char* data = nullptr;
  std::ptrdiff_t stride = 0;
  std::size_t width = 0;  // bytes
  bool wide = false;

  std::string_view operator()(std::size_t row) const {
    const char* at = data + static_cast<std::ptrdiff_t>(row) * stride;
    std::size_t length = width;
    if (!wide) {
      while (length > 0 && at[length - 1] == 0) --length;
      return {at, length};
    }
    std::uint32_t last = 0;
    for (; length >= 4; length -= 4) {
      std::memcpy(&last, at + length - 4, 4);
      if (last != 0) break;
    }
    return {at, length};
  }
};

inline bool text_less(std::string_view a, std::string_view b, bool wide) {
  if (!wide) return a < b;  // bytes of UTF-8 have the order of the characters
  for (std::size_t at = 0; at < a.size() && at < b.size(); at += 4) {
    std::uint32_t x, y;
    std::memcpy(&x, a.data() + at, 4);
    std::memcpy(&y, b.data() + at, 4);
    if (x != y) return x < y;
  }
  return a.size() < b.size();
}

class TextReader final : public LabelReader {
 public:
  explicit TextReader(const FixedTexts& texts) : texts_(texts) {}

  void read(std::size_t first, std::size_t n, std::uint32_t* codes) override {
    for (std::size_t i = 0; i < n; ++i) codes[i] = dictionary_.code(texts_(first + i));
  }
  std::size_t size() const override { return dictionary_.size(); }
  Label label(std::uint32_t code) const override {
    return {texts_.wide ? Label::Form::ucs4 : Label::Form::utf8, 0, 0.0, dictionary_.text(code)};
  }
  bool less(std::uint32_t a, std::uint32_t b) const override {
    return text_less(dictionary_.text(a), dictionary_.text(b), texts_.wide);
  }
  std::unique_ptr<LabelReader> fork() const override { return std::make_unique<TextReader>(texts_); }
  std::vector<std::uint32_t> adopt(const LabelReader& fork) override {
    return dictionary_.adopt(static_cast<const TextReader&>(fork).dictionary_);
  }

 private:
  FixedTexts texts_;
  TextDictionary dictionary_;
};

}  // namespace tallymark

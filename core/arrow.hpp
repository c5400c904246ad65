// Labels in Arrow's C data interface, as Arrow, Polars and pandas hand them over: texts, numbers, bools and
// dictionaries of them, in chunks, with a bitmap of what is there. Read in place; no Arrow library is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "labels.hpp"

// The interface is fixed by its specification, names included.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace tallymark {

// A schema or an array that is ours to release.
template <class T>
class Owned {
 public:
  Owned() : held_{} {}
  explicit Owned(T* source) : held_(*source) { source->release = nullptr; }  // moved, as the interface has it
  Owned(Owned&& other) noexcept : held_(other.held_) { other.held_.release = nullptr; }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (held_.release != nullptr) held_.release(&held_);
  }
  T* get() { return &held_; }
  const T* operator->() const { return &held_; }

 private:
  T held_;
};

enum class ArrowForm { none, boolean, number, text, large_text, text_view, unknown };

struct ArrowType {
  ArrowForm form = ArrowForm::unknown;
  Type number = Type::f64;
  std::ptrdiff_t width = 0;

  explicit ArrowType(const std::string& format) {
    static constexpr struct {
      char code;
      Type type;
      std::ptrdiff_t width;
    } kNumbers[] = {{'c', Type::i8, 1},  {'C', Type::u8, 1},  {'s', Type::i16, 2}, {'S', Type::u16, 2},
                    {'i', Type::i32, 4}, {'I', Type::u32, 4}, {'l', Type::i64, 8}, {'L', Type::u64, 8},
                    {'e', Type::f16, 2}, {'f', Type::f32, 4}, {'g', Type::f64, 8}};
    if (format == "n") form = ArrowForm::none;
    if (format == "b") form = ArrowForm::boolean;
    if (format == "u" || format == "z") form = ArrowForm::text;
    if (format == "U" || format == "Z") form = ArrowForm::large_text;
    if (format == "vu" || format == "vz") form = ArrowForm::text_view;
    for (const auto& n : kNumbers)
      if (format.size() == 1 && format[0] == n.code) {
        form = ArrowForm::number;
        number = n.type;
        width = n.width;
      }
  }
};

// One array of a column: where its rows lie.
struct ArrowChunk {
  const ArrowArray* array = nullptr;
  std::int64_t offset = 0;  // of row 0 in the buffers
  std::size_t length = 0, first = 0;
  std::int64_t end = 0;  // of the bytes of all texts, where they have offsets: no text reaches beyond it

  ArrowChunk(const ArrowArray* held, const ArrowType& type, std::int64_t from, std::size_t rows, std::size_t before)
      : array(held), offset(from), length(rows), first(before) {
    const std::int64_t last = offset + static_cast<std::int64_t>(length);
    if (length == 0 || (type.form != ArrowForm::text && type.form != ArrowForm::large_text)) return;
    end = std::max<std::int64_t>(type.form == ArrowForm::text ? at<std::int32_t>(last) : at<std::int64_t>(last), 0);
  }

  const char* buffer(std::int64_t k) const {
    return k < array->n_buffers ? static_cast<const char*>(array->buffers[k]) : nullptr;
  }
  static bool bit(const char* bitmap, std::int64_t at) {
    return ((static_cast<unsigned char>(bitmap[at / 8]) >> (at % 8)) & 1U) != 0;
  }
  bool valid(std::size_t row) const {
    const char* bitmap = buffer(0);
    return bitmap == nullptr || bit(bitmap, offset + static_cast<std::int64_t>(row));
  }
  Column column(const ArrowType& type) const {
    const char* data = buffer(1);
    return {data == nullptr ? nullptr : data + offset * type.width, type.width, type.number};
  }
  std::string_view text(const ArrowType& type, std::size_t row) const {
    const std::int64_t at = offset + static_cast<std::int64_t>(row);
    if (type.form == ArrowForm::text_view) return view(at);
    const char* data = buffer(2);
    if (type.form == ArrowForm::text) return cut<std::int32_t>(data, at);
    return cut<std::int64_t>(data, at);
  }

 private:
  template <class Offset>
  Offset at(std::int64_t place) const {
    Offset out;
    std::memcpy(&out, buffer(1) + place * static_cast<std::int64_t>(sizeof(Offset)), sizeof out);
    return out;
  }
  template <class Offset>
  std::string_view cut(const char* data, std::int64_t place) const {
    const std::int64_t from = at<Offset>(place), to = at<Offset>(place + 1);
    if (from < 0 || from > to || to > end) return {data, 0};
    return {data + from, static_cast<std::size_t>(to - from)};
  }
  // Buffers of texts come before the last one, which holds their sizes.
  std::string_view view(std::int64_t at) const {
    const char* place = buffer(1) + at * 16;
    std::int32_t words[4];
    std::memcpy(words, place, sizeof words);
    const std::int64_t length = words[0], which = words[2], from = words[3], sizes = array->n_buffers - 1;
    if (length >= 0 && length <= 12) return {place + 4, static_cast<std::size_t>(length)};
    if (length < 0 || which < 0 || from < 0 || which + 2 >= sizes) return {};
    std::int64_t size;
    std::memcpy(&size, buffer(sizes) + which * 8, sizeof size);
    if (from + length > size) return {};
    return {buffer(2 + which) + from, static_cast<std::size_t>(length)};
  }
};

// A column of any number of arrays, held until nobody reads it any more.
class ArrowColumn {
 public:
  ArrowColumn(Owned<ArrowSchema> schema, std::vector<Owned<ArrowArray>> arrays)
      : schema_(std::move(schema)), arrays_(std::move(arrays)), type_(format_of(*schema_.get())) {
    const ArrowSchema* s = schema_.get();
    const bool nested = std::string_view(s->format) == "+s";  // a table of one column
    if (nested) s = s->n_children == 1 ? s->children[0] : nullptr;
    if (s == nullptr) return;
    coded_ = s->dictionary != nullptr;
    if (coded_) values_.emplace(s->dictionary->format);
    // A null column has no buffers; a dictionary of dictionaries is nothing that anybody writes.
    const bool known_types = known(type_) && (!coded_ || (type_.form == ArrowForm::number && !is_float(type_.number) &&
                                                          known(*values_) && s->dictionary->dictionary == nullptr));
    if (!known_types) return;
    for (auto& held : arrays_) {
      require(held->length >= 0 && held->offset >= 0, "a length or an offset is negative");
      if (nested && held->null_count != 0 && held->n_buffers > 0 && held->buffers[0] != nullptr) return;
      require(!nested || (held->n_children == 1 && held->children[0]->length - held->offset >= held->length),
              "a column has fewer rows than its table");
      const ArrowArray* array = nested ? held->children[0] : held.get();
      check_buffers(*array, type_);
      require(!coded_ || array->dictionary != nullptr, "a dictionary is missing");
      if (coded_) check_buffers(*array->dictionary, *values_);
      const std::int64_t offset = array->offset + (nested ? held->offset : 0);
      chunks_.emplace_back(array, type_, offset, static_cast<std::size_t>(held->length), rows_);
      rows_ += static_cast<std::size_t>(held->length);
    }
    for (std::size_t k = 0; k < chunks_.size() && !malformed_; ++k) malformed_ = first_malformed(chunks_[k]);
    readable_ = true;
  }

  bool readable() const { return readable_; }
  // The first row whose text, or whose dictionary, lies outside of its buffers. The interface gives sizes only of the
  // buffers that views point to; other offsets must not be negative and must not decrease.
  std::optional<std::size_t> malformed() const { return malformed_; }
  std::size_t rows() const { return rows_; }
  bool coded() const { return coded_; }
  const ArrowType& type() const { return type_; }                        // of the rows, or of their codes
  const ArrowType& values() const { return coded_ ? *values_ : type_; }  // of the labels
  const std::vector<ArrowChunk>& chunks() const { return chunks_; }

  // The numbers as one plain column, where that is what they are.
  std::optional<Column> plain() const {
    if (coded_ || type_.form != ArrowForm::number || chunks_.size() != 1) return std::nullopt;
    const ArrowChunk& chunk = chunks_.front();
    if (chunk.buffer(0) != nullptr && chunk.array->null_count != 0) return std::nullopt;
    return chunk.column(type_);
  }

 private:
  static bool known(const ArrowType& type) { return type.form != ArrowForm::unknown; }
  static void require(bool fits, const char* otherwise) {
    if (!fits) throw std::invalid_argument(std::string("the Arrow data are malformed: ") + otherwise);
  }
  static void check_buffers(const ArrowArray& array, const ArrowType& type) {
    require(array.length >= 0 && array.offset >= 0 &&
                array.offset <= std::numeric_limits<std::int64_t>::max() / 32 - array.length,
            "a length or an offset is negative or too large");
    if (type.form == ArrowForm::none) return;
    const bool plain = type.form == ArrowForm::number || type.form == ArrowForm::boolean;
    require(array.n_buffers >= (plain ? 2 : 3), "a buffer is missing");
    require(array.length == 0 || array.buffers[1] != nullptr, "a buffer is missing");
  }

  std::optional<std::size_t> first_malformed(const ArrowChunk& chunk) const {
    if (chunk.length == 0) return std::nullopt;
    if (coded_) {
      const ArrowArray& held = *chunk.array->dictionary;
      const ArrowChunk values(&held, *values_, held.offset, static_cast<std::size_t>(held.length), 0);
      return first_bad_text(values, *values_) == values.length ? std::nullopt : std::optional(chunk.first);
    }
    const std::size_t row = first_bad_text(chunk, type_);
    return row == chunk.length ? std::nullopt : std::optional(chunk.first + row);
  }
  // The first row of a chunk whose text lies outside, or the number of rows.
  static std::size_t first_bad_text(const ArrowChunk& chunk, const ArrowType& type) {
    if (chunk.length == 0) return 0;
    if (type.form == ArrowForm::text) return first_bad_offset<std::int32_t>(chunk);
    if (type.form == ArrowForm::large_text) return first_bad_offset<std::int64_t>(chunk);
    return type.form == ArrowForm::text_view ? first_bad_view(chunk) : chunk.length;
  }
  template <class Offset>
  static std::size_t first_bad_offset(const ArrowChunk& chunk) {
    const char* at = chunk.buffer(1) + chunk.offset * static_cast<std::int64_t>(sizeof(Offset));
    const auto offset = [at](std::size_t row) {
      Offset found;
      std::memcpy(&found, at + row * sizeof(Offset), sizeof(Offset));
      return found;
    };
    if (offset(0) < 0) return 0;
    bool falls = false;
    for (std::size_t row = 0; row < chunk.length; ++row) falls |= offset(row + 1) < offset(row);
    const bool pointless = chunk.buffer(2) == nullptr;
    for (std::size_t row = 0; (falls || pointless) && row < chunk.length; ++row)
      if (offset(row + 1) < offset(row) || (pointless && offset(row + 1) != 0)) return row;
    return chunk.length;
  }
  static std::size_t first_bad_view(const ArrowChunk& chunk) {
    const std::int64_t blocks = chunk.array->n_buffers - 3;
    const char* sizes = chunk.buffer(chunk.array->n_buffers - 1);
    for (std::size_t row = 0; row < chunk.length; ++row) {
      std::int32_t words[4];  // length, first bytes, block, offset
      std::memcpy(words, chunk.buffer(1) + (chunk.offset + static_cast<std::int64_t>(row)) * 16, sizeof words);
      if ((words[0] >= 0 && words[0] <= 12) || !chunk.valid(row)) continue;
      if (words[0] < 0 || words[2] < 0 || words[2] >= blocks || words[3] < 0 || sizes == nullptr) return row;
      std::int64_t size;
      std::memcpy(&size, sizes + words[2] * sizeof size, sizeof size);
      if (std::int64_t{words[3]} + words[0] > size || chunk.buffer(2 + words[2]) == nullptr) return row;
    }
    return chunk.length;
  }
  static std::string format_of(const ArrowSchema& schema) {
    const std::string format = schema.format;
    return format == "+s" && schema.n_children == 1 ? schema.children[0]->format : format;
  }

  Owned<ArrowSchema> schema_;
  std::vector<Owned<ArrowArray>> arrays_;
  ArrowType type_;
  std::optional<ArrowType> values_;
  std::vector<ArrowChunk> chunks_;
  std::optional<std::size_t> malformed_;
  std::size_t rows_ = 0;
  bool coded_ = false, readable_ = false;
};

class ArrowReader final : public LabelReader {
 public:
  ArrowReader(std::shared_ptr<const ArrowColumn> column, bool fractions)
      : column_(std::move(column)), fractions_(fractions) {}

  void read(std::size_t first, std::size_t n, std::uint32_t* codes) override {
    if (column_->malformed()) {
      std::fill(codes, codes + n, refuse(Fault::malformed, *column_->malformed()));
      return;
    }
    const auto& chunks = column_->chunks();
    while (n > 0) {
      while (first >= chunks[chunk_].first + chunks[chunk_].length) ++chunk_;  // rows are asked for in order
      const ArrowChunk& chunk = chunks[chunk_];
      const std::size_t from = first - chunk.first, count = std::min(n, chunk.length - from);
      if (column_->coded())
        read_coded(chunk, from, count, first, codes);
      else
        read_values(chunk, column_->type(), from, count, first, codes);
      first += count;
      codes += count;
      n -= count;
    }
  }

  std::size_t size() const override { return is_text() ? texts_.size() : numbers_.size(); }
  Label label(std::uint32_t code) const override {
    if (is_text()) return {Label::Form::utf8, 0, 0.0, texts_.text(code)};
    const std::uint64_t key = numbers_.key(code);
    if (real_labels()) return {Label::Form::real, 0, real(key)};
    if (column_->values().number == Type::u64) return {Label::Form::large, static_cast<std::int64_t>(key ^ kTop)};
    return {Label::Form::integer, static_cast<std::int64_t>(key)};
  }
  bool less(std::uint32_t a, std::uint32_t b) const override {
    if (is_text()) return texts_.text(a) < texts_.text(b);
    if (real_labels()) return real(numbers_.key(a)) < real(numbers_.key(b));
    return static_cast<std::int64_t>(numbers_.key(a)) < static_cast<std::int64_t>(numbers_.key(b));
  }
  std::unique_ptr<LabelReader> fork() const override { return std::make_unique<ArrowReader>(column_, fractions_); }
  std::vector<std::uint32_t> adopt(const LabelReader& fork) override {
    const auto& other = static_cast<const ArrowReader&>(fork);
    return is_text() ? texts_.adopt(other.texts_) : numbers_.adopt(other.numbers_);
  }

 private:
  static constexpr std::uint32_t kFraction = kNoLabel - 1;  // an entry of a dictionary that is a number but no label

  bool is_text() const {
    const ArrowForm form = column_->values().form;
    return form == ArrowForm::text || form == ArrowForm::large_text || form == ArrowForm::text_view;
  }
  bool real_labels() const { return column_->values().form == ArrowForm::number && is_float(column_->values().number); }

  // Codes of values; faults are noted under `row` and the rows after it.
  void read_values(const ArrowChunk& chunk, const ArrowType& type, std::size_t from, std::size_t n, std::size_t row,
                   std::uint32_t* codes) {
    const Column numbers = chunk.column(type);
    for (std::size_t i = 0; i < n; ++i) {
      if (type.form == ArrowForm::none || !chunk.valid(from + i)) {
        codes[i] = refuse(Fault::missing, row + i);
      } else if (type.form == ArrowForm::boolean) {
        codes[i] =
            numbers_.code(ArrowChunk::bit(chunk.buffer(1), chunk.offset + static_cast<std::int64_t>(from + i)) ? 1 : 0);
      } else if (type.form != ArrowForm::number) {
        codes[i] = texts_.code(chunk.text(type, from + i));
      } else if (!is_float(type.number)) {
        std::int64_t key;
        read_keys(numbers, from + i, 1, &key);
        codes[i] = numbers_.code(static_cast<std::uint64_t>(key));
      } else {
        double x;
        read_rows(numbers, from + i, 1, &x);
        if (!std::isfinite(x) || (!fractions_ && std::trunc(x) != x))
          codes[i] = refuse(std::isfinite(x) ? Fault::fractional : Fault::missing, row + i);
        else
          codes[i] = numbers_.code(bits(x + 0.0));
      }
    }
  }

  // Rows that are codes of a dictionary: each entry of the dictionary is looked up once.
  void read_coded(const ArrowChunk& chunk, std::size_t from, std::size_t n, std::size_t row, std::uint32_t* codes) {
    if (translated_ != chunk.array->dictionary) translate(*chunk.array->dictionary);
    std::int64_t keys[kBlock];
    read_keys(chunk.column(column_->type()), from, n, keys);
    const bool all = chunk.buffer(0) == nullptr;
    for (std::size_t i = 0; i < n; ++i) {
      const auto key = static_cast<std::uint64_t>(keys[i]) ^ (column_->type().number == Type::u64 ? kTop : 0);
      const bool there = all || chunk.valid(from + i);
      if (there && key >= translation_.size()) {
        codes[i] = refuse(Fault::malformed, row + i);
        continue;
      }
      const std::uint32_t code = there ? translation_[key] : kNoLabel;
      codes[i] = code < kFraction ? code : refuse(code == kFraction ? Fault::fractional : Fault::missing, row + i);
    }
  }

  void translate(const ArrowArray& dictionary) {
    const ArrowChunk chunk(&dictionary, column_->values(), dictionary.offset,
                           static_cast<std::size_t>(dictionary.length), 0);
    translation_.resize(chunk.length);
    const Faults before = faults;
    const auto& fractions = faults.entries[static_cast<std::size_t>(Fault::fractional)];
    for (std::size_t at = 0; at < chunk.length; ++at) {
      const std::uint64_t seen = fractions.count;
      read_values(chunk, column_->values(), at, 1, at, &translation_[at]);
      if (fractions.count != seen) translation_[at] = kFraction;
    }
    faults = before;  // an entry that nobody uses harms nobody; a row that uses it is refused
    translated_ = &dictionary;
  }

  std::uint32_t refuse(Fault fault, std::size_t row) {
    faults.add(fault, row);
    return kNoLabel;
  }

  std::shared_ptr<const ArrowColumn> column_;
  bool fractions_;
  std::size_t chunk_ = 0;
  const ArrowArray* translated_ = nullptr;
  std::vector<std::uint32_t> translation_;
  KeyDictionary numbers_;
  TextDictionary texts_;
};

}  // namespace tallymark

// Texts of several columns as codes, numbered in the order of their first appearance over all columns: what rows are
// matched by. Texts are compared where they lie; the table holds eight bytes for a text, and no text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow.hpp"
#include "dictionary.hpp"
#include "page_pool.hpp"
#include "parallel.hpp"

namespace tallymark {

class TextCodes {
 public:
  static constexpr std::int32_t kNone = -1;  // of a row without a text

  // How many distinct texts there are, and the row, counted over all columns, in which each appears first.
  const std::vector<std::int64_t>& firsts() const { return firsts_; }

  // Codes of the rows of one more column of texts. Texts that are known are found on several threads, and what is new
  // is added in order.
  void code(std::shared_ptr<const ArrowColumn> column, std::int32_t* codes) {
    if (mask_ == 0) resize(64);
    const std::size_t done = rows_, fresh = firsts_.size();
    append(*columns_.emplace_back(std::move(column)));
    const std::size_t count = rows_ - done, blocks = (count + kRows - 1) / kRows;
    if (fresh == 0) look_ahead(done, count);
    if (firsts_.size() > kMany && fresh == 0) {  // all seem to differ, as ids do
      std::fill(codes, codes + count, kNew);
    } else {
      for_ranges(blocks, threads_for(count), [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t b = first; b < last; ++b) {
          const std::size_t from = b * kRows;
          find_block(done + from, std::min(kRows, count - from), codes + from);
        }
      });
    }
    for (std::size_t from = 0; from < count; from += kRows)
      add_block(done + from, std::min(kRows, count - from), codes + from);
  }

 private:
  static constexpr std::int32_t kNew = -2;
  static constexpr std::uint32_t kFree = 0xffffffffU;
  static constexpr std::size_t kRows = 256;
  static constexpr std::size_t kNearBits = 12;
  static constexpr std::size_t kLook = 4096, kMany = kLook / 2;  // rows to look at first, and distinct texts in them
  struct Slot {
    std::uint32_t tag = 0, code = kFree;
  };
  struct Piece {
    const ArrowChunk* chunk;
    const ArrowType* type;
  };

  std::size_t piece_of(std::size_t row) const {
    std::size_t k = near_[row >> kNearBits];
    while (k + 1 < starts_.size() && row >= starts_[k + 1]) ++k;
    return k;
  }
  std::string_view text(std::size_t row) const {
    const std::size_t k = piece_of(row);
    return pieces_[k].chunk->text(*pieces_[k].type, row - starts_[k]);
  }

  // Texts and hashes of rows that follow each other; a row without a text has no hash.
  struct Block {
    Text texts[kRows];
    std::uint64_t hashes[kRows];
    bool there[kRows];
  };
  void read(std::size_t from, std::size_t n, Block& block) const {
    std::size_t k = piece_of(from);
    for (std::size_t i = 0; i < n; ++i) {
      while (k + 1 < starts_.size() && from + i >= starts_[k + 1]) ++k;
      const std::size_t row = from + i - starts_[k];
      block.there[i] = pieces_[k].chunk->valid(row);
      if (!block.there[i]) continue;
      block.texts[i] = Text(pieces_[k].chunk->text(*pieces_[k].type, row));
      block.hashes[i] = block.texts[i].hash(seed_);
      TM_PREFETCH(&slots_[block.hashes[i] & mask_]);
    }
  }

  void find_block(std::size_t from, std::size_t n, std::int32_t* codes) const {
    Block block;
    read(from, n, block);
    if (mask_ >= kLook) approach(n, block);
    for (std::size_t i = 0; i < n; ++i) {
      if (!block.there[i]) {
        codes[i] = kNone;
        continue;
      }
      const std::size_t slot = find(block.texts[i], block.hashes[i]);
      codes[i] = slots_[slot].code == kFree ? kNew : static_cast<std::int32_t>(slots_[slot].code);
    }
  }

  void add_block(std::size_t from, std::size_t n, std::int32_t* codes) {
    if (std::none_of(codes, codes + n, [](std::int32_t code) { return code == kNew; })) return;
    Block block;
    read(from, n, block);
    for (std::size_t i = 0; i < n; ++i) {
      if (codes[i] != kNew) continue;
      codes[i] = block.there[i] ? add(block.texts[i], block.hashes[i], from + i) : kNone;
    }
  }

  // Brings near what most of the rows will be compared with: each step needs what the one before has fetched.
  void approach(std::size_t n, const Block& block) const {
    std::size_t rows[kRows], count = 0;
    std::uint32_t near[kRows];
    for (std::size_t i = 0; i < n; ++i) {
      if (!block.there[i]) continue;
      const Slot& slot = slots_[block.hashes[i] & mask_];
      if (slot.code == kFree || slot.tag != tag_of(block.hashes[i])) continue;
      near[count++] = slot.code;
      if (slot.code >= straight_) TM_PREFETCH(&firsts_[slot.code]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      rows[i] = first_row(near[i]);
      const std::size_t k = piece_of(rows[i]);
      const std::ptrdiff_t width = pieces_[k].type->form == ArrowForm::text ? 4 : 8;
      const auto at = pieces_[k].chunk->offset + static_cast<std::int64_t>(rows[i] - starts_[k]);
      if (pieces_[k].type->form != ArrowForm::text_view) TM_PREFETCH(pieces_[k].chunk->buffer(1) + at * width);
    }
    for (std::size_t i = 0; i < count; ++i) TM_PREFETCH(text(rows[i]).data());
  }

  std::size_t first_row(std::uint32_t code) const {
    return code < straight_ ? code : static_cast<std::size_t>(firsts_[code]);
  }

  // The slot of a text, or the free one where it belongs.
  TM_INLINE std::size_t find(const Text& key, std::uint64_t hash) const {
    std::size_t slot = hash & mask_;
    while (slots_[slot].code != kFree) {
      const std::uint32_t code = slots_[slot].code;
      if (slots_[slot].tag == tag_of(hash) &&
          (code < early_.size() ? early_[code] : Text(text(first_row(code)))) == key)
        break;
      slot = (slot + 1) & mask_;
    }
    return slot;
  }
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

  std::int32_t add(const Text& key, std::uint64_t hash, std::size_t row) {
    const std::size_t slot = find(key, hash);
    if (slots_[slot].code != kFree) return static_cast<std::int32_t>(slots_[slot].code);
    if (firsts_.size() >= 0x7fffffffU) throw std::length_error("there are more than 2,147,483,647 distinct texts");
    const auto fresh = static_cast<std::uint32_t>(firsts_.size());
    slots_[slot] = {tag_of(hash), fresh};
    firsts_.push_back(static_cast<std::int64_t>(row));
    if (straight_ == fresh && row == fresh) ++straight_;
    if (fresh < kLook) early_.push_back(key);
    if (2 * firsts_.size() > mask_) resize(2 * (mask_ + 1));
    return static_cast<std::int32_t>(fresh);
  }

  void append(const ArrowColumn& column) {
    for (const ArrowChunk& chunk : column.chunks()) {
      if (chunk.length == 0) continue;
      const auto place = static_cast<std::uint32_t>(pieces_.size());
      pieces_.push_back({&chunk, &column.type()});
      starts_.push_back(rows_);
      rows_ += chunk.length;
      while (near_.size() << kNearBits < rows_) near_.push_back(place);
    }
  }

  // Codes the first rows, and makes room for all where most of these differ: later there is none to be made.
  void look_ahead(std::size_t done, std::size_t rows) {
    if (rows <= kLook) return;
    std::int32_t codes[kRows];
    for (std::size_t from = 0; from + kRows <= kLook; from += kRows) {
      std::fill(codes, codes + kRows, kNew);
      add_block(done + from, kRows, codes);
    }
    if (firsts_.size() <= kMany) return;
    std::size_t slots = mask_ + 1;
    while (slots < 2 * rows) slots *= 2;
    firsts_.reserve(rows);
    resize(slots);
  }

  void resize(std::size_t size) {
    slots_.reset();  // for the next one to take
    slots_ = room_for<Slot>(size);
    std::fill(slots_.get(), slots_.get() + size, Slot{});
    mask_ = size - 1;
    for (std::size_t code = 0; code < firsts_.size(); ++code) {
      const std::uint64_t hash = Text(text(static_cast<std::size_t>(firsts_[code]))).hash(seed_);
      std::size_t slot = hash & mask_;
      while (slots_[slot].code != kFree) slot = (slot + 1) & mask_;
      slots_[slot] = {tag_of(hash), static_cast<std::uint32_t>(code)};
    }
  }

  std::vector<std::shared_ptr<const ArrowColumn>> columns_;
  std::vector<Piece> pieces_;
  std::vector<std::size_t> starts_;
  std::vector<std::uint32_t> near_;  // the piece of every 4,096th row
  std::size_t rows_ = 0;
  std::uint64_t seed_ = hash_seed();
  std::size_t mask_ = 0;
  std::shared_ptr<Slot[]> slots_;
  std::vector<std::int64_t> firsts_;
  std::vector<Text> early_;   // the first texts, which are all there are where they are labels
  std::size_t straight_ = 0;  // codes below it are their own rows, as those of ids that all differ
};

// Whether all texts are ASCII without blanks at their ends, and none is empty: most are, and need no care.
TM_CLONES static inline bool is_ascii(const char* data, std::size_t n) {
  unsigned char all = 0;
  for (std::size_t k = 0; k < n; ++k) all = static_cast<unsigned char>(all | static_cast<unsigned char>(data[k]));
  return all < 0x80;
}

inline bool are_plain(const ArrowColumn& column) {
  const auto blank = [](char c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); };
  for (const ArrowChunk& chunk : column.chunks()) {
    const bool joined = column.type().form != ArrowForm::text_view;  // the texts follow each other
    bool odd = false;
    for (std::size_t row = 0; row < chunk.length; ++row) {
      if (!chunk.valid(row)) continue;
      const std::string_view text = chunk.text(column.type(), row);
      odd |=
          text.empty() || blank(text.front()) || blank(text.back()) || !(joined || is_ascii(text.data(), text.size()));
    }
    if (odd) return false;
    if (!joined || chunk.length == 0) continue;
    const std::string_view first = chunk.text(column.type(), 0), last = chunk.text(column.type(), chunk.length - 1);
    const char* end = last.data() + last.size();
    if (end < first.data() || !is_ascii(first.data(), static_cast<std::size_t>(end - first.data()))) return false;
  }
  return true;
}

}  // namespace tallymark

// Hash tables, and dictionaries from labels to small codes, numbered in the order of their first appearance.
//
// Hashes are seeded per process, so that nobody can prepare labels that all collide. The seed never shows in a result:
// codes are renumbered by the order of the labels before anyone sees them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "target.hpp"

namespace tallymark {

inline std::uint64_t hash_seed() {
  static const std::uint64_t seed = [] {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32) | device();
  }();
  return seed;
}

// Both halves of a 128-bit product, folded: every bit of a and b reaches every bit of the result.
TM_INLINE std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const UInt128 product = static_cast<UInt128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

TM_INLINE std::uint64_t hash_integer(std::uint64_t x, std::uint64_t seed) {
  return fold(fold(x ^ seed, 0x9e3779b97f4a7c15ULL) ^ seed, 0xe7037ed1a0b428dbULL);
}

// A table from 64-bit keys to values, in place: a look-up touches one line of memory. A slot is free as long as
// `Traits::empty(value)`, so a value that was added must not be empty.
template <class Value, class Traits>
class KeyTable {
 public:
  std::size_t size() const { return size_; }

  // The value of a key, empty if it is new; the caller fills it before the next look-up.
  Value& operator[](std::uint64_t key) {
    if (2 * size_ >= slots_.size()) grow();
    std::size_t at = hash_integer(key, seed_) & mask_;
    while (!Traits::empty(slots_[at].value)) {
      if (slots_[at].key == key) return slots_[at].value;
      at = (at + 1) & mask_;
    }
    ++size_;
    slots_[at].key = key;
    return slots_[at].value;
  }

  template <class Visit>
  void each(Visit&& visit) const {
    for (const Slot& slot : slots_)
      if (!Traits::empty(slot.value)) visit(slot.key, slot.value);
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Value value = Traits::kEmpty;
  };

  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 64 : 2 * slots_.size()));
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (Traits::empty(slot.value)) continue;
      std::size_t at = hash_integer(slot.key, seed_) & mask_;
      while (!Traits::empty(slots_[at].value)) at = (at + 1) & mask_;
      slots_[at] = slot;
    }
  }

  std::uint64_t seed_ = hash_seed();
  std::size_t size_ = 0, mask_ = 0;
  std::vector<Slot> slots_;
};

// 64-bit keys to codes.
class KeyDictionary {
 public:
  std::size_t size() const { return keys_.size(); }
  std::uint64_t key(std::size_t code) const { return keys_[code]; }
  std::uint32_t code(std::uint64_t key) {
    std::uint32_t& code = codes_[key];
    if (code == Codes::kEmpty) {
      code = static_cast<std::uint32_t>(keys_.size());
      keys_.push_back(key);
    }
    return code;
  }
  // The codes that the keys of another dictionary have here.
  std::vector<std::uint32_t> adopt(const KeyDictionary& other) {
    std::vector<std::uint32_t> codes(other.size());
    for (std::size_t k = 0; k < codes.size(); ++k) codes[k] = code(other.key(k));
    return codes;
  }

 private:
  struct Codes {
    static constexpr std::uint32_t kEmpty = 0xffffffffU;
    static bool empty(std::uint32_t code) { return code == kEmpty; }
  };
  KeyTable<std::uint32_t, Codes> codes_;
  std::vector<std::uint64_t> keys_;
};

// A text with its first and last eight bytes at hand: up to sixteen bytes, they and the length are the text.
struct Text {
  std::string_view all;
  std::uint64_t head = 0, tail = 0;

  Text() = default;
  TM_INLINE explicit Text(std::string_view text) : all(text) {
    const std::size_t n = text.size();
    const char* at = text.data();
    if (n >= 8) {
      std::memcpy(&head, at, 8);
      std::memcpy(&tail, at + n - 8, 8);
    } else if (n >= 4) {
      std::uint32_t low, high;
      std::memcpy(&low, at, 4);
      std::memcpy(&high, at + n - 4, 4);
      head = (static_cast<std::uint64_t>(high) << 32) | low;
    } else {
      for (std::size_t k = 0; k < n; ++k)
        head |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[k])) << 8 * k;
    }
  }

  TM_INLINE bool operator==(const Text& other) const {
    if (all.size() != other.all.size() || head != other.head || tail != other.tail) return false;
    return all.size() <= 16 || std::memcmp(all.data(), other.all.data(), all.size()) == 0;
  }

  TM_INLINE std::uint64_t hash(std::uint64_t seed) const {
    std::uint64_t h = seed ^ all.size();
    for (std::size_t at = 8; at + 8 < all.size(); at += 8) {
      std::uint64_t word;
      std::memcpy(&word, all.data() + at, 8);
      h = fold(h ^ word, 0x9e3779b97f4a7c15ULL);
    }
    // A seed can be a poor factor, so the last one is not the seed's.
    return fold(fold(fold(h ^ head, 0xe7037ed1a0b428dbULL) ^ tail, h | 1), 0x9e3779b97f4a7c15ULL);
  }
};

// Keys that bring a hash and compare, to codes.
template <class Key>
class Dictionary {
 public:
  std::size_t size() const { return keys_.size(); }
  const Key& key(std::size_t code) const { return keys_[code]; }

  TM_INLINE std::uint32_t code(const Key& key, std::uint64_t hash) {
    const std::uint32_t known = find(key, hash);
    return known != kUnknown ? known : add(key, hash);
  }
  static constexpr std::uint32_t kUnknown = 0xffffffffU;
  TM_INLINE std::uint32_t find(const Key& key, std::uint64_t hash) const {
    std::size_t slot = hash & mask_;
    while (slots_[slot].code != kUnknown) {
      if (slots_[slot].tag == tag_of(hash) && keys_[slots_[slot].code] == key) break;
      slot = (slot + 1) & mask_;
    }
    return slots_[slot].code;
  }
  // A key that is unknown.
  std::uint32_t add(const Key& key, std::uint64_t hash) {
    const auto fresh = static_cast<std::uint32_t>(keys_.size());
    place(hash, fresh);
    keys_.push_back(key);
    hashes_.push_back(hash);
    if (2 * keys_.size() > mask_) grow();
    return fresh;
  }
  std::vector<std::uint32_t> adopt(const Dictionary& other) {
    std::vector<std::uint32_t> codes(other.size());
    for (std::size_t k = 0; k < codes.size(); ++k) codes[k] = code(other.keys_[k], other.hashes_[k]);
    return codes;
  }

 private:
  struct Slot {
    std::uint32_t tag = 0, code = kUnknown;
  };
  static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

  void place(std::uint64_t hash, std::uint32_t code) {
    std::size_t slot = hash & mask_;
    while (slots_[slot].code != kUnknown) slot = (slot + 1) & mask_;
    slots_[slot] = {tag_of(hash), code};
  }

  void grow() {
    mask_ = 2 * mask_ + 1;
    slots_.assign(mask_ + 1, {});
    for (std::size_t code = 0; code < keys_.size(); ++code) place(hashes_[code], static_cast<std::uint32_t>(code));
  }

  std::size_t mask_ = 31;
  std::vector<Slot> slots_ = std::vector<Slot>(32);
  std::vector<Key> keys_;
  std::vector<std::uint64_t> hashes_;
};

// Texts to codes. A text is looked up in the caller's memory, and a new one kept in our own: see `own_copy.hpp`.
class TextDictionary {
 public:
  std::size_t size() const { return dictionary_.size(); }
  std::string_view text(std::size_t code) const { return dictionary_.key(code).all; }
  TM_INLINE std::uint32_t code(std::string_view text) {
    const Text key(text);
    const std::uint32_t known = dictionary_.find(key, key.hash(seed_));
    return known != Dictionary<Text>::kUnknown ? known : add(text);
  }
  std::vector<std::uint32_t> adopt(const TextDictionary& other) {
    pages_.insert(pages_.end(), other.pages_.begin(), other.pages_.end());
    return dictionary_.adopt(other.dictionary_);
  }

 private:
  static constexpr std::size_t kPage = 4096;

  std::uint32_t add(std::string_view text) {
    if (text.size() > left_) {
      left_ = std::max(text.size(), kPage);
      pages_.push_back(std::make_shared<char[]>(left_));
      free_ = pages_.back().get();
    }
    std::copy(text.begin(), text.end(), free_);
    const Text key({free_, text.size()});
    const std::uint64_t hash = key.hash(seed_);
    const std::uint32_t known = dictionary_.find(key, hash);  // it may be another text than the one that was looked up
    if (known != Dictionary<Text>::kUnknown) return known;
    free_ += text.size();
    left_ -= text.size();
    return dictionary_.add(key, hash);
  }

  std::uint64_t seed_ = hash_seed();
  std::vector<std::shared_ptr<char[]>> pages_;  // shared with dictionaries that adopt the texts
  char* free_ = nullptr;
  std::size_t left_ = 0;
  Dictionary<Text> dictionary_;
};

}  // namespace tallymark

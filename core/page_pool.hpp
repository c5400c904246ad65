// Room for many rows, in large pages where the system has them, since dealing touches it all over. The system clears
// fresh pages, which takes as long as filling them and would be a tenth of the time of a call: room that was given back
// is kept for the next call. What is kept is marked free, so that the system takes it where memory runs short.
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>

#include "target.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tallymark {

namespace detail {

#if defined(__linux__)

inline constexpr std::size_t kPage = std::size_t{1} << 21;
#if defined(TM_ADDRESS_SANITIZER)
inline constexpr std::size_t kMostKept = 0;  // what is used after it was given back is to be seen
#else
inline constexpr std::size_t kMostKept = std::size_t{1} << 27;  // bytes
#endif

// Blocks that nobody uses now. A thread never waits for it: in a forked child, who holds the lock may be gone.
class KeptRoom {
 public:
  // A block of at least this size and of less than twice as much, or nothing.
  void* take(std::size_t& size) {
    const std::unique_lock<std::mutex> held(lock_, std::try_to_lock);
    if (!held) return nullptr;
    Block* best = nullptr;
    for (Block& each : blocks_)
      if (each.size >= size && each.size < 2 * size && (best == nullptr || each.size < best->size)) best = &each;
    if (best == nullptr) return nullptr;
    void* const found = best->start;
    size = best->size;
    total_ -= size;
    *best = {};
    return found;
  }

  void give(void* start, std::size_t size) {
    if (!keep(start, size)) std::free(start);
  }

 private:
  struct Block {
    void* start = nullptr;
    std::size_t size = 0;
  };

  bool keep(void* start, std::size_t size) {
    const std::unique_lock<std::mutex> held(lock_, std::try_to_lock);
    if (!held || total_ + size > kMostKept) return false;
    for (Block& each : blocks_) {
      if (each.start != nullptr) continue;
      madvise(start, size, MADV_FREE);
      each = {start, size};
      total_ += size;
      return true;
    }
    return false;
  }

  std::mutex lock_;
  std::array<Block, 32> blocks_;
  std::size_t total_ = 0;
};

inline KeptRoom& kept_room() {
  static KeptRoom& only = *new KeptRoom;  // never destroyed: arrays may outlive everything else
  return only;
}

#endif

}  // namespace detail

template <class Row>
std::shared_ptr<Row[]> room_for(std::size_t n) {
#if defined(__linux__)
  if (n * sizeof(Row) >= 2 * detail::kPage) {
    std::size_t size = (n * sizeof(Row) + detail::kPage - 1) / detail::kPage * detail::kPage;
    void* start = detail::kept_room().take(size);
    if (start == nullptr) {
      start = std::aligned_alloc(detail::kPage, size);
      if (start == nullptr) throw std::bad_alloc();
      madvise(start, size, MADV_HUGEPAGE);
    }
    return std::shared_ptr<Row[]>(static_cast<Row*>(start),
                                  [size](Row* rows) { detail::kept_room().give(rows, size); });
  }
#endif
  return std::shared_ptr<Row[]>(new Row[n]);
}

}  // namespace tallymark

// Work over fixed blocks on a few threads. Which thread takes which block never shows in a result, since the partial
// results are exact. Threads live for one call: a forked child has none to lose.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace tallymark {

inline std::atomic<int>& thread_limit() {
  static std::atomic<int> limit{1};
  return limit;
}

// The limit of calls from this thread, where it has one of its own: others may do the same work beside it. 0 is none.
inline int& own_thread_limit() {
  static thread_local int limit = 0;
  return limit;
}

// How many threads `rows` rows deserve: starting one costs what it takes to read some ten thousand rows.
inline std::size_t threads_for(std::size_t rows) {
  const int own = own_thread_limit();
  const auto limit = static_cast<std::size_t>(own > 0 ? own : thread_limit().load());
  return std::clamp<std::size_t>(rows / 65536, 1, limit);
}

// Calls work(thread, first, last) so that the ranges cover [0, blocks), the last range on the calling thread.
template <class Work>
void for_ranges(std::size_t blocks, std::size_t threads, Work&& work) {
  std::vector<std::exception_ptr> failures(threads);
  const auto guarded = [&](std::size_t t) {
    try {
      work(t, blocks * t / threads, blocks * (t + 1) / threads);
    } catch (...) {
      failures[t] = std::current_exception();
    }
  };
  std::vector<std::thread> pool;
  pool.reserve(threads - 1);
  std::size_t started = 0;
  for (; started + 1 < threads; ++started) {
    try {
      pool.emplace_back(guarded, started);
    } catch (const std::exception&) {
      break;  // the system has no thread left: the calling one does the rest
    }
  }
  for (std::size_t t = started; t < threads; ++t) guarded(t);
  for (auto& thread : pool) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tallymark

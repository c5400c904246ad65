// Tests of matching texts, built with the address and undefined-behaviour sanitizers.
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "matching.hpp"

using namespace tallymark;

namespace {

// A column of texts in Arrow's form, in chunks whose buffers have exactly their size; an empty text of "?" is missing.
struct Held {
  std::vector<std::unique_ptr<char[]>> bytes;
  std::vector<std::unique_ptr<std::vector<const void*>>> pointers;

  const char* keep(const void* data, std::size_t size) {
    auto& held = bytes.emplace_back(new char[size]);
    if (size != 0) std::memcpy(held.get(), data, size);
    return held.get();
  }
  std::shared_ptr<const ArrowColumn> column(const std::vector<std::vector<std::string>>& chunks) {
    ArrowSchema schema{};
    schema.format = "u";
    schema.release = [](ArrowSchema* s) { s->release = nullptr; };
    std::vector<Owned<ArrowArray>> owned;
    for (const auto& chunk : chunks) {
      std::vector<std::int32_t> offsets{0};
      std::vector<unsigned char> there((chunk.size() + 7) / 8, 0);
      std::string data;
      for (std::size_t i = 0; i < chunk.size(); ++i) {
        if (chunk[i] != "?") {
          data += chunk[i];
          there[i / 8] = static_cast<unsigned char>(there[i / 8] | (1U << (i % 8)));
        }
        offsets.push_back(static_cast<std::int32_t>(data.size()));
      }
      auto& held = pointers.emplace_back(std::make_unique<std::vector<const void*>>());
      *held = {keep(there.data(), there.size()), keep(offsets.data(), offsets.size() * 4),
               keep(data.data(), data.size())};
      ArrowArray array{};
      array.length = static_cast<std::int64_t>(chunk.size());
      array.n_buffers = 3;
      array.null_count = -1;
      array.buffers = held->data();
      array.release = [](ArrowArray* a) { a->release = nullptr; };
      owned.emplace_back(&array);
    }
    return std::make_shared<const ArrowColumn>(Owned<ArrowSchema>(&schema), std::move(owned));
  }
};

using Chunks = std::vector<std::vector<std::string>>;

void are_coded_as_by_a_map(const Chunks& first, const Chunks& second, const char* what) {
  Held held;
  const auto one = held.column(first), other = held.column(second);
  const std::size_t rows = one->rows() + other->rows();
  TextCodes texts;
  std::vector<std::int32_t> codes(rows + 1, 77);
  texts.code(one, codes.data());
  texts.code(other, codes.data() + one->rows());
  std::map<std::string, std::int32_t> seen;
  std::vector<std::int64_t> firsts;
  std::size_t row = 0;
  bool same = codes.back() == 77;
  for (const Chunks* column : {&first, &second})
    for (const auto& chunk : *column)
      for (const std::string& text : chunk) {
        std::int32_t expected = -1;
        if (text != "?") {
          expected = seen.emplace(text, static_cast<std::int32_t>(seen.size())).first->second;
          if (static_cast<std::size_t>(expected) == firsts.size()) firsts.push_back(static_cast<std::int64_t>(row));
        }
        same = same && codes[row] == expected;
        ++row;
      }
  check(same && row == rows && firsts == texts.firsts(), what);
}

Chunks random_chunks(std::mt19937& random, std::size_t rows, std::size_t distinct) {
  Chunks out(1);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t k = random() % distinct;
    out.back().push_back(k == 0 ? "?" : std::string(k % 23, 'x') + std::to_string(k));
    if (random() % 500 == 0) out.emplace_back();
    if (random() % 900 == 0) out.emplace_back();  // some are empty
  }
  return out;
}

}  // namespace

int main() {
  are_coded_as_by_a_map({}, {}, "no rows");
  are_coded_as_by_a_map({{}}, {{"a"}, {}}, "one row");
  are_coded_as_by_a_map({{"a", "", "?", "a"}}, {{"b"}, {"", "a", "?"}}, "a few rows");
  Held held;
  check(are_plain(*held.column({{"a", "a b", "?"}, {}, {"~"}})), "plain texts");
  for (const char* odd : {"", " a", "a\t", "\xc3\xa4", "a\xc2\xa0"})
    check(!are_plain(*held.column({{"a"}, {odd}})), "a text that needs care");
  std::mt19937 random(7);
  for (const int threads : {1, 3}) {
    thread_limit() = threads;
    for (const std::size_t distinct : {1U, 2U, 40U, 100000U}) {
      are_coded_as_by_a_map(random_chunks(random, 5000, distinct), random_chunks(random, 7000, distinct), "many rows");
      are_coded_as_by_a_map(random_chunks(random, 10, distinct), random_chunks(random, 200000, distinct), "threads");
    }
  }
  return finish("matching");
}

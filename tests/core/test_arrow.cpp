// Tests of reading Arrow data, built with the address and undefined-behaviour sanitizers.
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrow.hpp"
#include "check.hpp"
#include "label_number.hpp"

using namespace tallymark;

namespace {

// Arrow data by hand: what a producer would hand over, with buffers of exactly their size.
struct Producer {
  std::vector<std::unique_ptr<std::vector<char>>> bytes;
  std::vector<std::unique_ptr<std::vector<const void*>>> pointers;
  std::vector<std::unique_ptr<ArrowArray>> dictionaries;
  ArrowSchema values{};

  template <class T>
  const void* buffer(const std::vector<T>& items) {
    auto held = std::make_unique<std::vector<char>>(items.size() * sizeof(T));
    if (!items.empty()) std::memcpy(held->data(), items.data(), held->size());
    return bytes.emplace_back(std::move(held))->data();
  }
  ArrowArray array(std::int64_t length, std::int64_t offset, std::vector<const void*> buffers,
                   std::int64_t nulls = -1) {
    auto& held = pointers.emplace_back(std::make_unique<std::vector<const void*>>(std::move(buffers)));
    ArrowArray out{};
    out.length = length;
    out.offset = offset;
    out.null_count = nulls;
    out.n_buffers = static_cast<std::int64_t>(held->size());
    out.buffers = held->data();
    out.release = [](ArrowArray* a) { a->release = nullptr; };
    return out;
  }
  ArrowArray with_dictionary(ArrowArray codes, const ArrowArray& dictionary) {
    codes.dictionary = dictionaries.emplace_back(std::make_unique<ArrowArray>(dictionary)).get();
    return codes;
  }
  std::shared_ptr<const ArrowColumn> column(const char* format, std::vector<ArrowArray> arrays,
                                            const char* dictionary = nullptr) {
    ArrowSchema schema{};
    schema.format = format;
    schema.release = [](ArrowSchema* s) { s->release = nullptr; };
    values.format = dictionary;
    if (dictionary != nullptr) schema.dictionary = &values;
    std::vector<Owned<ArrowArray>> owned;
    for (ArrowArray& a : arrays) owned.emplace_back(&a);
    return std::make_shared<const ArrowColumn>(Owned<ArrowSchema>(&schema), std::move(owned));
  }
};

// Rows as texts: numbers in decimal, "?" for a missing and "/" for a fractional one.
std::string shown(const std::shared_ptr<const ArrowColumn>& column) {
  ArrowReader reader(column, false);
  std::vector<std::uint32_t> codes(column->rows());
  std::string out;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto before = reader.faults.entries[static_cast<std::size_t>(Fault::fractional)].count;
    reader.read(i, 1, &codes[i]);
    const bool fraction = reader.faults.entries[static_cast<std::size_t>(Fault::fractional)].count != before;
    if (codes[i] == kNoLabel) {
      out += fraction ? "/" : "?";
    } else {
      const Label label = reader.label(codes[i]);
      out += label.form == Label::Form::utf8 ? std::string(label.text)
                                             : std::to_string(static_cast<long long>(number(label)));
    }
    out += ' ';
  }
  if (!codes.empty()) {
    ArrowReader whole(column, false);
    std::vector<std::uint32_t> again(codes.size());
    whole.read(0, codes.size(), again.data());
    check(again == codes, "row by row or all at once");
  }
  return out;
}

void arrow_columns_are_read() {
  Producer p;
  const void* offsets = p.buffer<std::int32_t>({0, 1, 1, 3, 4});
  const void* large = p.buffer<std::int64_t>({0, 1, 1, 3, 4});
  const void* data = p.buffer<char>({'a', 'b', 'b', 'a'});
  const void* some = p.buffer<unsigned char>({0b1011});
  check(shown(p.column("u", {p.array(4, 0, {nullptr, offsets, data})})) == "a  bb a ", "texts");
  check(shown(p.column("u", {p.array(3, 1, {some, offsets, data})})) == " ? a ", "an offset holds for the bitmap too");
  check(
      shown(p.column("U", {p.array(2, 2, {nullptr, large, data}), p.array(0, 0, {nullptr, nullptr, nullptr}),
                           p.array(1, 0, {nullptr, large, data}), p.array(0, 4, {nullptr, large, data})})) == "bb a a ",
      "large texts in chunks, some of them empty");
  check(shown(p.column("u", {})).empty() && p.column("u", {})->rows() == 0, "no chunks at all");
  check(shown(p.column("u", {p.array(1, 0, {nullptr, p.buffer<std::int32_t>({0, 0}), nullptr})})) == " ",
        "an empty text without data");

  std::vector<char> views(48, 0);
  const std::string inside = "twelve bytes", outside = "thirteen byte";
  views[0] = 12;
  std::memcpy(&views[4], inside.data(), 12);
  const std::int32_t words[4] = {13, 0, 1, 2};
  std::memcpy(&views[16], words, 16);
  const void* blocks[2] = {p.buffer<char>({'-'}), p.buffer(std::vector<char>{'.', '.', 't', 'h', 'i', 'r', 't', 'e',
                                                                             'e', 'n', ' ', 'b', 'y', 't', 'e'})};
  const void* sizes = p.buffer<std::int64_t>({1, 15});
  check(shown(p.column("vu", {p.array(3, 0, {nullptr, p.buffer(views), blocks[0], blocks[1], sizes})})) ==
            inside + " " + outside + "  ",
        "string views, short, long and empty");

  check(shown(p.column("b", {p.array(3, 2, {some, p.buffer<unsigned char>({0b01100})})})) == "? 1 ? ",
        "bools are bits, and so is what is there");
  const void* small = p.buffer<std::int16_t>({-1, 300, 7, 7});
  check(shown(p.column("s", {p.array(3, 1, {some, small})})) == "300 ? 7 ", "integers with gaps");
  check(!p.column("s", {p.array(3, 1, {some, small})})->plain(), "are no plain column");
  check(p.column("s", {p.array(3, 1, {some, small}, 0)})->plain().has_value(), "unless nothing is missing");
  check(shown(p.column("L", {p.array(1, 0, {nullptr, p.buffer<std::uint64_t>({kTop})})})) != "0 ", "u64");
  check(shown(p.column("g", {p.array(3, 0, {nullptr, p.buffer<double>({2.0, 0.5, NAN})})})) == "2 / ? ", "floats");
  check(shown(p.column("n", {p.array(2, 0, {})})) == "? ? ", "nothing but nulls");
  for (const char* format : {"+l", "tdD", "d:10,2", "w:4", "", "ss", "+s"})
    check(!p.column(format, {})->readable(), "other types are refused");
}

void arrow_dictionaries_are_read() {
  Producer p;
  const void* offsets = p.buffer<std::int32_t>({0, 1, 1, 3, 4});
  const void* data = p.buffer<char>({'a', 'b', 'b', 'a'});
  const void* some = p.buffer<unsigned char>({0b0111});
  const ArrowArray first = p.array(4, 0, {nullptr, offsets, data}), second = p.array(2, 2, {nullptr, offsets, data});
  const ArrowArray holes = p.array(4, 0, {some, offsets, data});
  const void* codes = p.buffer<std::int8_t>({3, 2, 0, 1, -1, 9});
  check(shown(p.column("c", {p.with_dictionary(p.array(4, 0, {nullptr, codes}), first)}, "u")) == "a bb a  ", "codes");
  check(shown(p.column("c",
                       {p.with_dictionary(p.array(2, 2, {nullptr, codes}), second),
                        p.with_dictionary(p.array(0, 0, {nullptr, nullptr}), first),
                        p.with_dictionary(p.array(2, 2, {some, codes}), first)},
                       "u")) == "bb a a ? ",
        "dictionaries that differ by chunk, and lie at an offset");
  check(shown(p.column("c", {p.with_dictionary(p.array(6, 0, {nullptr, codes}), holes)}, "u")) == "? bb a  ? ? ",
        "codes of nulls, and codes that lead nowhere");
  const ArrowArray reals = p.array(2, 0, {nullptr, p.buffer<double>({0.5, 4.0})});
  const void* places = p.buffer<std::uint64_t>({1, 0, ~std::uint64_t{0}});
  check(shown(p.column("L", {p.with_dictionary(p.array(3, 0, {nullptr, places}), reals)}, "g")) == "4 / ? ",
        "numbers in a dictionary, and codes of 64 bits");
  check(!p.column("g", {}, "u")->readable() && !p.column("u", {}, "u")->readable(), "codes must be integers");
  check(!p.column("c", {}, "+l")->readable(), "and the values labels");
}

// The first malformed row, or -1.
int malformed(const std::shared_ptr<const ArrowColumn>& column) {
  check(shown(column).find_first_not_of("? ") == std::string::npos || !column->malformed(), "no row of it is read");
  return column->malformed() ? static_cast<int>(*column->malformed()) : -1;
}

void malformed_columns_are_not_read() {
  Producer p;
  const void* data = p.buffer<char>({'a', 'b', 'b', 'a'});
  const auto texts = [&](std::vector<std::int32_t> offsets, std::int64_t from = 0) {
    const auto rows = static_cast<std::int64_t>(offsets.size()) - 1 - from;
    return p.array(rows, from, {nullptr, p.buffer(offsets), data});
  };
  check(malformed(p.column("u", {texts({0, 1, 1, 4})})) == -1, "offsets in order");
  check(malformed(p.column("u", {texts({0, 1, -9, 4})})) == 1, "a negative offset");
  check(malformed(p.column("u", {texts({-1, 1, 4})})) == 0, "a first offset that is negative");
  check(malformed(p.column("u", {texts({0, 1, 4}), texts({9, 0, 7, 4, 4}, 1)})) == 3, "a later chunk, at an offset");
  check(malformed(p.column("u", {p.array(1, 0, {nullptr, p.buffer<std::int32_t>({0, 1}), nullptr})})) == 0, "no data");
  check(malformed(p.column("U", {p.array(1, 0, {nullptr, p.buffer<std::int64_t>({3, 1}), data})})) == 0, "large texts");

  const auto view = [&](std::int32_t length, std::int32_t block, std::int32_t at) {
    const void* held = p.buffer<std::int32_t>({length, 0, block, at});
    const void* bytes = p.buffer(std::vector<char>(20, 'x'));
    return p.column("vu", {p.array(1, 0, {nullptr, held, bytes, p.buffer<std::int64_t>({20})})});
  };
  check(malformed(view(13, 0, 7)) == -1 && malformed(view(13, 0, 8)) == 0, "a view ends within its block");
  check(malformed(view(13, 1, 0)) == 0 && malformed(view(13, -1, 0)) == 0 && malformed(view(13, 0, -1)) == 0 &&
            malformed(view(-1, 0, 0)) == 0 && malformed(view(13, 0, 0x7fffffff)) == 0,
        "a view of a block that is not there");

  const ArrowArray labels = p.array(2, 0, {nullptr, p.buffer<std::int32_t>({0, 7, 4}), data});
  const void* codes = p.buffer<std::int8_t>({0, 2});
  check(malformed(p.column("c", {p.with_dictionary(p.array(2, 0, {nullptr, codes}), labels)}, "u")) == 0,
        "a malformed dictionary");
  ArrowReader reader(p.column("c", {p.with_dictionary(p.array(2, 0, {nullptr, codes}), texts({0, 1, 2}))}, "u"), false);
  std::uint32_t found[2];
  reader.read(0, 2, found);
  const auto& faults = reader.faults.entries[static_cast<std::size_t>(Fault::malformed)];
  check(found[0] == 0 && found[1] == kNoLabel && faults.count == 1 && faults.first == 1, "a code of no label");

  const auto refused = [&](const char* format, ArrowArray array) {
    try {
      p.column(format, {array});
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  check(refused("u", p.array(-1, 0, {nullptr, data, data})) && refused("u", p.array(1, -1, {nullptr, data, data})) &&
            refused("u", p.array(1, 0, {nullptr, data})) && refused("l", p.array(1, 0, {nullptr, nullptr})),
        "lengths and buffers that cannot be");
}

}  // namespace

int main() {
  arrow_columns_are_read();
  arrow_dictionaries_are_read();
  malformed_columns_are_not_read();
  return finish("arrow");
}

// Labels that are Python objects: the items of a list, a tuple or an object array. Needs the interpreter's lock.
//
// Strings and numbers of exact built-in types are read directly. Anything else goes through a function of the caller's,
// which may run any code, even code that changes the list: every item is looked up anew and held while it is read.
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "labels.hpp"

namespace tallymark {

namespace nb = nanobind;

class ObjectReader final : public LabelReader {
 public:
  // `items` is a list or tuple, or `array` an exported buffer of objects. `normal` turns other objects into an int, a
  // float, a str, None where a label is missing, or NotImplemented.
  ObjectReader(nb::object items, const Py_buffer* array, nb::object normal, bool fractions)
      : items_(std::move(items)), array_(array), normal_(std::move(normal)), fractions_(fractions) {}

  void read(std::size_t first, std::size_t n, std::uint32_t* codes) override {
    for (std::size_t i = 0; i < n; ++i) codes[i] = read_item(item(first + i), first + i);
  }
  std::size_t size() const override { return labels_.size(); }
  Label label(std::uint32_t code) const override {
    return {Label::Form::object, 0, 0.0, {}, const_cast<PyObject*>(labels_[code].ptr())};
  }
  bool less(std::uint32_t a, std::uint32_t b) const override {
    return PyObject_RichCompareBool(labels_[a].ptr(), labels_[b].ptr(), Py_LT) == 1;
  }
  std::vector<std::uint32_t> adopt(const LabelReader& fork) override { return same_codes(fork.size()); }

 private:
  // Two strings are one label where their characters are the same.
  struct Characters {
    PyObject* object;
    bool operator==(const Characters& other) const {
      return object == other.object || PyUnicode_Compare(object, other.object) == 0;
    }
  };

  nb::object item(std::size_t row) const {
    if (array_ != nullptr) {
      const char* place = static_cast<const char*>(array_->buf) + static_cast<Py_ssize_t>(row) * array_->strides[0];
      PyObject* held;
      std::memcpy(&held, place, sizeof held);
      return held == nullptr ? nb::none() : nb::borrow(held);
    }
    const auto at = static_cast<Py_ssize_t>(row);
    if (PyTuple_Check(items_.ptr())) return nb::borrow(PyTuple_GetItem(items_.ptr(), at));
#if defined(Py_GIL_DISABLED)
    PyObject* const held = PyList_GetItemRef(items_.ptr(), at);
#else
    PyObject* const held = Py_XNewRef(PyList_GetItem(items_.ptr(), at));
#endif
    if (held != nullptr) return nb::steal(held);
    PyErr_Clear();  // the list has become shorter
    return nb::none();
  }

  std::uint32_t read_item(const nb::object& item, std::size_t row, bool again = false) {
    PyObject* o = item.ptr();
    if (PyUnicode_CheckExact(o)) return text(item, row);
    if (o == Py_None) return refuse(Fault::missing, row);
    if (PyBool_Check(o) || PyLong_CheckExact(o)) {
      int overflow = 0;
      const long long value = PyLong_AsLongLongAndOverflow(o, &overflow);
      return overflow == 0 ? integer(value, row) : odd_number(item, row);
    }
    if (PyFloat_CheckExact(o)) return real_number(PyFloat_AsDouble(o), row);
    if (again) return refuse(Fault::unreadable, row);
    const nb::object plain = normal_(item);
    if (plain.ptr() == Py_NotImplemented) return refuse(Fault::unreadable, row);
    return read_item(plain, row, true);
  }

  std::uint32_t text(const nb::object& item, std::size_t row) {
    if (is_mixed(true)) return refuse(Fault::mixed, row);
    const auto hash = static_cast<std::uint64_t>(PyObject_Hash(item.ptr()));
    const std::uint32_t code = texts_.code({item.ptr()}, fold(hash ^ seed_, 0x9e3779b97f4a7c15ULL));
    if (code == labels_.size()) labels_.push_back(item);  // keeps the key alive
    return code;
  }

  std::uint32_t integer(long long value, std::size_t row) {
    if (is_mixed(false)) return refuse(Fault::mixed, row);
    const auto key = static_cast<std::uint64_t>(value);
    const std::uint32_t place = numbers_.code(key);
    if (place == codes_.size()) {
      codes_.push_back(static_cast<std::uint32_t>(labels_.size()));
      labels_.push_back(nb::steal(PyLong_FromLongLong(value)));
    }
    return codes_[place];
  }

  std::uint32_t real_number(double value, std::size_t row) {
    if (!std::isfinite(value)) return refuse(Fault::missing, row);
    if (std::trunc(value) == value) {
      if (value >= -0x1p63 && value < 0x1p63) return integer(static_cast<long long>(value), row);
      return odd_number(nb::steal(PyLong_FromDouble(value)), row);
    }
    return fractions_ ? odd_number(nb::steal(PyFloat_FromDouble(value)), row) : refuse(Fault::fractional, row);
  }

  // Integers beyond 64 bits, and fractions.
  std::uint32_t odd_number(const nb::object& item, std::size_t row) {
    if (is_mixed(false)) return refuse(Fault::mixed, row);
    if (odd_.contains(item)) return nb::cast<std::uint32_t>(odd_[item]);
    const auto code = static_cast<std::uint32_t>(labels_.size());
    odd_[item] = code;
    labels_.push_back(item);
    return code;
  }

  // Whether the column holds both texts and numbers.
  bool is_mixed(bool text) {
    (text ? saw_text_ : saw_number_) = true;
    return saw_text_ && saw_number_;
  }

  std::uint32_t refuse(Fault fault, std::size_t row) {
    faults.add(fault, row);
    return kNoLabel;
  }

  nb::object items_;
  const Py_buffer* array_;
  nb::object normal_;
  bool fractions_;
  bool saw_text_ = false, saw_number_ = false;
  std::uint64_t seed_ = hash_seed();
  Dictionary<Characters> texts_;
  KeyDictionary numbers_;
  std::vector<std::uint32_t> codes_;  // of the numbers
  nb::dict odd_;
  std::vector<nb::object> labels_;
};

}  // namespace tallymark

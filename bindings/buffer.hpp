// A NumPy array, or anything with the buffer protocol, as columns: byte strides of any sign, no alignment asked for.
#pragma once

#include <nanobind/nanobind.h>

#include <bit>
#include <string>
#include <vector>

#include "column.hpp"

namespace tallymark {

namespace nb = nanobind;

// Whether a mark before the code of a format says that numbers are in the byte order of this machine. ctypes, and
// NumPy's views of it, name the order even where it is that.
inline bool is_native(char mark) {
  return mark == '@' || mark == '=' || mark == (std::endian::native == std::endian::little ? '<' : '>');
}

class Buffer {
 public:
  explicit Buffer(nb::handle source) {
    if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_FULL_RO) != 0) throw nb::python_error();
    held_ = true;
    if (view_.ndim != 1 && view_.ndim != 2) fail("must have one or two dimensions");
    type_ = type_of(view_.format == nullptr ? "B" : view_.format, view_.itemsize);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (held_) PyBuffer_Release(&view_);
  }

  std::size_t rows() const { return static_cast<std::size_t>(view_.shape[0]); }

  std::vector<Column> columns() const {
    const Py_ssize_t count = view_.ndim == 1 ? 1 : view_.shape[1];
    const Py_ssize_t step = view_.ndim == 1 ? 0 : view_.strides[1];
    std::vector<Column> out;
    out.reserve(static_cast<std::size_t>(count));
    for (Py_ssize_t k = 0; k < count; ++k)
      out.push_back({static_cast<const char*>(view_.buf) + k * step, view_.strides[0], type_});
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) {
    PyBuffer_Release(&view_);
    held_ = false;
    throw nb::value_error(("array " + what).c_str());
  }

  Type type_of(const std::string& format, Py_ssize_t size) {
    const std::string code = format.size() == 2 && is_native(format[0]) ? format.substr(1) : format;
    if (code == "d" && size == 8) return Type::f64;
    if (code == "f" && size == 4) return Type::f32;
    if (code == "e" && size == 2) return Type::f16;
    if (code == "?" && size == 1) return Type::boolean;
    if (code.size() == 1 && std::string("bhilqn").find(code[0]) != std::string::npos)
      return size == 8 ? Type::i64 : size == 4 ? Type::i32 : size == 2 ? Type::i16 : Type::i8;
    if (code.size() == 1 && std::string("BHILQN").find(code[0]) != std::string::npos)
      return size == 8 ? Type::u64 : size == 4 ? Type::u32 : size == 2 ? Type::u16 : Type::u8;
    fail("of format '" + format + "' is not numeric in this machine's byte order");
  }

  Py_buffer view_{};
  bool held_ = false;
  Type type_ = Type::f64;
};

}  // namespace tallymark

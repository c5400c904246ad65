// A C-contiguous array of one type, held through the buffer protocol and read in place.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "buffer.hpp"

namespace tallymark {

namespace nb = nanobind;

template <class T>
class Array {
 public:
  Array(nb::handle source, const char* name, int dimensions = 1) {
    if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
      if (PyErr_ExceptionMatches(PyExc_TypeError) != 0) throw nb::python_error();
      PyErr_Clear();
      throw nb::value_error((std::string(name) + " must be C-contiguous").c_str());
    }
    const bool aligned = reinterpret_cast<std::uintptr_t>(view_.buf) % alignof(T) == 0;
    const std::string problem = view_.ndim != dimensions ? " must have " + std::to_string(dimensions) + " dimension(s)"
                                : !right_type() || !aligned ? std::string(" must be an aligned array of ") + kType
                                                            : std::string();
    if (problem.empty()) return;
    PyBuffer_Release(&view_);
    throw nb::value_error((name + problem).c_str());
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { PyBuffer_Release(&view_); }

  // Whether nobody can write to it through the object that was given.
  bool read_only() const { return view_.readonly != 0; }
  const T* data() const { return static_cast<const T*>(view_.buf); }
  std::size_t size(int dimension = 0) const { return static_cast<std::size_t>(view_.shape[dimension]); }

 private:
  static constexpr bool kReal = std::is_same_v<T, double>;
  static constexpr bool kBytes = std::is_same_v<T, std::uint8_t>;
  static constexpr bool kUnsigned = std::is_same_v<T, std::uint64_t>;
  static_assert(kReal || kBytes || kUnsigned || std::is_same_v<T, std::int64_t>);
  static constexpr const char* kType = kReal ? "float64" : kBytes ? "uint8" : kUnsigned ? "uint64" : "int64";
  static constexpr const char* kCodes = kReal ? "d" : kBytes ? "B" : kUnsigned ? "LQN" : "lqn";

  bool right_type() const {
    std::string code = view_.format == nullptr ? "B" : view_.format;
    if (code.size() == 2 && is_native(code[0])) code = code.substr(1);
    return view_.itemsize == sizeof(T) && code.size() == 1 && std::string(kCodes).find(code) != std::string::npos;
  }

  Py_buffer view_{};
};

}  // namespace tallymark

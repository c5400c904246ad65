// A label as the number that it is, for the tests of readers.
#pragma once

#include "labels.hpp"

inline double number(const tallymark::Label& label) {
  if (label.form == tallymark::Label::Form::real) return label.real;
  if (label.form == tallymark::Label::Form::large)
    return static_cast<double>(static_cast<std::uint64_t>(label.integer));
  return static_cast<double>(label.integer);
}

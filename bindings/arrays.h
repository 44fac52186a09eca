#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common.h"

// What Python callers may pass as numbers: anything that numpy can see as an array (arrays, lists,
// whatever has __array__ or __dlpack__).
namespace facebench {

// Throws ValueError, naming the argument, where the number of dimensions differs.
py::array as_array(const py::object& values, const char* name, int dimensions = 1);

// Real numbers of any type as doubles. TypeError for anything else.
std::vector<double> numbers(const py::object& values, const char* name);

// Whole numbers in the range of T; numpy's own conversion would wrap 257 to 1.
template <class T>
std::vector<T> whole_numbers(const py::object& values, const char* name) {
  if (values.is_none()) return {};
  std::vector<T> result;
  std::size_t i = 0;
  for (const double v : numbers(values, name)) {
    if (!(v >= static_cast<double>(std::numeric_limits<T>::min()) &&
          v <= static_cast<double>(std::numeric_limits<T>::max()) && v == std::floor(v)))
      throw py::value_error(fmt::format(
          "{} [{}] is {}, which is not a whole number in the allowed range", name, i, v));
    result.push_back(static_cast<T>(v));
    ++i;
  }
  return result;
}

}  // namespace facebench

#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "common.h"

// What Python callers may pass as numbers: anything that numpy can see as an array (arrays, lists,
// whatever has __array__ or __dlpack__).
namespace facebench {

// Throws ValueError, naming the argument, for an array with masked entries: as a plain array it
// would be the values under the mask.
void check_unmasked(const py::handle& values, const char* name);

// Throws ValueError, naming the argument, where the number of dimensions differs.
py::array as_array(const py::object& values, const char* name, int dimensions = 1);

// The array as T, row by row: its own memory where it is that already, else a converted copy.
template <class T>
py::array_t<T, py::array::c_style> dense(const py::array& array) {
  return py::array_t<T, py::array::c_style | py::array::forcecast>(array);
}

// Real numbers of any type as doubles. TypeError for anything else.
std::vector<double> numbers(const py::object& values, const char* name);

// What is wrong with values[i] where whole numbers of a smaller range are wanted.
py::value_error not_a_whole_number(const char* name, std::size_t i, double value);
py::value_error out_of_range(const char* name, py::ssize_t i, std::int64_t value);

// Whole numbers in the range of T; numpy's own conversion would wrap 257 to 1.
template <class T>
std::vector<T> whole_numbers(const py::object& values, const char* name) {
  if (values.is_none()) return {};
  std::vector<T> result;
  std::size_t i = 0;
  for (const double v : numbers(values, name)) {
    if (!(v >= static_cast<double>(std::numeric_limits<T>::min()) &&
          v <= static_cast<double>(std::numeric_limits<T>::max()) && v == std::floor(v)))
      throw not_a_whole_number(name, i, v);
    result.push_back(static_cast<T>(v));
    ++i;
  }
  return result;
}

// The same for long arrays: the caller's own memory where it holds T already, and no detour for
// booleans and int64.
template <class T>
py::array_t<T, py::array::c_style> whole_array(const py::object& values, const char* name) {
  using Array = py::array_t<T, py::array::c_style>;
  const py::array array = as_array(values, name);
  if (py::isinstance<Array>(array)) return Array(array);
  if (array.dtype().kind() == 'b' && sizeof(T) == 1) return Array(array.attr("astype")("uint8"));
  using Long = py::array_t<std::int64_t, py::array::c_style>;
  if (py::isinstance<Long>(array)) {
    const Long wide(array);
    Array result(wide.size());
    T* out = result.mutable_data();
    const std::int64_t* in = wide.data();
    for (py::ssize_t i = 0; i < wide.size(); ++i) {
      if (in[i] < std::numeric_limits<T>::min() || in[i] > std::numeric_limits<T>::max())
        throw out_of_range(name, i, in[i]);
      out[i] = static_cast<T>(in[i]);
    }
    return result;
  }
  return to_numpy(whole_numbers<T>(array, name));
}

// An array of its own with the vector's values.
template <class T>
py::array copy_of(const std::vector<T>& values) {
  return to_numpy(std::vector<T>(values));
}
template <class T>
py::array copy_of(const std::vector<T>& values, std::vector<py::ssize_t> shape) {
  return to_numpy(std::vector<T>(values), std::move(shape));
}

// A read-only view of memory that belongs to `owner`, which it keeps alive.
template <class T>
py::array view_of(const py::object& owner, const T* data, std::vector<py::ssize_t> shape) {
  py::array_t<T> view(std::move(shape), data, owner);
  view.attr("flags").attr("writeable") = false;
  return view;
}

}  // namespace facebench

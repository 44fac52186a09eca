#include "arrays.h"

#include <fmt/format.h>

#include <cstring>

namespace facebench {

void check_unmasked(const py::handle& values, const char* name) {
  const py::module_ ma = py::module_::import("numpy.ma");
  if (py::isinstance(values, ma.attr("MaskedArray")) && ma.attr("is_masked")(values).cast<bool>())
    throw py::value_error(
        fmt::format("{} has masked entries, which have no value; leave them out first", name));
}

py::array as_array(const py::object& values, const char* name, int dimensions) {
  // numpy refuses many of torch's tensors, in torch's words
  const py::object plain =
      py::hasattr(values, "detach")
          ? py::module_::import("facebench.core._arguments").attr("tensor_array")(values, name)
          : values;
  const py::module_ numpy = py::module_::import("numpy");
  check_unmasked(values, name);
  const bool dlpack_only = py::hasattr(plain, "__dlpack__") && !py::hasattr(plain, "__array__");
  py::array array = dlpack_only ? numpy.attr("from_dlpack")(plain) : numpy.attr("asarray")(plain);
  if (array.ndim() == 0 && !std::strchr("fiub", array.dtype().kind()))  // a generator, bytes
    throw py::type_error(fmt::format("{} must be an array of numbers, not {}", name,
                                     Py_TYPE(values.ptr())->tp_name));
  if (array.ndim() != dimensions)
    throw py::value_error(
        fmt::format("{} has {} dimensions; it must have {}", name, array.ndim(), dimensions));
  if (array.size() > 0 && !std::strchr("fiub", array.dtype().kind()))
    throw py::type_error(fmt::format("{} must be real numbers, not dtype {}", name,
                                     std::string(py::str(array.dtype()))));
  return array;
}

std::vector<double> numbers(const py::object& values, const char* name) {
  const auto typed = dense<double>(as_array(values, name));
  return {typed.data(), typed.data() + typed.size()};
}

py::value_error not_a_whole_number(const char* name, std::size_t i, double value) {
  return py::value_error(fmt::format(
      "{} [{}] is {}, which is not a whole number in the allowed range", name, i, value));
}

py::value_error out_of_range(const char* name, py::ssize_t i, std::int64_t value) {
  return py::value_error(fmt::format("{} [{}] is {}, which is out of range", name, i, value));
}

}  // namespace facebench

#include "result_class.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace facebench {
namespace {

bool is_nan(const py::object& value) {
  return py::isinstance<py::float_>(value) && std::isnan(value.cast<double>());
}

std::string result_repr(const py::object& self, const ResultFields& fields) {
  std::vector<std::string> parts;
  for (const ResultField& f : *fields) {
    py::object value = self.attr(f.name.c_str());
    if (py::isinstance<py::array>(value) && py::len(value) <= 16) value = value.attr("tolist")();
    parts.push_back(py::isinstance<py::array>(value)
                        ? fmt::format("{}=<{} numbers>", f.name, py::len(value))
                        : fmt::format("{}={}", f.name, std::string(py::repr(value))));
  }
  return fmt::format("{}({})", std::string(py::str(py::type::of(self).attr("__name__"))),
                     fmt::join(parts, ", "));
}

bool equal_results(const py::object& self, const py::object& other, const ResultFields& fields) {
  if (!py::isinstance(other, py::type::of(self))) return false;
  const py::object same = py::module_::import("numpy").attr("array_equal");
  for (const ResultField& f : *fields) {
    const py::object a = self.attr(f.name.c_str()), b = other.attr(f.name.c_str());
    const bool equal = py::isinstance<py::array>(a) ? same(a, b).cast<bool>()
                                                    : a.equal(b) || (is_nan(a) && is_nan(b));
    if (!equal) return false;
  }
  return true;
}

}  // namespace

py::dict result_dict(const py::object& self, const ResultFields& fields) {
  py::dict values;
  for (const ResultField& f : *fields) values[py::str(f.name)] = self.attr(f.name.c_str());
  return values;
}

void set_result(void* result, const ResultFields& fields, const py::dict& state) {
  for (const ResultField& f : *fields)
    f.set(static_cast<char*>(result) + f.offset, state[py::str(f.name)]);
}

void define_property(const py::object& cls, const char* name, const py::cpp_function& get,
                     const py::object& set) {
  const py::handle property(reinterpret_cast<PyObject*>(&PyProperty_Type));
  // The getter's text begins with a signature, which says nothing of a property.
  const auto text = py::cast<std::string>(get.attr("__doc__"));
  const std::size_t blank = text.find("\n\n");
  cls.attr(name) =
      property(get, set, py::none(), blank == std::string::npos ? "" : text.substr(blank + 2));
}

void define_result(const py::object& cls, const ResultFields& fields) {
  cls.attr("to_dict") = py::cpp_function(
      [fields, kind = py::handle(cls)](const py::object& self) {
        if (!py::isinstance(self, kind))
          throw py::type_error("a method was called with an object of another class");
        return result_dict(self, fields);
      },
      py::name("to_dict"), py::is_method(cls), "All fields as a dict.");
  cls.attr("__repr__") =
      py::cpp_function([fields](const py::object& self) { return result_repr(self, fields); },
                       py::name("__repr__"), py::is_method(cls));
  cls.attr("__eq__") = py::cpp_function(
      [fields](const py::object& self, const py::object& other) {
        return equal_results(self, other, fields);
      },
      py::name("__eq__"), py::is_method(cls));
  cls.attr("__hash__") = py::none();
}

}  // namespace facebench

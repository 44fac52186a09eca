#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "common.h"

namespace facebench {

// A result struct as a read-only Python class with repr, equality, to_dict() and pickle. Vectors of
// numbers show as read-only numpy views.
template <class T>
class ResultClass {
 public:
  ResultClass(py::module_& m, const char* name, const char* doc)
      : fields_(std::make_shared<std::vector<Field>>()), class_(m, name, doc) {
    const auto fields = fields_;
    const auto to_dict = [fields](const py::object& self) {
      py::dict d;
      for (const Field& f : *fields) d[py::str(f.name)] = value_of(self, f);
      return d;
    };
    class_.def("to_dict", to_dict, "All fields as a dict.");
    class_.def("__repr__", [fields, name = std::string(name)](const py::object& self) {
      std::vector<std::string> parts;
      for (const Field& f : *fields) {
        py::object value = value_of(self, f);
        if (py::isinstance<py::array>(value) && py::len(value) <= 16)
          value = value.attr("tolist")();
        parts.push_back(py::isinstance<py::array>(value)
                            ? fmt::format("{}=<{} numbers>", f.name, py::len(value))
                            : fmt::format("{}={}", f.name, std::string(py::repr(value))));
      }
      return fmt::format("{}({})", name, fmt::join(parts, ", "));
    });
    class_.def("__eq__", [fields](const py::object& self, const py::object& other) {
      if (!py::isinstance<T>(other)) return false;
      const py::object same = py::module_::import("numpy").attr("array_equal");
      const auto is_nan = [](const py::object& o) {
        return py::isinstance<py::float_>(o) && std::isnan(o.cast<double>());
      };
      for (const Field& f : *fields) {
        const py::object a = value_of(self, f), b = value_of(other, f);
        const bool equal = py::isinstance<py::array>(a) ? same(a, b).cast<bool>()
                                                        : a.equal(b) || (is_nan(a) && is_nan(b));
        if (!equal) return false;
      }
      return true;
    });
    class_.attr("__hash__") = py::none();
    class_.def(py::pickle(to_dict, [fields](const py::dict& state) {
      T result{};
      for (const Field& f : *fields) f.set(result, state[py::str(f.name)]);
      return result;
    }));
  }

  template <class M>
  ResultClass& field(const char* name, M T::*member, const char* doc) {
    // The getter's return type is what the stubs say of the field.
    const auto get = [member](const py::object& self) {
      const M& value = self.cast<const T&>().*member;
      if constexpr (is_vector<M>::value) {
        py::array_t<typename M::value_type> view(static_cast<py::ssize_t>(value.size()),
                                                 value.data(), self);
        view.attr("setflags")(py::arg("write") = false);
        return view;
      } else {
        return value;
      }
    };
    fields_->push_back(
        {name, [member](T& object, const py::object& value) { object.*member = value.cast<M>(); }});
    class_.def_property_readonly(name, get, doc);
    return *this;
  }

  py::class_<T>& cls() { return class_; }

 private:
  template <class M>
  struct is_vector : std::false_type {};
  template <class E>
  struct is_vector<std::vector<E>> : std::is_arithmetic<E> {};

  struct Field {
    std::string name;
    std::function<void(T&, const py::object&)> set;
  };
  static py::object value_of(const py::object& self, const Field& f) {
    return self.attr(f.name.c_str());
  }

  std::shared_ptr<std::vector<Field>> fields_;
  py::class_<T> class_;
};

}  // namespace facebench

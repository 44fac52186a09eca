#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common.h"

namespace facebench {

// What a ResultClass is made of, with the type of the struct erased: compiled once, not for each
// struct and field.
struct ResultField {
  std::string name;
  std::ptrdiff_t offset = 0;  // of the member in the struct
  void (*set)(void* member, const py::object& value) = nullptr;
};
using ResultFields = std::shared_ptr<std::vector<ResultField>>;
using ResultAddress = const void* (*)(const py::object& self);

// to_dict(), repr and equality of the class `cls`.
void define_result(const py::object& cls, const ResultFields& fields);
py::dict result_dict(const py::object& self, const ResultFields& fields);
void set_result(void* result, const ResultFields& fields, const py::dict& state);
void define_property(const py::object& cls, const char* name, const py::cpp_function& get,
                     const py::object& set = py::none());

template <class M>
struct IsNumbers : std::false_type {};
template <class E>
struct IsNumbers<std::vector<E>> : std::is_arithmetic<E> {};

// The getter's return type is what the stubs say of the field.
template <class M>
py::cpp_function result_getter(const py::object& cls, const char* doc, std::ptrdiff_t offset,
                               ResultAddress address) {
  return py::cpp_function(
      [offset, address](const py::object& self) {
        const auto* at = static_cast<const char*>(address(self)) + offset;
        const M& value = *reinterpret_cast<const M*>(at);
        if constexpr (IsNumbers<M>::value) {
          py::array_t<typename M::value_type> view(static_cast<py::ssize_t>(value.size()),
                                                   value.data(), self);
          view.attr("setflags")(py::arg("write") = false);
          return view;
        } else {
          return value;
        }
      },
      py::is_method(cls), doc);
}

// A result struct as a read-only Python class with repr, equality, to_dict() and pickle. Vectors of
// numbers show as read-only numpy views.
template <class T>
class ResultClass {
 public:
  ResultClass(py::module_& m, const char* name, const char* doc) : class_(m, name, doc) {
    define_result(class_, fields_);
    class_.def(
        py::pickle([fields = fields_](const py::object& self) { return result_dict(self, fields); },
                   [fields = fields_](const py::dict& state) {
                     T result{};
                     set_result(&result, fields, state);
                     return result;
                   }));
  }

  template <class M>
  ResultClass& field(const char* name, M T::*member, const char* doc) {
    const T some{};
    const std::ptrdiff_t offset =
        reinterpret_cast<const char*>(&(some.*member)) - reinterpret_cast<const char*>(&some);
    fields_->push_back({name, offset, [](void* at, const py::object& value) {
                          *static_cast<M*>(at) = value.cast<M>();
                        }});
    const ResultAddress address = [](const py::object& self) -> const void* {
      return &object_behind<T>(self);
    };
    define_property(class_, name, result_getter<M>(class_, doc, offset, address));
    return *this;
  }

  py::class_<T>& cls() { return class_; }

 private:
  ResultFields fields_ = std::make_shared<std::vector<ResultField>>();
  py::class_<T> class_;
};

}  // namespace facebench

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "modules.h"
#include "text_signature.h"

namespace facebench {
namespace {

namespace py = pybind11;

// The binding library answers a wrong argument with the repr of everything that it was given, and
// offers no way to say it otherwise. So its dispatcher, which each function's PyMethodDef names, is
// replaced by one that calls it and looks at the error. Which of the two calling conventions the
// functions have depends on the library's version.
using WithVector = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
using WithTuple = PyObject* (*)(PyObject*, PyObject*, PyObject*);
PyCFunction dispatcher = nullptr;

// The error that is set, with a message as facebench.core._arguments.message makes it.
void shorten_error(const py::tuple& args, const py::dict& kwargs) {
  py::error_already_set error;
  for (PyObject* type :
       {PyExc_TypeError, PyExc_ValueError, PyExc_IndexError, PyExc_KeyError, PyExc_RuntimeError})
    if (error.matches(type)) {
      py::object text = py::none();
      try {
        const auto module = py::module_::import("facebench.core._arguments");
        text = module.attr("message")(error.value(), args, kwargs);
      } catch (const py::error_already_set&) {
        // Python is ending, or a value cannot even say its type: the error stays as it is.
      }
      if (text.is_none()) break;
      return PyErr_SetObject(error.type().ptr(), text.ptr());
    }
  error.restore();
}

// The library hands None in the place of `self` on as a null pointer.
bool is_without_self(PyObject* const* args, Py_ssize_t count) {
  if (count == 0 || args[0] != Py_None) return false;
  PyErr_SetString(PyExc_TypeError, "a method was called with None in the place of its object");
  return true;
}

template <bool kMethod>
PyObject* call_with_tuple(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (kMethod && is_without_self(&PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args)))
    return nullptr;
  PyObject* result =
      reinterpret_cast<WithTuple>(reinterpret_cast<void*>(dispatcher))(self, args, kwargs);
  if (!result)
    shorten_error(py::reinterpret_borrow<py::tuple>(args),
                  kwargs ? py::reinterpret_borrow<py::dict>(kwargs) : py::dict());
  return result;
}

template <bool kMethod>
PyObject* call_with_vector(PyObject* self, PyObject* const* args, Py_ssize_t count,
                           PyObject* names) {
  if (kMethod && is_without_self(args, PyVectorcall_NARGS(count))) return nullptr;
  PyObject* result =
      reinterpret_cast<WithVector>(reinterpret_cast<void*>(dispatcher))(self, args, count, names);
  if (!result) {
    const Py_ssize_t positional = PyVectorcall_NARGS(count);
    py::tuple given(positional);
    for (Py_ssize_t i = 0; i < positional; ++i) given[i] = py::handle(args[i]);
    py::dict named;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
      named[py::handle(PyTuple_GET_ITEM(names, i))] = py::handle(args[positional + i]);
    shorten_error(given, named);
  }
  return result;
}

PyMethodDef* definition(const py::handle& function) {
  return reinterpret_cast<PyCFunctionObject*>(function.ptr())->m_ml;
}

template <bool kMethod>
void replace_dispatcher_of(const py::handle& function) {
  PyMethodDef* method = definition(function);
  if (method->ml_meth != dispatcher) return;
  method->ml_meth = reinterpret_cast<PyCFunction>(
      method->ml_flags & METH_FASTCALL ? reinterpret_cast<void*>(&call_with_vector<kMethod>)
                                       : reinterpret_cast<void*>(&call_with_tuple<kMethod>));
}

void replace_dispatcher(const py::handle& member) {
  if (PyCFunction_Check(member.ptr())) return replace_dispatcher_of<false>(member);
  // Methods, static methods and properties hold functions.
  const bool is_static = Py_TYPE(member.ptr()) == &PyStaticMethod_Type;
  for (const char* part : {"__func__", "fget", "fset"}) {
    if (!py::hasattr(member, part)) continue;
    const py::object function = member.attr(part);
    if (!PyCFunction_Check(function.ptr())) continue;
    if (is_static)
      replace_dispatcher_of<false>(function);
    else
      replace_dispatcher_of<true>(function);
  }
}

// Puts the parameters before the docstring in the form that inspect.signature knows; __doc__ stays.
void give_signature(const py::handle& function) {
  PyMethodDef* method = definition(function);
  if (!method->ml_doc) return;
  const std::string parameters = text_signature(method->ml_doc);
  if (parameters.empty()) return;
  const std::string text =
      std::string(method->ml_name) + parameters + "\n--\n\n" + std::string(method->ml_doc);
  std::free(
      const_cast<char*>(method->ml_doc));  // the binding library's own copy, freed by it later
  method->ml_doc = strdup(text.c_str());
}

bool is_constructed(const py::handle& object) {
  for (const auto& value :
       py::detail::values_and_holders(reinterpret_cast<py::detail::instance*>(object.ptr())))
    if (value.value_ptr() == nullptr) return false;
  return true;
}

void finish_class(const py::object& cls) {
  auto* type = py::detail::get_type_info(reinterpret_cast<PyTypeObject*>(cls.ptr()));
  if (!type) return;
  // What is called for memory in the case of an object that was not constructed alone.
  type->operator_new = [](std::size_t) -> void* {
    throw py::type_error("the object was not constructed: its __init__ failed or did not run");
  };
  const py::dict members(cls.attr("__dict__"));
  for (const char* name : {"__repr__", "__str__"})  // debuggers and test runners show it
    if (members.contains(name))
      cls.attr(name) = py::cpp_function(
          [text = py::object(members[name])](const py::object& self) -> py::str {
            if (is_constructed(self)) return text(self);
            return py::str("<{}, not constructed>").format(py::type::of(self).attr("__name__"));
          },
          py::name(name), py::is_method(cls));
  cls.attr("__reduce_ex__") = py::cpp_function(
      [](const py::object& self, int protocol) {
        const py::object plain = py::module_::import("builtins").attr("object");
        return plain.attr("__reduce_ex__")(self, std::max(protocol, 2));
      },
      py::name("__reduce_ex__"), py::is_method(cls));
  for (const auto& [name, member] : members) replace_dispatcher(member);
}

}  // namespace

void finish_module(const py::module_& m) {
  dispatcher = definition(py::cpp_function([] {}))->ml_meth;
  const py::object name = m.attr("__name__");
  for (const auto& [_, value] : py::dict(m.attr("__dict__").attr("copy")())) {
    if (!PyType_Check(value.ptr())) {
      const bool is_bound =
          PyCFunction_Check(value.ptr()) && definition(value)->ml_meth == dispatcher;
      replace_dispatcher(value);
      if (is_bound) give_signature(value);
    } else if (name.equal(value.attr("__module__")))
      finish_class(py::reinterpret_borrow<py::object>(value));
  }
}

}  // namespace facebench

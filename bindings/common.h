#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/job.h"
#include "facebench/core/options.h"

namespace facebench {

namespace py = pybind11;

// What bind_options needs of any options aggregate, through its description: written once, not
// compiled anew for each of them.
// option_value: what an option was given; ValueError where no option could be that.
OptionValue option_value(const std::string& name, const py::handle& value);
void set_options(const OptionsSchema& schema, void* options, const py::dict& values);
py::dict options_dict(const OptionsSchema& schema, const void* options);
std::string options_repr(const OptionsSchema& schema, const void* options);
py::list options_fields(const OptionsSchema& schema);
std::string options_doc(const OptionsSchema& schema);

// One C++ options aggregate as a Python class: keyword arguments, attributes, repr, equality,
// pickle, to_dict() and fields(), all made from its description. Unknown keywords get "did you
// mean" (ValueError).
template <class T>
py::class_<T> bind_options(py::module_& m) {
  const OptionsSchema& schema = options_schema<T>();
  const auto from_dict = [](const py::dict& values) {
    T options{};
    set_options(options_schema<T>(), &options, values);
    return options;
  };
  const auto to_dict = [](const T& self) { return options_dict(options_schema<T>(), &self); };

  py::class_<T> c(m, schema.name.c_str(), options_doc(schema).c_str());
  c.def(py::init([from_dict](const py::kwargs& kwargs) { return from_dict(kwargs); }));
  for (const OptionField& f : schema.fields) {
    c.def_property(
        f.name.c_str(), [&f](const T& self) { return f.get(&self); },
        [&f](T& self, const OptionValue& value) { f.assign(&self, value); }, f.doc.c_str());
  }
  c.def("to_dict", to_dict, "All fields as a dict.");
  c.def_static(
      "fields", [] { return options_fields(options_schema<T>()); },
      "The description of every field: name, type, default, doc, low, high, choices, optional.");
  c.def("__repr__", [](const T& self) { return options_repr(options_schema<T>(), &self); });
  c.def("__eq__", [](const T& self, const py::object& other) {
    return py::isinstance<T>(other) && equal_options(self, other.cast<const T&>());
  });
  c.attr("__hash__") = py::none();
  c.def(py::pickle(to_dict, from_dict));
  return c;
}

// What a function's keyword progress was given (facebench._progress.sink says what that may be) as
// a ProgressSink; and the Job that goes with it. While the C++ call runs the GIL is released; about
// ten times a second it is taken to look for Ctrl-C on the calling thread.
class PythonJob {
 public:
  PythonJob(int threads, py::object progress);
  ~PythonJob();
  PythonJob(const PythonJob&) = delete;
  PythonJob& operator=(const PythonJob&) = delete;

  // Runs body(job) without the GIL. A Python exception raised by the progress object or by a signal
  // handler stops the C++ call (it sees Cancelled) and is raised again here.
  template <class Body>
  auto run(Body&& body) {
    const auto without_gil = [&] {
      py::gil_scoped_release release;
      return std::forward<Body>(body)(std::as_const(job_));
    };
    try {
      if constexpr (std::is_void_v<decltype(without_gil())>) {
        without_gil();
        rethrow_python_error();  // one that came while the last stage ended
      } else {
        auto result = without_gil();
        rethrow_python_error();
        return result;
      }
    } catch (const Cancelled&) {
      rethrow_python_error();
      throw;
    }
  }

 private:
  class Sink;
  void rethrow_python_error();

  Job job_;
  std::unique_ptr<Sink> sink_;
  py::object error_;
};

// `return with_job(threads, progress, [&](const Job& job) { return long_call(..., job); });`
template <class Body>
auto with_job(int threads, py::object progress, Body&& body) {
  PythonJob job(threads, std::move(progress));
  return job.run(std::forward<Body>(body));
}

// A numpy array that owns the vector's memory: no copy.
template <class T>
py::array_t<T> to_numpy(std::vector<T>&& values, std::vector<py::ssize_t> shape) {
  auto* owner = new std::vector<T>(std::move(values));
  py::capsule base(owner, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return py::array_t<T>(std::move(shape), owner->data(), base);
}
template <class T>
py::array_t<T> to_numpy(std::vector<T>&& values) {
  const auto n = static_cast<py::ssize_t>(values.size());
  return to_numpy(std::move(values), {n});
}

}  // namespace facebench

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
#include "without_gil.h"

namespace facebench {

namespace py = pybind11;

// option_value: what an option was given; ValueError where no option could be that.
OptionValue option_value(const std::string& name, const py::handle& value);
// What a field of `options` was given: also a dict for texts of the form "key=value", and a path.
void set_option(const OptionField& field, void* options, const py::object& value);
void set_options(const OptionsSchema& schema, void* options, const py::dict& values);
py::dict options_dict(const OptionsSchema& schema, const void* options);
py::list options_fields(const OptionsSchema& schema);
std::string options_doc(const OptionsSchema& schema);

// The C++ object behind a Python object; TypeError for one of another class.
template <class T>
T& object_behind(const py::object& self) {
  py::detail::make_caster<T> caster;
  if (!caster.load(self, false)) throw py::reference_cast_error();
  return py::detail::cast_op<T&>(caster);
}

using OptionsAddress = void* (*)(const py::object& self);
// Attributes, repr, equality, pickle, to_dict() and fields() of the class `cls`: compiled once, not
// for each aggregate.
void define_options(const py::object& cls, const OptionsSchema& schema, OptionsAddress address);

// One C++ options aggregate as a Python class: keyword arguments, attributes, repr, equality,
// pickle, to_dict() and fields(), all made from its description. Unknown keywords get "did you
// mean" (ValueError).
template <class T>
py::class_<T> bind_options(py::module_& m) {
  const OptionsSchema& schema = options_schema<T>();
  py::class_<T> c(m, schema.name.c_str(), options_doc(schema).c_str());
  c.def(py::init([](const py::kwargs& kwargs) {
    T options{};
    set_options(options_schema<T>(), &options, kwargs);
    return options;
  }));
  define_options(c, schema,
                 [](const py::object& self) -> void* { return &object_behind<T>(self); });
  return c;
}

// What a function's keyword progress was given (facebench.core._progress.sink says what that may
// be) as a ProgressSink; and the Job that goes with it. While the C++ call runs the GIL is
// released; about ten times a second it is taken to look for Ctrl-C on the calling thread.
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
    const auto call = [&] {
      const WithoutGil without_gil;
      return std::forward<Body>(body)(std::as_const(job_));
    };
    try {
      if constexpr (std::is_void_v<decltype(call())>) {
        call();
        rethrow_python_error();  // one that came while the last stage ended
      } else {
        auto result = call();
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

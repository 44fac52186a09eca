#include "common.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <optional>

#include "modules.h"
#include "result_class.h"
#include "tables.h"

namespace facebench {

OptionValue option_value(const std::string& name, const py::handle& value) {
  // Else it would be taken for what is true.
  if (PyLong_CheckExact(value.ptr())) {
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0)
      throw py::value_error(fmt::format("option '{}': {} is too {}", name,
                                        std::string(py::str(value)).substr(0, 40),
                                        overflow > 0 ? "large" : "small"));
  }
  try {
    // numpy's own numbers of a type that Python lacks would be taken for True; tensors, too
    const bool array = py::hasattr(value, "__array__");
    if (array && !py::isinstance<py::float_>(value) && !py::isinstance<py::str>(value))
      return py::cast<OptionValue>(
          py::module_::import("facebench.core._arguments").attr("plain_values")(value, name));
    return py::cast<OptionValue>(value);
  } catch (const py::cast_error&) {
    if (py::isinstance<py::str>(value))
      throw py::value_error(fmt::format("option {} holds text that UTF-8 cannot hold", name));
    throw py::value_error(
        fmt::format("option {} cannot be {}", name, std::string(py::repr(py::type::of(value)))));
  }
}

void set_option(const OptionField& field, void* options, const py::object& value) {
  if (std::holds_alternative<std::vector<std::string>>(field.type) &&
      py::isinstance<py::dict>(value)) {
    std::vector<std::string> texts;
    for (const auto& [key, given] : py::reinterpret_borrow<py::dict>(value))
      texts.push_back(py::cast<std::string>(key) + "=" +
                      option_text(option_value(field.name, given)));
    field.assign(options, texts);
  } else if (field.path && py::hasattr(value, "__fspath__")) {
    field.assign(options, option_value(field.name, value.attr("__fspath__")()));
  } else {
    field.assign(options, option_value(field.name, value));
  }
}

void set_options(const OptionsSchema& schema, void* options, const py::dict& values) {
  for (const auto& [key, value] : values) {
    const auto name = py::cast<std::string>(key);
    set_option(schema.at(name), options, py::reinterpret_borrow<py::object>(value));
  }
}

py::dict options_dict(const OptionsSchema& schema, const void* options) {
  py::dict result;
  for (const OptionField& f : schema.fields) result[py::str(f.name)] = py::cast(f.get(options));
  return result;
}

static std::string options_repr(const OptionsSchema& schema, const void* options) {
  std::string text = schema.name + "(";
  bool first = true;
  for (const OptionField& f : schema.fields) {
    text += (first ? "" : ", ") + f.name + "=" + std::string(py::repr(py::cast(f.get(options))));
    first = false;
  }
  return text + ")";
}

py::list options_fields(const OptionsSchema& schema) {
  const auto type = [](const OptionField& f) {
    return f.path ? "path" : std::string(option_type_name(f.type));
  };
  // None where there is no bound: an infinite number is not JSON.
  const auto bound = [](double value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
  };
  const auto low = [&](const OptionField& f) { return bound(f.low); };
  const auto high = [&](const OptionField& f) { return bound(f.high); };
  return dicts_of(schema.fields, "name", &OptionField::name, "type", type, "default",
                  &OptionField::default_value, "doc", &OptionField::doc, "low", low, "high", high,
                  "choices", &OptionField::choices, "optional", &OptionField::optional);
}

std::string options_doc(const OptionsSchema& schema) {
  std::string doc = schema.doc + "\n\nAttributes:\n";
  for (const OptionField& f : schema.fields)
    doc += "    " + f.name + " (" + std::string(option_type_name(f.type)) +
           (f.optional ? ", optional" : ", default " + option_text(f.default_value)) +
           "): " + f.doc + "\n";
  return doc;
}

void define_options(const py::object& cls, const OptionsSchema& schema, OptionsAddress address) {
  for (const OptionField& f : schema.fields) {
    const py::cpp_function get(
        [&f, address](const py::object& self) { return f.get(address(self)); }, py::is_method(cls),
        f.doc.c_str());
    const py::cpp_function set(
        [&f, address](const py::object& self, const py::object& value) {
          set_option(f, address(self), value);
        },
        py::is_method(cls));
    define_property(cls, f.name.c_str(), get, set);
  }
  const auto to_dict = [&schema, address](const py::object& self) {
    return options_dict(schema, address(self));
  };
  cls.attr("to_dict") =
      py::cpp_function(to_dict, py::name("to_dict"), py::is_method(cls), "All fields as a dict.");
  cls.attr("fields") = py::staticmethod(py::cpp_function(
      [&schema] { return options_fields(schema); }, py::name("fields"), py::scope(cls),
      "The description of every field: name, type, default, doc, low, high, choices, optional."));
  cls.attr("__repr__") = py::cpp_function(
      [&schema, address](const py::object& self) { return options_repr(schema, address(self)); },
      py::name("__repr__"), py::is_method(cls));
  cls.attr("__eq__") = py::cpp_function(
      [&schema, address](const py::object& self, const py::object& other) {
        return py::isinstance(other, py::type::of(self)) &&
               equal_options(schema, address(self), address(other));
      },
      py::name("__eq__"), py::is_method(cls));
  cls.attr("__hash__") = py::none();
  cls.attr("__reduce__") = py::cpp_function(
      [to_dict](const py::object& self) {
        const py::object make = py::module_::import("facebench._eval").attr("_options_of");
        return py::make_tuple(make, py::make_tuple(py::type::of(self), to_dict(self)));
      },
      py::name("__reduce__"), py::is_method(cls));
}

// Calls `body` with the GIL, from a thread that had released it. While Python ends, it unwinds a
// daemon thread that asks for the GIL, which the library's own catch clauses do not let pass: it
// waits for the end of the process instead (see wait_or_terminate() in core.cc).
template <class Body>
static void with_gil(Body&& body) {
  std::optional<py::gil_scoped_acquire> gil;  // not given back by a thread that is unwound
  try {
    gil.emplace();
    body();
  } catch (const abi::__forced_unwind&) {
    for (;;) ::pause();
  }
}

class PythonJob::Sink : public ProgressSink {
 public:
  Sink(PythonJob& owner, py::object target) : owner_(owner), target_(std::move(target)) {}

  void begin(std::string_view stage, std::int64_t total, std::string_view unit) override {
    call([&] {
      target_.attr("begin")(py::str(stage.data(), stage.size()), total,
                            py::str(unit.data(), unit.size()));
    });
  }
  void update(std::int64_t done, std::string_view note) override {
    call([&] { target_.attr("update")(done, py::str(note.data(), note.size())); });
  }
  void end() override {
    // May be called while an exception is handled: never throws.
    with_gil([&] {
      try {
        target_.attr("end")();
      } catch (py::error_already_set& e) {
        // Ctrl-C that came just here is not lost: the next poll stops the call.
        if (e.matches(PyExc_KeyboardInterrupt))
          owner_.error_ = e.value();
        else
          e.discard_as_unraisable("facebench progress");
      }
    });
  }

 private:
  template <class F>
  void call(F&& f) {
    with_gil([&] {
      try {
        f();
      } catch (py::error_already_set& e) {
        owner_.error_ = e.value();
        throw Cancelled();
      }
    });
  }

  PythonJob& owner_;
  py::object target_;
};

PythonJob::PythonJob(int threads, py::object progress) {
  if (threads < 0) throw std::invalid_argument("threads must be 0 (all) or more");
  job_.threads = threads;
  progress = py::module_::import("facebench.core._progress").attr("sink")(progress);
  if (!progress.is_none()) {
    sink_ = std::make_unique<Sink>(*this, std::move(progress));
    job_.progress = sink_.get();
  }
  job_.poll = [this] {
    if (is_to_stop()) throw Cancelled();
    with_gil([&] {
      if (error_) throw Cancelled();
      if (PyErr_CheckSignals() == 0) return;
      error_ = py::error_already_set().value();
      throw Cancelled();
    });
  };
}

PythonJob::~PythonJob() = default;

void PythonJob::rethrow_python_error() {
  if (!error_) return;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error_.ptr())), error_.ptr());
  throw py::error_already_set();
}

}  // namespace facebench

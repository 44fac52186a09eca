#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>

#include "common.h"
#include "facebench/core/devices.h"
#include "facebench/core/isa.h"
#include "facebench/core/nfc.h"
#include "facebench/core/startable_threads.h"
#include "facebench/core/utf8.h"
#include "facebench/core/version.h"
#include "modules.h"
#include "tables.h"

namespace facebench {

namespace {

bool python_is_ending() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing();
#else
  return _Py_IsFinalizing();
#endif
}

// While Python ends, it unwinds each daemon thread that comes back from our code, until 3.14 by the
// means of cancelled threads, which nothing that is noexcept lets pass: the process was aborted.
// Such a thread waits for the end of the process, as Python 3.14 lets it.
std::terminate_handler terminate_before = nullptr;

void wait_or_terminate() {
  if (!std::current_exception())
    while (python_is_ending()) ::pause();
  if (terminate_before) terminate_before();
  std::abort();
}

}  // namespace

void bind_core(py::module_& m) {
  // What a pickle of options is read by.
  m.def("_options_of",
        [](const py::object& type, const py::dict& values) { return type(**values); });
  terminate_before = std::set_terminate(wait_or_terminate);
  end_calls_at_exit(m);
  static const py::handle error =
      py::register_exception<Error>(m, "Error", PyExc_RuntimeError).inc_ref();
  error.attr("__doc__") =
      "Something is wrong with data or files. The text says what, where, and what to do.";
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const Cancelled&) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
    } catch (const Error& e) {  // may quote a name that is not UTF-8
      const std::string text = e.what();
      PyErr_SetString(error.ptr(), (is_utf8(text) ? text : printable(text)).c_str());
    } catch (const std::filesystem::filesystem_error& e) {
      // What no reader expected of a path: a loop of links, a folder that may not be searched.
      PyErr_SetString(error.ptr(),
                      printable(e.path1().string() + ": " + e.code().message()).c_str());
    } catch (const std::system_error& e) {  // a thread that may not be started
      PyErr_SetString(error.ptr(), printable(e.what()).c_str());
    } catch (const std::length_error& e) {  // a shape or a text that no memory could hold
      PyErr_SetString(error.ptr(), printable(e.what()).c_str());
    } catch (const std::invalid_argument& e) {  // may quote bytes that were given as text
      PyErr_SetString(PyExc_ValueError, printable(e.what()).c_str());
    } catch (const py::cast_error& e) {
      // "Unable to cast Python instance of type <class 'str'> to C++ type ...": of what a function
      // from Python returned, or of a value that is looked at late.
      const std::string text = e.what();
      const std::size_t first = text.find('<'), last = text.find('>');
      PyErr_SetString(PyExc_TypeError,
                      first < last && last != std::string::npos
                          ? ("a value of " + text.substr(first, last - first + 1) +
                             " is not what is wanted here, or is text that UTF-8 cannot hold")
                                .c_str()
                          : printable(text).c_str());
    }
  });
  m.def(
      "printable", [](const py::bytes& text) { return printable(std::string(text)); },
      py::arg("text"), "What a terminal may show of a text.");
  // Python makes an object before its __init__ runs, and the binding library gives one whose
  // __init__ failed memory that nobody wrote.
  m.def(
      "_constructed",
      [](const py::handle& object) {
        for (const auto& value :
             py::detail::values_and_holders(reinterpret_cast<py::detail::instance*>(object.ptr())))
          if (value.value_ptr() == nullptr) return false;
        return true;
      },
      py::arg("object"), "Whether the __init__ of an object of this package has succeeded.");
  m.def("nfc", &nfc, py::arg("text"));
  m.def("version", &version, "The version of the compiled library.");
  m.def("compiler", &compiler, "The compiler that built the library.");
  m.def("startable_threads", &startable_threads, py::arg("wanted"),
        "How many threads, up to `wanted`, can run at once beside this one.");
  m.def("available_processors", &available_processors,
        "Processors this process may use (affinity and cgroup quota respected).");
  m.def(
      "active_isa", [] { return std::string(isa_name(active_isa())); },
      "The instruction set in use: 'plain', 'avx2' or 'avx512'.");
  m.def(
      "supported_isa", [] { return std::string(isa_name(supported_isa())); },
      "The best instruction set that this processor runs.");
  m.def(
      "force_isa", [](const std::string& name) { force_isa(parse_isa(name)); }, py::arg("name"),
      "Choose the instruction set for the whole process. ValueError where the processor lacks it.");
  m.def(
      "cuda_devices",
      [] {
        const CudaDevices cuda = cuda_devices();
        const auto name = [](const CudaDevice& d) { return "cuda:" + std::to_string(d.index); };
        const auto capability = [](const CudaDevice& d) {
          return std::to_string(d.compute_major) + "." + std::to_string(d.compute_minor);
        };
        const py::list devices =
            dicts_of(cuda.devices, "name", name, "model", &CudaDevice::name, "memory_bytes",
                     &CudaDevice::memory_bytes, "compute_capability", capability);
        py::dict result;
        result["devices"] = devices;
        result["reason"] = cuda.reason;
        return result;
      },
      "The CUDA devices: {'devices': [{name, model, memory_bytes, compute_capability}], "
      "'reason'};\n"
      "where there are none, 'reason' says why.");
  m.def("parse_device", &parse_device, py::arg("name"),
        "What 'cpu', 'cuda' (the first) or 'cuda:N' means: the number of the CUDA device, None for "
        "the\n"
        "processor. ValueError for another word, or a device that this machine does not have.");
  m.def(
      "closest_name",
      [](const std::string& name, const std::vector<std::string>& known) {
        return closest_name(name, known);
      },
      py::arg("name"), py::arg("known"),
      "The known name that `name` was probably meant to be, or ''.");
}

}  // namespace facebench

#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <optional>
#include <utility>

namespace facebench {

// What Python raised, kept until the C++ call has ended.
struct PythonFailed : std::exception {};
using PythonError = std::optional<pybind11::error_already_set>;

// Calls `body`; what Python raises in it goes into `raised`, and PythonFailed is thrown.
template <class Body>
auto in_python(PythonError& raised, Body&& body) {
  try {
    return body();
  } catch (pybind11::error_already_set& error) {
    raised = std::move(error);
    throw PythonFailed{};
  }
}

}  // namespace facebench

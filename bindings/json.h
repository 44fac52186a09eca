#pragma once

#include "common.h"
#include "facebench/io/json.h"

namespace facebench {

// JSON as Python's dicts, lists and plain values, and back (through the json module, so that both
// sides agree on every rule). NaN and infinities are refused: ValueError.
inline py::object json_to_python(const Json& value) {
  return py::module_::import("json").attr("loads")(canonical_json(value));
}

inline Json json_from_python(const py::handle& value) {
  const py::object text = py::module_::import("json").attr("dumps")(
      value, py::arg("allow_nan") = false, py::arg("ensure_ascii") = false);
  return parse_json(py::cast<std::string>(text), "argument");
}

}  // namespace facebench

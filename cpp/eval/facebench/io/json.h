#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "facebench/core/options.h"

namespace facebench {
// Throws Error. In the library as it comes, `json["key"]` of a constant object without that key is
// undefined behaviour; with this it is an error, wherever JSON from strangers is read.
[[noreturn]] void refuse_json_use(const char* assertion);
}  // namespace facebench

// Only this header includes the library, so that all code sees the same one.
#undef JSON_ASSERT
#define JSON_ASSERT(x) ((x) ? static_cast<void>(0) : ::facebench::refuse_json_use(#x))
#include <nlohmann/json.hpp>

namespace facebench {

// Objects keep their keys in byte order. A number that may be absent (such as an interval that
// cannot be computed) is null, never NaN: JSON cannot represent NaN, and the writers below refuse
// it.
using Json = nlohmann::json;

// JSON has no spelling for a number that is not finite: null.
inline Json number_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(); }
inline Json number_or_null(const std::optional<double>& x) {
  return x ? number_or_null(*x) : Json();
}

// The text at a JSON pointer ("/crop/name"); "" where there is none.
std::string text_at(const Json& json, const std::string& pointer);

// Throws Error "WHERE:LINE: ..." for bad syntax, a key given twice, nesting deeper than 100, or
// text that is not UTF-8.
Json parse_json(std::string_view text, std::string_view where);

// The canonical text of a value, for hashing: keys in order, no spaces, numbers in the fewest
// digits that read back the same, floating-point ones always with a point or an exponent. These are
// the bytes of Python's json.dumps(x, sort_keys=True, separators=(",", ":"), ensure_ascii=False).
// Throws Error naming the place ("tracks.all.value") of a NaN, an infinity or text that is not
// UTF-8.
std::string canonical_json(const Json& value);
// The same, readable: indented by two, lists of plain values on one line, a newline at the end.
std::string pretty_json(const Json& value);

// The object of all fields of `options`, which `schema` describes.
Json options_to_json(const OptionsSchema& schema, const void* options);
// Sets the fields that `value` names; the others keep what they have. Throws Error naming `where`:
// not an object, an unknown field (did you mean), a wrong type, a value out of range.
void options_from_json(const OptionsSchema& schema, void* options, const Json& value,
                       std::string_view where);

template <class T>
Json options_to_json(const T& options) {
  return options_to_json(options_schema<T>(), &options);
}

template <class T>
void options_from_json(T& options, const Json& value, std::string_view where) {
  T changed = options;  // all or nothing
  options_from_json(options_schema<T>(), &changed, value, where);
  options = std::move(changed);
}

// JSON and option values hold the same things; null is unset. Throws std::invalid_argument for
// objects and lists of mixed types (whole numbers among numbers are numbers), naming `field`.
Json json_of_option(const OptionValue& value);
OptionValue option_of_json(std::string_view field, const Json& value);

}  // namespace facebench

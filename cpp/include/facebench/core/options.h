#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "facebench/core/registry.h"

namespace facebench {

// Options are plain aggregates, described once:
//
//   struct CropOptions {
//     std::string template_name = "arcface112";
//     int size = 112;
//     static void describe(OptionsBuilder<CropOptions>& o) {
//       o.name("CropOptions", "How a face is cut out.");
//       o.choice("template_name", &CropOptions::template_name, "landmark template",
//       {"arcface112"}); o.field("size", &CropOptions::size, "side of the crop, pixels", 1, 4096);
//     }
//   };
//
// The Python binding (keywords, repr, equality, pickle, to_dict), the TOML and JSON readers and the
// command line's help all read this one description.

// What a field can hold. Integers of every width travel as int64, floats as double.
using OptionValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                 std::vector<double>, std::vector<std::string>>;

// "boolean", "integer", "number", "text", "integers", "numbers", "texts".
std::string_view option_type_name(const OptionValue& value);
// As a user would type it: true, 3, 0.5, lfw, [1, 2]. parse_option reads it back, except texts in a
// list that contain commas or begin or end with blanks.
std::string option_text(const OptionValue& value);
// `text` as a value of the same type as `like`. Throws std::invalid_argument naming `field`.
OptionValue parse_option(std::string_view field, std::string_view text, const OptionValue& like);
// `value` converted to the type of `like`, if nothing is lost (integer -> number, whole number ->
// integer, empty list -> any list). Throws std::invalid_argument naming `field`.
OptionValue convert_option(std::string_view field, const OptionValue& value,
                           const OptionValue& like);

// The double that a float's shortest decimal spelling reads as (0.1f as 0.1, not as
// 0.10000000149011612); narrowing it gives the float again.
double double_of_float(float value);

// One field, with the type of the aggregate erased.
struct OptionField {
  std::string name;
  std::string doc;
  OptionValue default_value;
  double low = -std::numeric_limits<double>::infinity();  // of a number, or of a list's elements
  double high = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices;  // of a text; empty = anything
  std::function<OptionValue(const void*)> get;
  std::function<void(void*, const OptionValue&)> set;

  // Throws std::invalid_argument where `value` (of the field's own type) is not allowed.
  void check(const OptionValue& value) const;
};

struct OptionsSchema {
  std::string name;
  std::string doc;
  std::vector<OptionField> fields;

  // Throws std::invalid_argument with "did you mean".
  const OptionField& at(std::string_view field) const;
};

template <class T>
class OptionsBuilder {
 public:
  explicit OptionsBuilder(OptionsSchema& schema) : schema_(schema) {}

  void name(std::string name, std::string doc) {
    schema_.name = std::move(name);
    schema_.doc = std::move(doc);
  }

  template <class M>
  OptionField& field(std::string name, M T::*member, std::string doc) {
    OptionField f;
    f.name = std::move(name);
    f.doc = std::move(doc);
    f.default_value = to_value(T{}.*member);
    f.get = [member](const void* object) {
      return to_value(static_cast<const T*>(object)->*member);
    };
    f.set = [member](void* object, const OptionValue& value) {
      from_value(static_cast<T*>(object)->*member, value);
    };
    if constexpr (std::is_integral_v<M> && !std::is_same_v<M, bool>) {
      // A value that the member cannot hold must be refused, not wrapped.
      f.low = static_cast<double>(std::numeric_limits<M>::min());
      f.high = static_cast<double>(std::numeric_limits<M>::max());
    }
    if constexpr (std::is_same_v<M, float>) {
      f.low = std::numeric_limits<float>::lowest();
      f.high = std::numeric_limits<float>::max();
    }
    schema_.fields.push_back(std::move(f));
    return schema_.fields.back();
  }

  // A number (or a list of numbers) with its closed range.
  template <class M>
  void field(std::string name, M T::*member, std::string doc, double low, double high) {
    OptionField& f = field(std::move(name), member, std::move(doc));
    f.low = std::max(f.low, low);
    f.high = std::min(f.high, high);
  }

  // A text out of a list of names.
  void choice(std::string name, std::string T::*member, std::string doc,
              std::vector<std::string> choices) {
    field(std::move(name), member, std::move(doc)).choices = std::move(choices);
  }

 private:
  template <class M>
  static OptionValue to_value(const M& m) {
    if constexpr (std::is_same_v<M, bool>)
      return m;
    else if constexpr (std::is_integral_v<M>)
      return static_cast<std::int64_t>(m);
    else if constexpr (std::is_same_v<M, float>)
      return double_of_float(m);
    else if constexpr (std::is_floating_point_v<M>)
      return static_cast<double>(m);
    else
      return m;
  }
  template <class M>
  static void from_value(M& m, const OptionValue& value) {
    if constexpr (std::is_same_v<M, bool>)
      m = std::get<bool>(value);
    else if constexpr (std::is_integral_v<M>)
      m = static_cast<M>(std::get<std::int64_t>(value));
    else if constexpr (std::is_floating_point_v<M>)
      m = static_cast<M>(std::get<double>(value));
    else
      m = std::get<M>(value);
  }

  OptionsSchema& schema_;
};

// The description of T, built once.
template <class T>
const OptionsSchema& options_schema() {
  static const OptionsSchema schema = [] {
    OptionsSchema s;
    OptionsBuilder<T> builder(s);
    T::describe(builder);
    return s;
  }();
  return schema;
}

// Sets one field by name. Throws std::invalid_argument for an unknown name (did you mean), a wrong
// type or a value out of range.
template <class T>
void set_option(T& options, std::string_view field, const OptionValue& value) {
  const OptionField& f = options_schema<T>().at(field);
  const OptionValue converted = convert_option(field, value, f.default_value);
  f.check(converted);
  f.set(&options, converted);
}

// Throws std::invalid_argument where any field is out of its range.
template <class T>
void check_options(const T& options) {
  for (const OptionField& f : options_schema<T>().fields) f.check(f.get(&options));
}

template <class T>
bool equal_options(const T& a, const T& b) {
  for (const OptionField& f : options_schema<T>().fields)
    if (f.get(&a) != f.get(&b)) return false;
  return true;
}

}  // namespace facebench

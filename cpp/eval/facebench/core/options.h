#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "facebench/core/options_fwd.h"

namespace facebench {

// Options are plain aggregates, described once:
//
//   struct CropOptions {
//     std::string template_name = "arcface112";
//     int size = 112;
//     static void describe(OptionsBuilder<CropOptions>& o);
//   };
//
// and in the source
//
//   void CropOptions::describe(OptionsBuilder<CropOptions>& o) {
//     o.name("CropOptions", "How a face is cut out.");
//     o.choice("template_name", &CropOptions::template_name, "landmark template", {"arcface112"});
//     o.field("size", &CropOptions::size, "side of the crop, pixels", 1, 4096);
//   }
//
// The Python binding (keywords, repr, equality, pickle, to_dict), the TOML and JSON readers, the
// command line and the configuration hash all read this one description.
//
// A field that may be unset is a std::optional: None in Python, null in JSON, absent in TOML. So is
// a path, which is empty then. An aggregate of aggregates (`fields_of`) has the fields of all of
// them.

// What a field can hold; std::monostate is a field that is not set. Integers of every width travel
// as int64, floats as double.
using OptionValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                 std::vector<double>, std::vector<std::string>, std::monostate>;

// "boolean", "integer", "number", "text", "integers", "numbers", "texts", "none".
std::string_view option_type_name(const OptionValue& value);
// As a user would type it: true, 3, 0.5, lfw, [1, 2]; "" is unset. OptionField::parse reads it
// back, except texts in a list that hold commas or begin or end with blanks.
std::string option_text(const OptionValue& value);

// The double that a float's shortest decimal spelling reads as (0.1f as 0.1, not as
// 0.10000000149011612); narrowing it gives the float again.
double double_of_float(float value);

// How a member of one type is read and written.
struct OptionAccess {
  OptionValue type;       // any value of the type; what it holds says nothing
  bool optional = false;  // may be unset
  bool path = false;      // a text that names a file or folder; empty is unset
  double low, high;       // what a number of that type can hold
  OptionValue (*get)(const void* member);
  void (*set)(void* member, const OptionValue& value);
};
// Of bool, integers, float, double, std::string, vectors of std::int64_t, double and std::string,
// and std::optional of each; of std::filesystem::path. options.cc defines these; of another type
// the linker finds none.
template <class Member>
const OptionAccess& option_access();

// One field, with the type of the aggregate erased.
struct OptionField {
  std::string name;
  std::string doc;
  OptionValue default_value;
  OptionValue type;       // any value of the field's type; what it holds says nothing
  bool optional = false;  // may be unset
  bool path = false;      // a text that names a file or folder
  bool required = false;  // in TOML: a table without it is an Error
  double low = -std::numeric_limits<double>::infinity();  // of a number, or of a list's elements
  double high = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices;  // of a text; empty = anything
  std::ptrdiff_t offset = 0;         // of the member in the aggregate
  const OptionAccess* access = nullptr;

  OptionValue get(const void* options) const;
  void set(void* options, const OptionValue& value) const;
  // Throws std::invalid_argument where `value` (of the field's own type) is not allowed.
  void check(const OptionValue& value) const;
  // `value` as the field's type, where that loses nothing (integer -> number, whole number ->
  // integer, integer -> integers, empty list -> any list), checked. Throws std::invalid_argument
  // naming the field.
  OptionValue convert(const OptionValue& value) const;
  // The same of what a user typed; nothing unsets an optional field.
  OptionValue parse(std::string_view text) const;
  // Sets the field of `options` to convert(value).
  void assign(void* options, const OptionValue& value) const { set(options, convert(value)); }
};

struct OptionsSchema {
  std::string name;
  std::string doc;
  std::vector<OptionField> fields;

  // Throws std::invalid_argument with "did you mean".
  const OptionField& at(std::string_view field) const;
};

// What OptionsBuilder does for every aggregate.
class OptionsBuilderBase {
 public:
  explicit OptionsBuilderBase(OptionsSchema& schema) : schema_(schema) {}
  void name(std::string name, std::string doc);

 protected:
  OptionField& add(std::string name, std::string doc, const void* defaults, const void* member,
                   const OptionAccess& access);
  // Those of the aggregate `part`, which is a member of the one at `defaults`.
  void add_all(const OptionsSchema& schema, const void* defaults, const void* part);
  static OptionField& limit(OptionField& field, double low, double high);

 private:
  OptionsSchema& schema_;
};

template <class T>
const OptionsSchema& options_schema();

template <class T>
class OptionsBuilder : public OptionsBuilderBase {
 public:
  using OptionsBuilderBase::OptionsBuilderBase;

  template <class M>
  OptionField& field(std::string name, M T::*member, std::string doc) {
    return add(std::move(name), std::move(doc), &defaults_, &(defaults_.*member),
               option_access<M>());
  }
  // The fields of a member that is described itself. No two may have one name.
  template <class M>
  void fields_of(M T::*member) {
    add_all(options_schema<M>(), &defaults_, &(defaults_.*member));
  }
  // A number (or a list of numbers) with its closed range.
  template <class M>
  OptionField& field(std::string name, M T::*member, std::string doc, double low, double high) {
    return limit(field(std::move(name), member, std::move(doc)), low, high);
  }
  // A text (or an optional one) out of a list of names.
  template <class M>
  OptionField& choice(std::string name, M T::*member, std::string doc,
                      std::vector<std::string> choices) {
    OptionField& f = field(std::move(name), member, std::move(doc));
    f.choices = std::move(choices);
    return f;
  }

 private:
  T defaults_{};
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
  options_schema<T>().at(field).assign(&options, value);
}

// Throws std::invalid_argument where any field is out of its range.
template <class T>
void check_options(const T& options) {
  for (const OptionField& f : options_schema<T>().fields) f.check(f.get(&options));
}

// Whether two aggregates that `schema` describes hold the same.
bool equal_options(const OptionsSchema& schema, const void* a, const void* b);
template <class T>
bool equal_options(const T& a, const T& b) {
  return equal_options(options_schema<T>(), &a, &b);
}

}  // namespace facebench

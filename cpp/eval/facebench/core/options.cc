#include "facebench/core/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "facebench/core/registry.h"

namespace facebench {
namespace {

template <class... Ts>
struct Overload : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overload(Ts...) -> Overload<Ts...>;

[[noreturn]] void refuse(std::string_view field, std::string_view what) {
  throw std::invalid_argument(fmt::format("option '{}': {}", field, what));
}

std::string_view trim(std::string_view s) {
  const auto first = s.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \t") - first + 1);
}

template <class Number>
Number parse_number(std::string_view field, std::string_view text, std::string_view type) {
  text = trim(text);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    refuse(field, fmt::format("'{}' is not {}", text, type));
  return value;
}

// Whether a double holds the number.
bool is_exact(std::int64_t whole) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 53;
  return whole >= -kLargest && whole <= kLargest;
}

std::vector<std::string_view> split_list(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']')
    text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> parts;
  if (trim(text).empty()) return parts;
  for (std::size_t start = 0;;) {
    const std::size_t comma = text.find(',', start);
    parts.push_back(trim(text.substr(start, comma - start)));
    if (comma == std::string_view::npos) return parts;
    start = comma + 1;
  }
}

// `text` as a value of the same type as `like`.
OptionValue parse_value(std::string_view field, std::string_view text, const OptionValue& like) {
  return std::visit(
      Overload{
          [](std::monostate) -> OptionValue { return std::monostate(); },
          [&](bool) -> OptionValue {
            text = trim(text);
            if (text == "true" || text == "yes" || text == "1") return true;
            if (text == "false" || text == "no" || text == "0") return false;
            refuse(field, fmt::format("'{}' is not true or false", text));
          },
          [&](std::int64_t) -> OptionValue {
            return parse_number<std::int64_t>(field, text, "a whole number");
          },
          [&](double) -> OptionValue { return parse_number<double>(field, text, "a number"); },
          [&](const std::string&) -> OptionValue { return std::string(text); },
          [&](const std::vector<std::int64_t>&) -> OptionValue {
            std::vector<std::int64_t> list;
            for (std::string_view part : split_list(text))
              list.push_back(parse_number<std::int64_t>(field, part, "a whole number"));
            return list;
          },
          [&](const std::vector<double>&) -> OptionValue {
            std::vector<double> list;
            for (std::string_view part : split_list(text))
              list.push_back(parse_number<double>(field, part, "a number"));
            return list;
          },
          [&](const std::vector<std::string>&) -> OptionValue {
            std::vector<std::string> list;
            for (std::string_view part : split_list(text)) list.emplace_back(part);
            return list;
          },
      },
      like);
}

// `value` as the type of `like`; `expected` is how a message says what that is.
OptionValue convert_value(std::string_view field, const OptionValue& value, const OptionValue& like,
                          std::string_view expected) {
  if (value.index() == like.index()) return value;
  if (std::holds_alternative<double>(like) && std::holds_alternative<std::int64_t>(value)) {
    const std::int64_t whole = std::get<std::int64_t>(value);
    if (is_exact(whole)) return static_cast<double>(whole);
  }
  if (std::holds_alternative<std::int64_t>(like) && std::holds_alternative<double>(value)) {
    const double number = std::get<double>(value);
    if (std::abs(number) < 0x1p53 && number == std::floor(number))
      return static_cast<std::int64_t>(number);
  }
  if (std::holds_alternative<std::vector<double>>(like)) {
    const auto* whole = std::get_if<std::vector<std::int64_t>>(&value);
    if (whole && std::all_of(whole->begin(), whole->end(), is_exact))
      return std::vector<double>(whole->begin(), whole->end());
  }
  if (std::holds_alternative<std::vector<std::int64_t>>(like)) {
    if (const auto* one = std::get_if<std::int64_t>(&value)) return std::vector<std::int64_t>{*one};
  }
  const bool empty_list =
      std::visit(Overload{[](std::monostate) { return false; }, [](bool) { return false; },
                          [](std::int64_t) { return false; }, [](double) { return false; },
                          [](const std::string&) { return false; },
                          [](const auto& list) { return list.empty(); }},
                 value);
  if (empty_list) {
    if (std::holds_alternative<std::vector<double>>(like)) return std::vector<double>{};
    if (std::holds_alternative<std::vector<std::int64_t>>(like)) return std::vector<std::int64_t>{};
    if (std::holds_alternative<std::vector<std::string>>(like)) return std::vector<std::string>{};
  }
  const bool unset = std::holds_alternative<std::monostate>(value);
  refuse(field,
         fmt::format(
             "expected {}, got {}", expected,
             unset ? "none" : fmt::format("{} ({})", option_type_name(value), option_text(value))));
}

template <class M>
struct Unwrapped {
  using Value = M;
  static constexpr bool optional = false;
};
template <class M>
struct Unwrapped<std::optional<M>> {
  using Value = M;
  static constexpr bool optional = true;
};

template <>
struct Unwrapped<std::filesystem::path> {
  using Value = std::string;
  static constexpr bool optional = true;
};

OptionValue to_value(const std::filesystem::path& member) {
  return member.empty() ? OptionValue(std::monostate()) : OptionValue(member.string());
}

void from_value(std::filesystem::path& member, const OptionValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  member = text ? *text : std::string();
}

template <class M>
OptionValue to_value(const M& member) {
  if constexpr (Unwrapped<M>::optional)
    return member ? to_value(*member) : OptionValue(std::monostate());
  else if constexpr (std::is_same_v<M, bool>)
    return member;
  else if constexpr (std::is_integral_v<M>)
    return static_cast<std::int64_t>(member);
  else if constexpr (std::is_same_v<M, float>)
    return double_of_float(member);
  else
    return member;
}

template <class M>
void from_value(M& member, const OptionValue& value) {
  if constexpr (Unwrapped<M>::optional) {
    if (std::holds_alternative<std::monostate>(value))
      member.reset();
    else
      from_value(member.emplace(), value);
  } else if constexpr (std::is_same_v<M, bool>) {
    member = std::get<bool>(value);
  } else if constexpr (std::is_integral_v<M>) {
    member = static_cast<M>(std::get<std::int64_t>(value));
  } else if constexpr (std::is_floating_point_v<M>) {
    member = static_cast<M>(std::get<double>(value));
  } else {
    member = std::get<M>(value);
  }
}

}  // namespace

template <class M>
const OptionAccess& option_access() {
  using Value = typename Unwrapped<M>::Value;
  static const OptionAccess access = [] {
    OptionAccess a;
    a.type = to_value(Value{});
    a.optional = Unwrapped<M>::optional;
    a.path = std::is_same_v<M, std::filesystem::path>;
    a.low = -std::numeric_limits<double>::infinity();
    a.high = std::numeric_limits<double>::infinity();
    // A value that the member cannot hold must be refused, not wrapped.
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool> &&
                  !std::is_same_v<Value, double>) {
      a.low = static_cast<double>(std::numeric_limits<Value>::lowest());
      a.high = static_cast<double>(std::numeric_limits<Value>::max());
    }
    a.get = [](const void* member) { return to_value(*static_cast<const M*>(member)); };
    a.set = [](void* member, const OptionValue& value) {
      from_value(*static_cast<M*>(member), value);
    };
    return a;
  }();
  return access;
}
#define FACEBENCH_OPTION_TYPE(...)                           \
  template const OptionAccess& option_access<__VA_ARGS__>(); \
  template const OptionAccess& option_access<std::optional<__VA_ARGS__>>();
FACEBENCH_OPTION_TYPE(bool)
FACEBENCH_OPTION_TYPE(int)
FACEBENCH_OPTION_TYPE(std::int64_t)
FACEBENCH_OPTION_TYPE(std::uint8_t)
FACEBENCH_OPTION_TYPE(std::uint32_t)
FACEBENCH_OPTION_TYPE(float)
FACEBENCH_OPTION_TYPE(double)
FACEBENCH_OPTION_TYPE(std::string)
FACEBENCH_OPTION_TYPE(std::vector<std::int64_t>)
FACEBENCH_OPTION_TYPE(std::vector<double>)
FACEBENCH_OPTION_TYPE(std::vector<std::string>)
#undef FACEBENCH_OPTION_TYPE
template const OptionAccess& option_access<std::filesystem::path>();

void OptionsBuilderBase::name(std::string name, std::string doc) {
  schema_.name = std::move(name);
  schema_.doc = std::move(doc);
}

OptionField& OptionsBuilderBase::add(std::string name, std::string doc, const void* defaults,
                                     const void* member, const OptionAccess& access) {
  OptionField f;
  f.name = std::move(name);
  f.doc = std::move(doc);
  f.default_value = access.get(member);
  f.type = access.type;
  f.optional = access.optional;
  f.path = access.path;
  f.low = access.low;
  f.high = access.high;
  f.offset = static_cast<const char*>(member) - static_cast<const char*>(defaults);
  f.access = &access;
  schema_.fields.push_back(std::move(f));
  return schema_.fields.back();
}

void OptionsBuilderBase::add_all(const OptionsSchema& schema, const void* defaults,
                                 const void* part) {
  for (OptionField f : schema.fields) {
    f.offset += static_cast<const char*>(part) - static_cast<const char*>(defaults);
    f.default_value = f.get(defaults);
    schema_.fields.push_back(std::move(f));
  }
}

OptionField& OptionsBuilderBase::limit(OptionField& field, double low, double high) {
  field.low = std::max(field.low, low);
  field.high = std::min(field.high, high);
  return field;
}

OptionValue OptionField::get(const void* options) const {
  return access->get(static_cast<const char*>(options) + offset);
}

void OptionField::set(void* options, const OptionValue& value) const {
  access->set(static_cast<char*>(options) + offset, value);
}

std::string_view option_type_name(const OptionValue& value) {
  static constexpr std::string_view names[] = {"boolean",  "integer", "number", "text",
                                               "integers", "numbers", "texts",  "none"};
  return names[value.index()];
}

std::string option_text(const OptionValue& value) {
  return std::visit(Overload{
                        [](std::monostate) { return std::string(); },
                        [](bool v) { return std::string(v ? "true" : "false"); },
                        [](const std::string& v) { return v; },
                        [](std::int64_t v) { return fmt::format("{}", v); },
                        [](double v) { return fmt::format("{}", v); },
                        [](const auto& list) { return fmt::format("[{}]", fmt::join(list, ", ")); },
                    },
                    value);
}

double double_of_float(float value) {
  if (!std::isfinite(value)) return value;
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  double result = 0;
  std::from_chars(text, end, result);
  return result;
}

void OptionField::check(const OptionValue& value) const {
  const auto in_range = [&](double v) {
    // Written so that NaN is refused.
    if (!(v >= low && v <= high)) refuse(name, fmt::format("{} is outside [{}, {}]", v, low, high));
  };
  std::visit(
      Overload{
          [](std::monostate) {},
          [](bool) {},
          [&](const std::string& v) {
            if (!choices.empty() && std::find(choices.begin(), choices.end(), v) == choices.end())
              throw std::invalid_argument(
                  unknown_name_message("value of option '" + name + "':", v, choices));
          },
          [](const std::vector<std::string>&) {},
          [&](std::int64_t v) { in_range(static_cast<double>(v)); },
          [&](double v) { in_range(v); },
          [&](const auto& list) {
            for (auto v : list) in_range(static_cast<double>(v));
          },
      },
      value);
}

OptionValue OptionField::convert(const OptionValue& value) const {
  if (optional && std::holds_alternative<std::monostate>(value)) return value;
  std::string expected(option_type_name(type));
  if (optional)
    expected += " or none";
  else if (const std::string example = option_text(default_value); !example.empty())
    expected += fmt::format(" ({})", example);
  OptionValue converted = convert_value(name, value, type, expected);
  check(converted);
  return converted;
}

OptionValue OptionField::parse(std::string_view text) const {
  if (optional && trim(text).empty()) return std::monostate();
  OptionValue value = parse_value(name, text, type);
  check(value);
  return value;
}

bool equal_options(const OptionsSchema& schema, const void* a, const void* b) {
  for (const OptionField& f : schema.fields)
    if (f.get(a) != f.get(b)) return false;
  return true;
}

const OptionField& OptionsSchema::at(std::string_view field) const {
  return item_named("option of " + name, fields, &OptionField::name, field);
}

}  // namespace facebench

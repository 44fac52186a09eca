#include "facebench/io/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <variant>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

constexpr int kDeepest = 100;

// Where in the document the writer is, for messages: "tracks.all.value", "list[3]".
using Trail = std::vector<std::string>;

std::string trail_text(const Trail& trail) {
  std::string text;
  for (const std::string& part : trail) {
    if (!text.empty() && part[0] != '[') text += '.';
    text += part;
  }
  return text.empty() ? "JSON" : "JSON value " + text;
}

// As Python's repr(): the fewest digits, an exponent below 1e-4 and from 1e16 on.
void write_double(std::string& out, double value) {
  char buffer[40];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string_view text(buffer, static_cast<std::size_t>(end.ptr - buffer));
  const std::size_t e = text.find('e');
  int exponent = 0;
  const char* digits_of_exponent = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits_of_exponent, end.ptr, exponent);
  if (exponent < -4 || exponent >= 16) {
    out += text;
    return;
  }
  char fixed[40];
  const auto stop = std::to_chars(fixed, fixed + sizeof fixed, value, std::chars_format::fixed);
  text = {fixed, static_cast<std::size_t>(stop.ptr - fixed)};
  out += text;
  if (text.find('.') == std::string_view::npos) out += ".0";
}

void write_string(std::string& out, std::string_view text, const Trail& trail) {
  constexpr std::string_view kEscaped = "\"\\\n\r\t\b\f", kLetters = "\"\\nrtbf";
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) fail(trail_text(trail), fmt::format("byte {} of the text is not UTF-8", i));
    if (const std::size_t escape = kEscaped.find(c); escape != std::string_view::npos)
      (out += '\\') += kLetters[escape];
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += text.substr(i, length);
    i += length;
  }
  out += '"';
}

bool is_plain_list(const Json& value) {
  return std::none_of(value.begin(), value.end(),
                      [](const Json& v) { return v.is_structured() && !v.empty(); });
}

// indent < 0: no spaces at all.
void write(std::string& out, const Json& value, int indent, int depth, Trail& trail) {
  if (depth > kDeepest) fail(trail_text(trail), "is nested too deeply");
  const auto new_line = [&](int levels) {
    if (indent < 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(indent * levels), ' ');
  };
  switch (value.type()) {
    case Json::value_t::null:
      out += "null";
      return;
    case Json::value_t::boolean:
      out += value.get<bool>() ? "true" : "false";
      return;
    case Json::value_t::number_integer:
      out += std::to_string(value.get<std::int64_t>());
      return;
    case Json::value_t::number_unsigned:
      out += std::to_string(value.get<std::uint64_t>());
      return;
    case Json::value_t::number_float: {
      const double number = value.get<double>();
      if (!std::isfinite(number))
        fail(trail_text(trail), std::isnan(number) ? "is NaN" : "is infinite",
             "JSON has no spelling for it; a number that does not exist is written as null");
      write_double(out, number);
      return;
    }
    case Json::value_t::string:
      write_string(out, value.get_ref<const std::string&>(), trail);
      return;
    case Json::value_t::array: {
      const bool one_line = indent < 0 || is_plain_list(value);
      out += '[';
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) out += one_line && indent >= 0 ? ", " : ",";
        if (!one_line) new_line(depth + 1);
        trail.push_back(fmt::format("[{}]", i));
        write(out, value[i], indent, depth + 1, trail);
        trail.pop_back();
      }
      if (!one_line) new_line(depth);
      out += ']';
      return;
    }
    case Json::value_t::object: {
      bool first = true;
      out += '{';
      for (const auto& [key, member] : value.items()) {
        if (!first) out += ',';
        first = false;
        new_line(depth + 1);
        trail.push_back(key);
        write_string(out, key, trail);
        out += indent < 0 ? ":" : ": ";
        write(out, member, indent, depth + 1, trail);
        trail.pop_back();
      }
      if (!first) new_line(depth);
      out += '}';
      return;
    }
    default:
      fail(trail_text(trail), "is of a kind that JSON does not have");
  }
}

std::int64_t line_of_byte(std::string_view text, std::size_t byte) {
  return 1 + std::count(text.begin(),
                        text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size())),
                        '\n');
}

// Puts a document together as it is parsed. The library's own parser with a callback looks at all
// members of an object once more for each object in it.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(Json& whole, std::string_view where) : whole_(whole), where_(where) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(std::int64_t value) override { return put(value); }
  bool number_unsigned(std::uint64_t value) override { return put(value); }
  bool number_float(double value, const std::string&) override { return put(value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(Json::binary_t& value) override { return put(std::move(value)); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    check_depth();
    const auto [member, added] = open_.back()->emplace(name, nullptr);
    if (!added) fail(where_, fmt::format("the key '{}' is given twice", name));
    member_ = &*member;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    if (const auto* at_a_place = dynamic_cast<const Json::parse_error*>(&error)) throw *at_a_place;
    throw error;
  }

 private:
  void check_depth() const {
    if (open_.size() > kDeepest) fail(where_, fmt::format("is nested deeper than {}", kDeepest));
  }

  Json* place(Json value) {
    check_depth();
    if (open_.empty()) {
      whole_ = std::move(value);
      return &whole_;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    *member_ = std::move(value);
    return member_;
  }

  bool put(Json value) {
    place(std::move(value));
    return true;
  }

  bool open(Json value) {
    open_.push_back(place(std::move(value)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  Json& whole_;
  std::string_view where_;
  std::vector<Json*> open_;  // objects and lists that have begun, outermost first
  Json* member_ = nullptr;   // of the innermost object, whose value comes next
};

}  // namespace

std::string text_at(const Json& json, const std::string& pointer) {
  const Json::json_pointer place(pointer);
  return json.contains(place) && json.at(place).is_string() ? json.at(place).get<std::string>()
                                                            : "";
}

Json parse_json(std::string_view text, std::string_view where) {
  try {
    Json parsed;
    Builder builder(parsed, where);
    Json::sax_parse(text.begin(), text.end(), &builder);
    return parsed;
  } catch (const Json::parse_error& e) {
    // Its text starts with "[json.exception.parse_error.101] parse error at line 1, column 2: ".
    std::string_view what = e.what();
    if (const auto cut = what.find(": "); cut != std::string_view::npos)
      what.remove_prefix(cut + 2);
    const std::size_t byte = e.byte > 0 ? e.byte - 1 : 0;
    fail(at_line(where, line_of_byte(text, byte)), fmt::format("not valid JSON: {}", what));
  } catch (const Json::exception& e) {
    std::string_view what = e.what();
    if (const auto cut = what.find("] "); cut != std::string_view::npos)
      what.remove_prefix(cut + 2);
    fail(where, fmt::format("not valid JSON: {}", what));
  }
}

void refuse_json_use(const char* assertion) {
  fail("JSON", fmt::format("a part that is read here is absent ({})", assertion),
       "The file is damaged, or of another kind.");
}

std::string canonical_json(const Json& value) {
  std::string out;
  Trail trail;
  write(out, value, -1, 0, trail);
  return out;
}

std::string pretty_json(const Json& value) {
  std::string out;
  Trail trail;
  write(out, value, 2, 0, trail);
  return out + '\n';
}

Json json_of_option(const OptionValue& value) {
  return std::visit(
      [](const auto& v) {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>)
          return Json();
        else
          return Json(v);
      },
      value);
}

OptionValue option_of_json(std::string_view field, const Json& value) {
  const auto refuse = [&](std::string_view what) {
    return std::invalid_argument(fmt::format("option '{}': {}", field, what));
  };
  if (value.is_null()) return std::monostate();
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    throw refuse(fmt::format("{} is too large", value.get<std::uint64_t>()));
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array()) {
    const auto all = [&](auto is) { return std::all_of(value.begin(), value.end(), is); };
    if (all([](const Json& v) { return v.is_number_integer(); })) {
      std::vector<std::int64_t> list;
      for (const Json& v : value) list.push_back(std::get<std::int64_t>(option_of_json(field, v)));
      return list;
    }
    if (all([](const Json& v) { return v.is_number(); })) return value.get<std::vector<double>>();
    if (all([](const Json& v) { return v.is_string(); }))
      return value.get<std::vector<std::string>>();
    throw refuse("the list holds values of different kinds, or lists");
  }
  throw refuse(fmt::format("expected a plain value or a list, got {}", value.type_name()));
}

Json options_to_json(const OptionsSchema& schema, const void* options) {
  Json object = Json::object();
  for (const OptionField& field : schema.fields)
    object[field.name] = json_of_option(field.get(options));
  return object;
}

void options_from_json(const OptionsSchema& schema, void* options, const Json& value,
                       std::string_view where) {
  if (!value.is_object())
    fail(where,
         fmt::format("expected an object of {} options, got {}", schema.name, value.type_name()));
  try {
    for (const auto& [key, member] : value.items()) {
      schema.at(key).assign(options, option_of_json(key, member));
    }
  } catch (const std::invalid_argument& e) {
    fail(where, e.what());
  }
}

}  // namespace facebench

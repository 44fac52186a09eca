// The parser is compiled in here, so that nothing of it has to be linked.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#include "facebench/io/toml.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <locale>
#include <map>
#include <set>
#include <sstream>

#include "facebench/core/registry.h"
#include "io/toml_check.h"

namespace facebench {

struct TomlState {
  std::shared_ptr<const toml::table> document;  // keeps the nodes alive
  std::shared_ptr<const std::string> file;
  const toml::table* table = nullptr;
  std::string path;
  std::set<std::string, std::less<>> known;
  // Tables handed out, by key and position, so that each has one set of known keys.
  std::map<std::pair<std::string, std::size_t>, std::shared_ptr<TomlState>> children;
};

namespace {

std::string place_of(const TomlState& state, const toml::node& node) {
  return at_line(*state.file, node.source().begin.line);
}

std::string full_key(const TomlState& state, std::string_view key) {
  return state.path.empty() ? std::string(key) : fmt::format("{}.{}", state.path, key);
}

std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "a boolean";
    default:
      return "a date or time";
  }
}

[[noreturn]] void wrong_type(const TomlState& state, std::string_view key, const toml::node& node,
                             std::string_view wanted) {
  fail(place_of(state, node),
       fmt::format("'{}' must be {}, got {}", full_key(state, key), wanted, kind_of(node)));
}

const toml::node* find(TomlState& state, std::string_view key) {
  state.known.emplace(key);
  return state.table->get(key);
}

const toml::node& require(TomlState& state, std::string_view key) {
  if (const toml::node* node = find(state, key)) return *node;
  std::vector<std::string> unknown;
  for (const auto& [name, node] : *state.table)
    if (!state.known.contains(name.str())) unknown.emplace_back(name.str());
  const std::string close = closest_name(key, unknown);
  fail(place_of(state, *state.table), fmt::format("'{}' is missing", full_key(state, key)),
       close.empty() ? std::string() : fmt::format("Did you write '{}' for it?", close));
}

// One reader per type: the value of a node, or an Error.
struct Reader {
  const TomlState& state;
  std::string_view key;

  void read(const toml::node& node, bool& out) const {
    const auto* value = node.as_boolean();
    if (!value) wrong_type(state, key, node, "true or false");
    out = value->get();
  }
  void read(const toml::node& node, std::int64_t& out) const {
    const auto* value = node.as_integer();
    if (!value) wrong_type(state, key, node, "an integer");
    out = value->get();
  }
  void read(const toml::node& node, double& out) const {
    if (const auto* whole = node.as_integer()) {
      out = static_cast<double>(whole->get());
      return;
    }
    const auto* value = node.as_floating_point();
    if (!value) wrong_type(state, key, node, "a number");
    out = value->get();
    if (!std::isfinite(out))
      fail(place_of(state, node), fmt::format("'{}' must be finite", full_key(state, key)));
  }
  void read(const toml::node& node, std::string& out) const {
    const auto* value = node.as_string();
    if (!value) wrong_type(state, key, node, "a string");
    out = value->get();
  }
  template <class T>
  void read(const toml::node& node, std::vector<T>& out) const {
    const auto* list = node.as_array();
    if (!list) wrong_type(state, key, node, "a list");
    out.clear();
    for (const toml::node& element : *list) {
      T value{};
      read(element, value);
      out.push_back(std::move(value));
    }
  }
};

template <class T>
T get(TomlState& state, std::string_view key) {
  T value{};
  Reader{state, key}.read(require(state, key), value);
  return value;
}

template <class T>
T get(TomlState& state, std::string_view key, T fallback) {
  if (const toml::node* node = find(state, key)) Reader{state, key}.read(*node, fallback);
  return fallback;
}

std::shared_ptr<TomlState> child(TomlState& state, std::string_view key, std::size_t index,
                                 const toml::node& node, std::string path) {
  std::shared_ptr<TomlState>& slot = state.children[{std::string(key), index}];
  if (!slot) {
    const toml::table* table = node.as_table();
    if (!table) wrong_type(state, key, node, "a table");
    slot = std::make_shared<TomlState>();
    slot->document = state.document;
    slot->file = state.file;
    slot->table = table;
    slot->path = std::move(path);
  }
  return slot;
}

Json json_of(const TomlState& state, std::string_view key, const toml::node& node) {
  if (const toml::table* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [name, member] : *table)
      object[std::string(name.str())] = json_of(state, name.str(), member);
    return object;
  }
  if (const toml::array* list = node.as_array()) {
    Json array = Json::array();
    for (const toml::node& element : *list) array.push_back(json_of(state, key, element));
    return array;
  }
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_boolean()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (node.is_floating_point()) {
    double number = 0;
    Reader{state, key}.read(node, number);
    return number;
  }
  std::ostringstream text;
  text.imbue(std::locale::classic());
  node.visit([&](const auto& value) {
    if constexpr (toml::is_chronological<decltype(value)>) text << value.get();
  });
  return text.str();
}

void check_known(const TomlState& state) {
  for (const auto& [name, node] : *state.table) {
    if (state.known.contains(name.str())) continue;
    const std::vector<std::string> known(state.known.begin(), state.known.end());
    const std::string kind = state.path.empty() ? "key" : fmt::format("key in '{}':", state.path);
    fail(place_of(state, node), unknown_name_message(kind, name.str(), known));
  }
  for (const auto& [key, sub] : state.children) check_known(*sub);
}

}  // namespace

const std::string& TomlTable::file() const { return *state_->file; }
const std::string& TomlTable::path() const { return state_->path; }
std::string TomlTable::where() const { return place_of(*state_, *state_->table); }
std::string TomlTable::where(std::string_view key) const {
  const toml::node* node = state_->table->get(key);
  return place_of(*state_, node ? *node : *state_->table);
}
bool TomlTable::has(std::string_view key) const { return find(*state_, key) != nullptr; }
std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> names;
  for (const auto& [name, node] : *state_->table) names.emplace_back(name.str());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> TomlTable::unread_keys() const {
  std::vector<std::string> names = keys();
  std::erase_if(names, [&](const std::string& name) { return state_->known.contains(name); });
  return names;
}

bool TomlTable::boolean(std::string_view key) const { return get<bool>(*state_, key); }
std::int64_t TomlTable::integer(std::string_view key) const {
  return get<std::int64_t>(*state_, key);
}
double TomlTable::number(std::string_view key) const { return get<double>(*state_, key); }
std::string TomlTable::text(std::string_view key) const { return get<std::string>(*state_, key); }
std::vector<std::int64_t> TomlTable::integers(std::string_view key) const {
  return get<std::vector<std::int64_t>>(*state_, key);
}
std::vector<double> TomlTable::numbers(std::string_view key) const {
  return get<std::vector<double>>(*state_, key);
}
std::vector<std::string> TomlTable::texts(std::string_view key) const {
  return get<std::vector<std::string>>(*state_, key);
}

bool TomlTable::boolean(std::string_view key, bool fallback) const {
  return get(*state_, key, fallback);
}
std::int64_t TomlTable::integer(std::string_view key, std::int64_t fallback) const {
  return get(*state_, key, fallback);
}
double TomlTable::number(std::string_view key, double fallback) const {
  return get(*state_, key, fallback);
}
std::string TomlTable::text(std::string_view key, std::string_view fallback) const {
  return get(*state_, key, std::string(fallback));
}
std::vector<std::int64_t> TomlTable::integers(std::string_view key,
                                              std::vector<std::int64_t> fallback) const {
  return get(*state_, key, std::move(fallback));
}
std::vector<double> TomlTable::numbers(std::string_view key, std::vector<double> fallback) const {
  return get(*state_, key, std::move(fallback));
}
std::vector<std::string> TomlTable::texts(std::string_view key,
                                          std::vector<std::string> fallback) const {
  return get(*state_, key, std::move(fallback));
}

TomlTable TomlTable::table(std::string_view key) const {
  const toml::node& node = require(*state_, key);
  return TomlTable(child(*state_, key, 0, node, full_key(*state_, key)));
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) const {
  const toml::node& node = require(*state_, key);
  const toml::array* list = node.as_array();
  if (!list) wrong_type(*state_, key, node, "a list of tables");
  std::vector<TomlTable> result;
  for (std::size_t i = 0; i < list->size(); ++i)
    result.push_back(TomlTable(
        child(*state_, key, i, *list->get(i), fmt::format("{}[{}]", full_key(*state_, key), i))));
  return result;
}

std::optional<TomlTable> TomlTable::optional_table(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  return table(key);
}

std::vector<TomlTable> TomlTable::optional_tables(std::string_view key) const {
  if (!has(key)) return {};
  return tables(key);
}

OptionValue TomlTable::option(std::string_view key) const {
  const toml::node& node = require(*state_, key);
  try {
    return option_of_json(full_key(*state_, key), json_of(*state_, key, node));
  } catch (const std::invalid_argument& e) {
    fail(place_of(*state_, node), e.what());
  }
}

Json TomlTable::json() const { return json_of(*state_, state_->path, *state_->table); }

void TomlTable::fail_at(std::string_view key, std::string_view what,
                        std::string_view advice) const {
  fail(where(key), what, advice);
}

void TomlTable::finish() const { check_known(*state_); }

TomlTable parse_toml(std::string_view text, std::string_view file) {
  auto state = std::make_shared<TomlState>();
  state->file = std::make_shared<const std::string>(file);
  check_toml_text(text, file);
  try {
    state->document = std::make_shared<const toml::table>(toml::parse(text, file));
  } catch (const toml::parse_error& e) {
    fail(at_line(file, e.source().begin.line), fmt::format("not valid TOML: {}", e.description()));
  }
  state->table = state->document.get();
  return TomlTable(std::move(state));
}

void read_options(const TomlTable& table, const OptionsSchema& schema, void* options) {
  for (const std::string& key : table.unread_keys()) {
    const OptionValue value = table.option(key);
    try {
      schema.at(key).assign(options, value);
    } catch (const std::invalid_argument& e) {
      fail(table.where(key), e.what());
    }
  }
  for (const OptionField& field : schema.fields)
    if (field.required && !table.has(field.name)) table.option(field.name);  // says what is missing
}

}  // namespace facebench

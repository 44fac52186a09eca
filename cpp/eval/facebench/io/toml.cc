#include "facebench/io/toml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "facebench/core/registry.h"
#include "facebench/io/internal/toml_node.h"

namespace facebench {

struct TomlState {
  std::shared_ptr<const TomlNode> document;  // keeps the nodes alive
  std::shared_ptr<const std::string> file;
  const TomlNode* table = nullptr;
  std::string path;
  std::set<std::string, std::less<>> known;
  // Tables handed out, by key and position, so that each has one set of known keys.
  std::map<std::pair<std::string, std::size_t>, std::shared_ptr<TomlState>> children;
};

namespace {

std::string place_of(const TomlState& state, const TomlNode& node) {
  return at_line(*state.file, node.line);
}

std::string full_key(const TomlState& state, std::string_view key) {
  return state.path.empty() ? std::string(key) : fmt::format("{}.{}", state.path, key);
}

std::string_view kind_of(const TomlNode& node) {
  switch (node.kind) {
    case TomlKind::table:
      return "a table";
    case TomlKind::list:
      return "a list";
    case TomlKind::text:
      return "a string";
    case TomlKind::integer:
      return "an integer";
    case TomlKind::number:
      return "a number";
    case TomlKind::boolean:
      return "a boolean";
    case TomlKind::time:
      break;
  }
  return "a date or time";
}

[[noreturn]] void wrong_type(const TomlState& state, std::string_view key, const TomlNode& node,
                             std::string_view expected) {
  fail(place_of(state, node),
       fmt::format("'{}' must be {}, got {}", full_key(state, key), expected, kind_of(node)));
}

const TomlNode* find(TomlState& state, std::string_view key) {
  state.known.emplace(key);
  return state.table->get(key);
}

const TomlNode& require(TomlState& state, std::string_view key) {
  if (const TomlNode* node = find(state, key)) return *node;
  std::vector<std::string> unknown;
  for (const std::string& name : state.table->keys)
    if (!state.known.contains(name)) unknown.push_back(name);
  // A name that is not alike may still be meant, where few stand there that nothing has read.
  if (const std::string close = closest_name(key, unknown); !close.empty()) unknown = {close};
  constexpr std::size_t few = 3;
  fail(place_of(state, *state.table), fmt::format("'{}' is missing", full_key(state, key)),
       unknown.empty() || unknown.size() > few
           ? std::string()
           : fmt::format("Did you write '{}' for it?", fmt::join(unknown, "' or '")));
}

// One reader per type: the value of a node, or an Error.
struct Reader {
  const TomlState& state;
  std::string_view key;

  void require(const TomlNode& node, TomlKind kind, std::string_view expected) const {
    if (node.kind != kind) wrong_type(state, key, node, expected);
  }
  void read(const TomlNode& node, bool& out) const {
    require(node, TomlKind::boolean, "true or false");
    out = node.integer != 0;
  }
  void read(const TomlNode& node, std::int64_t& out) const {
    require(node, TomlKind::integer, "an integer");
    out = node.integer;
  }
  void read(const TomlNode& node, double& out) const {
    if (node.kind == TomlKind::integer) {
      out = static_cast<double>(node.integer);
      return;
    }
    require(node, TomlKind::number, "a number");
    out = node.number;
    if (!std::isfinite(out))
      fail(place_of(state, node), fmt::format("'{}' must be finite", full_key(state, key)));
  }
  void read(const TomlNode& node, std::string& out) const {
    require(node, TomlKind::text, "a string");
    out = node.text;
  }
  template <class T>
  void read(const TomlNode& node, std::vector<T>& out) const {
    require(node, TomlKind::list, "a list");
    out.clear();
    for (const TomlNode& element : node.elements) {
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
  if (const TomlNode* node = find(state, key)) Reader{state, key}.read(*node, fallback);
  return fallback;
}

std::shared_ptr<TomlState> child(TomlState& state, std::string_view key, std::size_t index,
                                 const TomlNode& node, std::string path) {
  if (node.kind != TomlKind::table) wrong_type(state, key, node, "a table");
  std::shared_ptr<TomlState>& slot = state.children[{std::string(key), index}];
  if (!slot) {
    slot = std::make_shared<TomlState>();
    slot->document = state.document;
    slot->file = state.file;
    slot->table = &node;
    slot->path = std::move(path);
  }
  return slot;
}

Json json_of(const TomlState& state, std::string_view key, const TomlNode& node) {
  switch (node.kind) {
    case TomlKind::table: {
      Json object = Json::object();
      for (std::size_t i = 0; i < node.keys.size(); ++i)
        object[node.keys[i]] = json_of(state, node.keys[i], node.elements[i]);
      return object;
    }
    case TomlKind::list: {
      Json array = Json::array();
      for (const TomlNode& element : node.elements) array.push_back(json_of(state, key, element));
      return array;
    }
    case TomlKind::integer:
      return node.integer;
    case TomlKind::number: {
      double number = 0;
      Reader{state, key}.read(node, number);
      return number;
    }
    case TomlKind::boolean:
      return node.integer != 0;
    case TomlKind::text:
    case TomlKind::time:
      break;
  }
  return node.text;
}

void check_known(const TomlState& state) {
  const TomlNode& table = *state.table;
  for (std::size_t i = 0; i < table.keys.size(); ++i) {
    if (state.known.contains(table.keys[i])) continue;
    const std::vector<std::string> known(state.known.begin(), state.known.end());
    const std::string kind = state.path.empty() ? "key" : fmt::format("key in '{}':", state.path);
    fail(place_of(state, table.elements[i]), unknown_name_message(kind, table.keys[i], known));
  }
  for (const auto& [key, sub] : state.children) check_known(*sub);
}

}  // namespace

const std::string& TomlTable::file() const { return *state_->file; }
const std::string& TomlTable::path() const { return state_->path; }
std::string TomlTable::where() const { return place_of(*state_, *state_->table); }
std::string TomlTable::where(std::string_view key) const {
  const TomlNode* node = state_->table->get(key);
  return place_of(*state_, node ? *node : *state_->table);
}
bool TomlTable::has(std::string_view key) const { return find(*state_, key) != nullptr; }
std::vector<std::string> TomlTable::keys() const { return state_->table->keys; }

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
  const TomlNode& node = require(*state_, key);
  return TomlTable(child(*state_, key, 0, node, full_key(*state_, key)));
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) const {
  const TomlNode& node = require(*state_, key);
  if (node.kind != TomlKind::list) wrong_type(*state_, key, node, "a list of tables");
  std::vector<TomlTable> result;
  for (std::size_t i = 0; i < node.elements.size(); ++i)
    result.push_back(TomlTable(child(*state_, key, i, node.elements[i],
                                     fmt::format("{}[{}]", full_key(*state_, key), i))));
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
  const TomlNode& node = require(*state_, key);
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
  state->document = std::make_shared<const TomlNode>(parse_toml_nodes(text, file));
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

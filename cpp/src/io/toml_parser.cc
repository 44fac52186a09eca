// The parser is compiled in here, so that nothing of it has to be linked.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <locale>
#include <sstream>

#include "facebench/core/error.h"
#include "io/confined_child.h"
#include "io/packed.h"
#include "io/toml_check.h"
#include "io/toml_node.h"

namespace facebench {
namespace {

TomlNode node_of(const toml::node& parsed);

TomlNode table_of(const toml::table& parsed) {
  TomlNode node;
  for (const auto& [key, member] : parsed) {  // in byte order
    node.keys.emplace_back(key.str());
    node.elements.push_back(node_of(member));
  }
  return node;
}

TomlNode value_of(const toml::node& parsed) {
  if (const toml::table* table = parsed.as_table()) return table_of(*table);
  TomlNode node;
  if (const toml::array* list = parsed.as_array()) {
    node.kind = TomlKind::list;
    for (const toml::node& element : *list) node.elements.push_back(node_of(element));
  } else if (const auto* text = parsed.as_string()) {
    node.kind = TomlKind::text;
    node.text = text->get();
  } else if (const auto* integer = parsed.as_integer()) {
    node.kind = TomlKind::integer;
    node.integer = integer->get();
  } else if (const auto* number = parsed.as_floating_point()) {
    node.kind = TomlKind::number;
    node.number = number->get();
  } else if (const auto* boolean = parsed.as_boolean()) {
    node.kind = TomlKind::boolean;
    node.integer = boolean->get() ? 1 : 0;
  } else {
    node.kind = TomlKind::time;
    std::ostringstream spelled;
    spelled.imbue(std::locale::classic());
    parsed.visit([&](const auto& value) {
      if constexpr (toml::is_chronological<decltype(value)>) spelled << value.get();
    });
    node.text = spelled.str();
  }
  return node;
}

TomlNode node_of(const toml::node& parsed) {
  TomlNode node = value_of(parsed);
  node.line = parsed.source().begin.line;
  return node;
}

TomlNode parse_here(std::string_view text, std::string_view file) {
  check_toml_text(text, file);
  try {
    return node_of(toml::parse(text, file));
  } catch (const toml::parse_error& e) {
    fail(at_line(file, e.source().begin.line), fmt::format("not valid TOML: {}", e.description()));
  }
}

// What a confined child sends.

void pack(const TomlNode& node, Packed& out) {
  out.add(static_cast<std::uint64_t>(node.kind));
  out.add(static_cast<std::uint64_t>(node.line));
  out.add(std::string_view(node.text));
  out.add(static_cast<std::uint64_t>(node.integer));
  out.add(node.number);
  out.add(node.keys);
  out.add(std::uint64_t{node.elements.size()});
  for (const TomlNode& element : node.elements) pack(element, out);
}

// Deeper than check_toml_text() lets a document be: each of its brackets may hold a dotted key.
constexpr int kDeepestNode = (kTomlNesting + 1) * kTomlKeyParts + kTomlNesting;

TomlNode unpack(Packed& in, int depth = 0) {
  if (depth > kDeepestNode) throw std::length_error("nested too deeply");
  TomlNode node;
  const std::uint64_t kind = in.number();
  if (kind > static_cast<std::uint64_t>(TomlKind::time)) throw std::length_error("no kind");
  node.kind = static_cast<TomlKind>(kind);
  node.line = static_cast<std::int64_t>(in.number());
  node.text = in.text();
  node.integer = static_cast<std::int64_t>(in.number());
  node.number = in.real();
  node.keys = in.texts();
  for (std::uint64_t left = in.number(); left > 0; --left)
    node.elements.push_back(unpack(in, depth + 1));
  const bool table = node.kind == TomlKind::table;
  if (node.keys.size() != (table ? node.elements.size() : 0) ||
      !std::is_sorted(node.keys.begin(), node.keys.end()))
    throw std::length_error("keys and values differ");
  return node;
}

}  // namespace

const TomlNode* TomlNode::get(std::string_view key) const {
  const auto at = std::lower_bound(keys.begin(), keys.end(), key);
  return at == keys.end() || *at != key ? nullptr : &elements[at - keys.begin()];
}

TomlNode parse_toml_nodes(std::string_view text, std::string_view file) {
  if (!readers_are_confined()) return parse_here(text, file);
  return confined_result(
      std::string(file), text.size(),
      [&] {
        Packed out;
        pack(parse_here(text, file), out);
        return out.bytes();
      },
      [](Packed& in) { return unpack(in); });
}

}  // namespace facebench

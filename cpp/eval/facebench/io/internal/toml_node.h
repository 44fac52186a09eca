#pragma once

// A TOML document as a tree of values with their lines; for this floor's sources only.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace facebench {

enum class TomlKind : std::uint8_t { table, list, text, integer, number, boolean, time };

struct TomlNode {
  TomlKind kind = TomlKind::table;
  std::int64_t line = 0;
  std::string text;          // of a text; of a date or time as it is spelled
  std::int64_t integer = 0;  // of an integer; 0 or 1 of a boolean
  double number = 0;
  std::vector<std::string> keys;   // of a table, in byte order
  std::vector<TomlNode> elements;  // of a list; of a table in the order of its keys

  // The value of a key, or null.
  const TomlNode* get(std::string_view key) const;
};

// Throws Error as parse_toml() does. In a confined child where readers are confined.
TomlNode parse_toml_nodes(std::string_view text, std::string_view file);

}  // namespace facebench

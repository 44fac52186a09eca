// TOML, and every value asked for as every kind.
// Sources: cpp/eval/facebench/io/toml_parser.cc cpp/eval/facebench/io/internal/toml_check.cc
// cpp/eval/facebench/io/toml.cc Not of the reader: pack unpack parse_toml_nodes read_options
#include "facebench/io/toml.h"

#include "ask.h"
#include "fuzz.h"

namespace {

using facebench::TomlTable;

void ask_value(const TomlTable& table, const std::string& key) {
  ask([&] { table.boolean(key); });
  ask([&] { table.integer(key); });
  ask([&] { table.number(key); });
  ask([&] { table.text(key); });
  ask([&] { table.integers(key); });
  ask([&] { table.numbers(key); });
  ask([&] { table.texts(key); });
  ask([&] { table.option(key); });
}

void ask_with_fallback(const TomlTable& table, const std::string& key) {
  ask([&] { table.boolean(key, true); });
  ask([&] { table.integer(key, 1); });
  ask([&] { table.number(key, 0.5); });
  ask([&] { table.text(key, "a"); });
  ask([&] { table.integers(key, {}); });
  ask([&] { table.numbers(key, {}); });
  ask([&] { table.texts(key, {}); });
}

void ask_table(const TomlTable& table) {
  std::vector<std::string> keys = table.keys();
  keys.emplace_back("absent");
  for (const std::string& key : keys) {
    ask_value(table, key);
    ask_with_fallback(table, key);
    ask([&] { table.table(key); });
    ask([&] { table.optional_tables(key); });
    ask([&] { table.fail_at(key, "fuzz"); });
    ask([&] {
      for (const TomlTable& inner : table.tables(key)) ask_table(inner);
    });
    ask([&] {
      if (const auto inner = table.optional_table(key)) ask_table(*inner);
    });
  }
  table.where();
  table.path();
  table.file();
  table.unread_keys();
  ask([&] { table.finish(); });
}

}  // namespace

FACEBENCH_FUZZ_TARGET(toml, bytes) {
  const TomlTable table = facebench::parse_toml(bytes, "fuzz");
  ask([&] { facebench::parse_toml(bytes, "fuzz").finish(); });
  table.json();
  ask_table(table);
}

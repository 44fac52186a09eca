#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/core/registry.h"
#include "facebench/io/json.h"

namespace facebench {

struct TomlState;

// A table of a TOML file, a cheap handle. The getters throw Error with file and line: "lfw.toml:12:
// 'folds' must be an integer, got a string". Every key that a getter was asked for is known;
// finish() refuses the others, so a misspelt key is always an error.
class TomlTable {
 public:
  // The file's name as given to parse_toml.
  const std::string& file() const;
  // Dotted path from the top, "" for the top itself: "tracks.all".
  const std::string& path() const;
  // "file:line" of the table, or of one of its keys.
  std::string where() const;
  std::string where(std::string_view key) const;
  bool has(std::string_view key) const;
  // In byte order. Asking does not make them known.
  std::vector<std::string> keys() const;
  // Those of keys() that no getter was asked for yet.
  std::vector<std::string> unread_keys() const;

  // Required values.
  bool boolean(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;  // whole numbers too; inf and nan are refused
  std::string text(std::string_view key) const;
  // A text that is the name of an entry of the table; fails at its place where it is none.
  template <class Entry>
  std::string name(std::string_view key, const Table<Entry>& known) const {
    std::string value = text(key);
    if (!known.find(value)) fail_at(key, unknown_name_message(known.kind(), value, known.names()));
    return value;
  }
  std::vector<std::int64_t> integers(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  TomlTable table(std::string_view key) const;
  // [[key]], in file order.
  std::vector<TomlTable> tables(std::string_view key) const;

  // Optional values: `fallback` where the key is absent (a wrong type is an Error all the same).
  bool boolean(std::string_view key, bool fallback) const;
  std::int64_t integer(std::string_view key, std::int64_t fallback) const;
  double number(std::string_view key, double fallback) const;
  std::string text(std::string_view key, std::string_view fallback) const;
  std::vector<std::int64_t> integers(std::string_view key,
                                     std::vector<std::int64_t> fallback) const;
  std::vector<double> numbers(std::string_view key, std::vector<double> fallback) const;
  std::vector<std::string> texts(std::string_view key, std::vector<std::string> fallback) const;
  std::optional<TomlTable> optional_table(std::string_view key) const;
  // None where the key is absent.
  std::vector<TomlTable> optional_tables(std::string_view key) const;

  // A boolean, integer, number, text, or list of one kind of them. Throws Error.
  OptionValue option(std::string_view key) const;
  // Everything below this table; dates and times as text. Throws Error for inf and nan.
  Json json() const;

  // Throws Error "FILE:LINE: ..." about one of this table's keys.
  [[noreturn]] void fail_at(std::string_view key, std::string_view what,
                            std::string_view advice = {}) const;
  // Throws Error naming the first key, here or in a table that was handed out, that nobody asked
  // for, with "did you mean". Call once, on the top table, when everything has been read.
  void finish() const;

 private:
  friend TomlTable parse_toml(std::string_view text, std::string_view file);
  explicit TomlTable(std::shared_ptr<TomlState> state) : state_(std::move(state)) {}

  std::shared_ptr<TomlState> state_;
};

// Throws Error "FILE:LINE: ..." for bad syntax, keys given twice, text that is not UTF-8.
TomlTable parse_toml(std::string_view text, std::string_view file);

// Sets the fields that the table names; the others keep what they have. Keys that a getter was
// asked for before are passed over. Throws Error for unknown fields (did you mean), wrong types,
// values out of range, and where a required field is absent.
void read_options(const TomlTable& table, const OptionsSchema& schema, void* options);

template <class T>
T read_options(const TomlTable& table, T options = {}) {
  read_options(table, options_schema<T>(), &options);
  return options;
}

}  // namespace facebench

#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "facebench/evaluation/spec.h"
#include "facebench/io/mat5.h"

namespace facebench {

// A protocol with other keys: each `from` replaced by its `to`.
inline ProtocolSpec changed(const std::string& protocol,
                            const std::vector<std::pair<std::string, std::string>>& changes) {
  std::string text = load_protocol(protocol).text;
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) throw std::logic_error("not there: " + from);
    text.replace(at, from.size(), to);
  }
  return parse_protocol(text, "changed.toml");
}

// A text with the first `from` replaced.
inline std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("not there: " + from);
  return text.replace(at, from.size(), to);
}

// As an official list may come: with a byte order mark and CRLF line ends.
inline std::string with_crlf_and_bom(const std::string& text) {
  std::string result = "\xEF\xBB\xBF";
  for (const char c : text) result += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return result;
}

// A change to a good list and what the message about it says.
struct Damage {
  std::string from, to, expected;
};

// What the fields of a MAT file hold.
inline MatArray mat_numbers(std::vector<double> values) {
  MatArray a;
  a.kind = MatArray::Kind::numbers;
  a.shape = {1, static_cast<std::int64_t>(values.size())};
  a.numbers = std::move(values);
  return a;
}

inline MatArray mat_structure(std::vector<std::string> fields, std::vector<MatArray> cells) {
  MatArray a;
  a.kind = MatArray::Kind::structure;
  a.shape = {1, 1};
  a.fields = std::move(fields);
  a.cells = std::move(cells);
  return a;
}

}  // namespace facebench

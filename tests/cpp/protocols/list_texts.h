#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "facebench/protocols/spec.h"

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

}  // namespace facebench

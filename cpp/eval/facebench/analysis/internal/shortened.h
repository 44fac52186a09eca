#pragma once

#include <cstddef>
#include <string>

#include "facebench/io/json.h"

namespace facebench {

// A text as it is, any other value as JSON; cut to `most` bytes, not within a character.
inline std::string shortened(const Json& value, std::size_t most) {
  std::string text = value.is_string() ? value.get<std::string>() : canonical_json(value);
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most) + "...";
}

}  // namespace facebench

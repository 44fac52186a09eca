#include "facebench/core/error.h"

#include <fmt/format.h>

#include "facebench/core/utf8.h"

namespace facebench {

std::string at_line(std::string_view file, std::int64_t line) {
  return fmt::format("{}:{}", file, line);
}

std::string at_byte(std::string_view file, std::uint64_t offset) {
  return fmt::format("{}: byte {}", file, offset);
}

void fail(std::string_view where, std::string_view what, std::string_view advice) {
  if (advice.empty()) throw Error(printable(fmt::format("{}: {}", where, what)));
  throw Error(printable(fmt::format("{}: {}. {}", where, what, advice)));
}

}  // namespace facebench

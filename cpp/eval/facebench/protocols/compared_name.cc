#include "facebench/protocols/compared_name.h"

#include <algorithm>

#include "facebench/core/nfc.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

// In UTF-8: U+FEFF, U+200B to U+200D, U+2060, U+00AD, and the marks of writing directions.
constexpr std::string_view kUnseen[] = {"\xEF\xBB\xBF", "\xE2\x80\x8B", "\xE2\x80\x8C",
                                        "\xE2\x80\x8D", "\xE2\x81\xA0", "\xC2\xAD",
                                        "\xE2\x80\x8E", "\xE2\x80\x8F"};
constexpr std::string_view kNoBreakSpaces[] = {"\xC2\xA0", "\xE2\x80\xAF"};

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

}  // namespace

std::string compared_name(std::string_view name) {
  std::string text = nfc(std::string(name));
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) > 127; })) {
    for (const std::string_view unseen : kUnseen) replace_all(text, unseen, "");
    for (const std::string_view space : kNoBreakSpaces) replace_all(text, space, " ");
  }
  std::ranges::replace(text, '\\', '/');
  std::string_view rest = trim(text);
  while (rest.starts_with("./"))
    rest.remove_prefix(std::min(rest.find_first_not_of('/', 1), rest.size()));
  return std::string(rest);
}

}  // namespace facebench

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace facebench {

// Decimal digits, with white space around.
std::optional<std::int64_t> whole_number(std::string_view text);

// A floating-point number from 0 on that is a whole one, 7.0; nothing for any other.
std::optional<std::int64_t> whole_number_of(double value);

// Who it is, as a text says it.
struct LabelText {
  std::int64_t label = -1;  // of a whole number from 0 on
  std::string person;       // of a name
  bool operator==(const LabelText&) const = default;
};
// A whole number from 0 on (7.0 too), or a name: UTF-8 on one line, of at most 256 bytes, which
// begins with neither a sign nor a digit-like number (1.5, -1 are not names). Nothing where it is
// neither.
std::optional<LabelText> parse_label_text(std::string_view text);

}  // namespace facebench

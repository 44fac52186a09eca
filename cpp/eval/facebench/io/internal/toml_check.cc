#include "facebench/io/internal/toml_check.h"

#include <fmt/format.h>

#include "facebench/core/error.h"

namespace facebench {
namespace {

// Walks over the text as the parser does. Where the two could part, the text is not TOML and the
// parser stops at that place.
class Walk {
 public:
  Walk(std::string_view text, std::string_view file) : text_(text), file_(file) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  void check() {
    bool line_begins = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        parts_ = 1;
        line_begins = true;
        ++at_;
        continue;
      }
      if (c == ' ' || c == '\t') {
        ++at_;
        continue;
      }
      if (line_begins && c == '[' && depth_ == 0) check_header();
      line_begins = false;
      take(c);
    }
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    fail(at_line(file_, line_), fmt::format("not valid TOML: {}", what));
  }

  char peek(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  void take(char c) {
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      return;
    }
    if (c == '"' || c == '\'') return skip_string(c);
    if (static_cast<signed char>(c) < 0)
      refuse("a character outside ASCII stands neither in a string nor in a comment");
    if (c == '.') {
      if (++parts_ > kTomlKeyParts)
        refuse(fmt::format("a key has more than {} parts", kTomlKeyParts));
    } else if (c == '[' || c == '{') {
      if (++depth_ > kTomlNesting)
        refuse(fmt::format("lists and tables are nested deeper than {}", kTomlNesting));
      parts_ = 1;
    } else if (c == ']' || c == '}') {
      if (depth_ > 0) --depth_;
      parts_ = 1;
    } else if (c == ',' || c == '=') {
      parts_ = 1;
    }
    ++at_;
  }

  void check_header() const {
    std::size_t at = at_ + 1;
    if (peek(at) == '[') ++at;
    while (peek(at) == ' ' || peek(at) == '\t') ++at;
    const char c = peek(at);
    const bool name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '"' || c == '\'';
    if (!name) refuse("a header does not begin with a name");
  }

  void skip_string(char quote) {
    const auto three = [&] {
      return peek(at_) == quote && peek(at_ + 1) == quote && peek(at_ + 2) == quote;
    };
    const bool many_lines = three();
    at_ += many_lines ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!many_lines) return;  // no TOML: the parser stops here
        ++line_;
      } else if (c == '\\' && quote == '"') {
        ++at_;
        if (peek(at_) == '\n') ++line_;
      } else if (c == quote && (!many_lines || three())) {
        at_ += many_lines ? 3 : 1;
        // Up to two quotes at the end belong to the text.
        for (int k = 0; many_lines && k < 2 && peek(at_) == quote; ++k) ++at_;
        return;
      }
    }
  }

  std::string_view text_, file_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
  int parts_ = 1, depth_ = 0;
};

}  // namespace

void check_toml_text(std::string_view text, std::string_view file) {
  if (text.size() > kTomlBytes)
    fail(file,
         fmt::format("is TOML of {} bytes; more than {} are not read", text.size(), kTomlBytes));
  Walk(text, file).check();
}

}  // namespace facebench

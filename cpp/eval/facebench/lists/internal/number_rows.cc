#include "facebench/lists/internal/number_rows.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string_view>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/sha256.h"
#include "facebench/lists/internal/list_file.h"

namespace facebench {
namespace {

constexpr std::size_t kMostColumns = 8;

bool parts_columns(char c) { return c == ' ' || c == '\t'; }

// One file while it is read.
class Reading {
 public:
  Reading(const std::filesystem::path& path, const NumberRows& rows, Blemishes& blemishes)
      : name_(path.string()), rows_(rows), blemishes_(blemishes) {}

  void read(std::string_view text) {
    if (text.starts_with(kByteOrderMark)) {
      text.remove_prefix(kByteOrderMark.size());
      blemishes_.add(BlemishKind::byte_order_mark, place(1), "the file begins with it");
    }
    for (std::int64_t line = 1; !text.empty(); ++line) {
      const auto* end = static_cast<const char*>(std::memchr(text.data(), '\n', text.size()));
      const std::size_t length =
          end == nullptr ? text.size() : static_cast<std::size_t>(end - text.data());
      take(text.substr(0, length), line);
      text.remove_prefix(end == nullptr ? length : length + 1);
    }
    if (crlf_ > 0)
      blemishes_.add(BlemishKind::crlf, place(first_crlf_), fmt::format("{} lines", crlf_));
  }

 private:
  ListPlace place(std::int64_t line) const { return {name_, line, ""}; }
  [[noreturn]] void refuse(std::int64_t line, std::string_view text) const {
    fail(at_line(name_, line),
         fmt::format("{} whole numbers are expected, got '{}'", rows_.columns,
                     printable(text.substr(0, 200))),
         "Is it the official file? Fetch it again.");
  }

  void take(std::string_view text, std::int64_t line) {
    const std::string_view whole = text;
    if (text.ends_with('\r')) {
      text.remove_suffix(1);
      if (crlf_++ == 0) first_crlf_ = line;
    }
    const std::size_t before = text.size();
    while (!text.empty() && parts_columns(text.back())) text.remove_suffix(1);
    if (text.size() != before || text.empty())
      blemishes_.add(
          BlemishKind::blanks, [&] { return place(line); },
          text.empty() ? "the line is blank" : "at the end of the line");
    if (text.empty()) return;
    std::array<std::int64_t, kMostColumns> row{};
    const char* at = text.data();
    const char* const end = at + text.size();
    bool blanks = false;
    for (std::size_t c = 0; c < rows_.columns; ++c) {
      if (c > 0) {
        if (at == end || (rows_.separator == ' ' ? !parts_columns(*at) : *at != ',')) {
          const char* comma = at;
          while (comma != end && parts_columns(*comma)) ++comma;
          if (rows_.separator == ' ' || comma == end || *comma != ',') refuse(line, whole);
          blanks = true;
          at = comma;
        }
        ++at;
        while (at != end && parts_columns(*at)) {
          blanks = blanks || rows_.separator != ' ';
          ++at;
        }
      }
      const char* const begin = at;
      std::int64_t value = 0;
      for (; at != end && *at >= '0' && *at <= '9' && at - begin < 19; ++at)
        value = 10 * value + (*at - '0');
      if (at == begin || at - begin > 18) refuse(line, whole);
      row[c] = value;
    }
    if (at != end) refuse(line, whole);
    if (blanks)
      blemishes_.add(
          BlemishKind::blanks, [&] { return place(line); }, "around a comma");
    rows_.take(std::span(row).first(rows_.columns), line);
  }

  std::string name_;
  const NumberRows& rows_;
  Blemishes& blemishes_;
  std::int64_t crlf_ = 0, first_crlf_ = 0;
};

}  // namespace

TrialList read_number_rows(const std::filesystem::path& path, const NumberRows& rows,
                           Blemishes& blemishes) {
  if (rows.columns < 1 || rows.columns > kMostColumns)
    throw std::invalid_argument(
        fmt::format("{} columns of numbers; at most {}", rows.columns, kMostColumns));
  const MappedFile file = map_list(path);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()),
                              file.bytes().size());
  TrialList list{rows.role, path, sha256_hex(text), {}};
  Reading(path, rows, blemishes).read(text);
  return list;
}

}  // namespace facebench

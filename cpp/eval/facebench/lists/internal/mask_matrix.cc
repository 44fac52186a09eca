#include "facebench/lists/internal/mask_matrix.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/lists/internal/list_file.h"

namespace facebench {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// A whole number from 0 to 255, or -1.
int entry(std::string_view text) {
  int whole = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, whole);
  if (error == std::errc{} && stop == end) return whole >= 0 && whole <= 255 ? whole : -1;
  double number = 0;
  const auto [last, wrong] = std::from_chars(text.data(), end, number);
  const bool good = wrong == std::errc{} && last == end && number >= 0 && number <= 255 &&
                    number == std::floor(number);
  return good ? static_cast<int>(number) : -1;
}

// Cuts the next number off; empty at the end of the line.
std::string_view next_word(std::string_view& line) {
  std::size_t begin = 0;
  while (begin < line.size() && is_blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !is_blank(line[end])) ++end;
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

}  // namespace

MaskMatrix read_mask_matrix(const std::filesystem::path& path, std::int64_t size,
                            Blemishes& blemishes) {
  const MappedFile file = map_list(path);
  const std::string name = path.string();
  std::string_view rest(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  // An entry takes two bytes: sizes that are far from the file's end here, before allocation; a row
  // that is cut short is named below.
  if (static_cast<std::uint64_t>(size) > 4 * rest.size() / static_cast<std::uint64_t>(size))
    fail(name, fmt::format("{} bytes cannot hold {} x {} numbers", rest.size(), size, size),
         "The mask belongs to another list of names, or was cut off.");
  MaskMatrix mask;
  mask.sha256 = sha256_hex(rest);
  mask.values.resize(static_cast<std::size_t>(size * size));
  const auto at = [&](std::int64_t line) { return ListPlace{name, line, ""}; };
  if (rest.starts_with("\xEF\xBB\xBF")) {
    rest.remove_prefix(3);
    blemishes.add(BlemishKind::byte_order_mark, at(1), "the file begins with it");
  }
  if (const std::size_t end = rest.find('\n');
      end != std::string_view::npos && end > 0 && rest[end - 1] == '\r')
    blemishes.add(BlemishKind::crlf, at(1), "from the first line");
  const auto n = static_cast<std::size_t>(size);
  std::size_t row = 0;
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    std::string_view word = next_word(line);
    if (word.empty()) {
      blemishes.add(BlemishKind::blanks, at(number), "the line is blank");
      continue;
    }
    mask.line.push_back(number);
    const std::string where = at_line(name, number);
    if (row == n) fail(where, fmt::format("a row more than the {} names", size));
    for (std::size_t column = 0; column < n; ++column, word = next_word(line)) {
      if (word.empty()) fail(where, fmt::format("{} numbers where {} are expected", column, size));
      const int value = entry(word);
      if (value < 0)
        fail(where, fmt::format("'{}' is not a whole number from 0 to 255",
                                printable(word.substr(0, 40))));
      mask.values[row * n + column] = static_cast<std::uint8_t>(value);
      if (column < row && mask.values[column * n + row] != value)
        blemishes.add(
            BlemishKind::mask_asymmetry, [&] { return at(number); },
            [&] {
              return fmt::format("entry {} is {}, its mirror image {}", column + 1, value,
                                 mask.values[column * n + row]);
            });
    }
    if (!word.empty()) fail(where, fmt::format("more than {} numbers", size));
    ++row;
  }
  if (row != n) fail(name, fmt::format("{} rows for {} names", row, size));
  return mask;
}

}  // namespace facebench

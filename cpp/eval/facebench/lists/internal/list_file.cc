#include "facebench/lists/internal/list_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/file.h"
#include "facebench/io/sha256.h"
#include "facebench/lists/internal/latin_1.h"

namespace facebench {
namespace {

constexpr std::string_view kSpaceAndTab = " \t";

// Rewrites a list line by line, so that the numbers of the lines stay.
class Cleaner {
 public:
  // `separator` of the fields; kBlanks: there are none.
  Cleaner(std::string_view bytes, std::string name, char separator, Blemishes& blemishes)
      : rest_(bytes), name_(std::move(name)), separator_(separator), blemishes_(blemishes) {
    // Behind the last tab there may be an empty cell.
    if (separator_ == '\t') blanks_ = " ";
    ascii_ = std::ranges::none_of(bytes, [](char c) { return static_cast<signed char>(c) < 0; });
  }

  std::string clean() {
    out_.reserve(rest_.size());
    if (rest_.starts_with(kByteOrderMark)) {
      rest_.remove_prefix(kByteOrderMark.size());
      blemishes_.add(BlemishKind::byte_order_mark, ListPlace{name_, 1, ""},
                     "the file begins with it");
    }
    for (std::int64_t number = 1; !rest_.empty(); ++number) take_line(number);
    if (crlf_ > 0)
      blemishes_.add(BlemishKind::crlf, ListPlace{name_, first_crlf_, ""},
                     fmt::format("{} lines", crlf_));
    return std::move(out_);
  }

 private:
  void take_line(std::int64_t number) {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    const auto where = [&] { return ListPlace{name_, number, ""}; };
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
      if (crlf_++ == 0) first_crlf_ = number;
    }
    const std::size_t last = line.find_last_not_of(blanks_);
    if (last + 1 != line.size()) {  // npos + 1 = 0: nothing but blanks
      line = line.substr(0, last + 1);
      blemishes_.add(BlemishKind::blanks, where,
                     line.empty() ? "the line is blank" : "at the end of the line");
    } else if (line.empty()) {
      blemishes_.add(BlemishKind::blanks, where, "the line is blank");
    }
    std::string fields;
    if (separator_ == ',' && blanks_at_commas(line)) {
      fields = without_blanks_at_commas(line);
      line = fields;
      blemishes_.add(BlemishKind::blanks, where, "around a comma");
    }
    if (ascii_ || is_utf8(line)) {
      out_ += line;
    } else {
      const std::string text = from_latin_1(line);
      out_ += text;
      blemishes_.add(BlemishKind::latin_1, where,
                     [&] { return fmt::format("read as '{}'", printable(text)); });
    }
    if (end != std::string_view::npos) out_ += '\n';
  }

  // In a line without quotes.
  static bool blanks_at_commas(std::string_view line) {
    if (line.find_first_of(kSpaceAndTab) == std::string_view::npos) return false;
    if (line.find('"') != std::string_view::npos) return false;
    return line != without_blanks_at_commas(line);
  }

  static std::string without_blanks_at_commas(std::string_view line) {
    std::string result;
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find(',', begin), line.size());
      if (begin > 0) result += ',';
      result += trim(line.substr(begin, end - begin));
      begin = end + 1;
    }
    return result;
  }

  std::string_view rest_;
  std::string name_;
  char separator_;
  std::string_view blanks_ = kSpaceAndTab;  // at the end of a line
  Blemishes& blemishes_;
  bool ascii_ = true;
  std::int64_t crlf_ = 0, first_crlf_ = 0;
  std::string out_;
};

bool is_numbers(std::string_view line) {
  return !line.empty() && line.find_first_not_of("0123456789 \t,") == std::string_view::npos;
}

// Blanks a first line such as "10 300", which LFW's own list has and others had put before theirs:
// numbers alone, and the second line is not.
void drop_header_line(std::string& text, const std::filesystem::path& path, Blemishes& blemishes) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return;
  const std::string_view all(text), first = all.substr(0, end);
  if (!is_numbers(first) || is_numbers(all.substr(end + 1, all.find('\n', end + 1) - end - 1)))
    return;
  blemishes.add(BlemishKind::header_line, ListPlace{path.string(), 1, ""},
                fmt::format("'{}'", printable(first)));
  text.erase(0, end);  // the line's end stays, and with it the numbers of the others
}

// The text as it is meant; `list` gets the hash of the bytes.
std::string cleaned(const std::filesystem::path& path, char separator, TrialList& list,
                    Blemishes& blemishes) {
  const std::string bytes = read_file(path);
  if (bytes.starts_with('\x80'))
    fail(path.string(),
         "is a Python pickle; nothing is unpickled here, since a pickle can run programs",
         fmt::format("Write it as CSV where you trust it:  python -c \"import pandas; "
                     "pandas.read_pickle('{}').to_csv('{}', index=False)\"",
                     path.filename().string(),
                     std::filesystem::path(path).replace_extension(".csv").filename().string()));
  list.sha256 = sha256_hex(bytes);
  return Cleaner(bytes, path.string(), separator, blemishes).clean();
}

}  // namespace

MappedFile map_list(const std::filesystem::path& path) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  MappedFile file(path);
  if (file.bytes().size() > kMost)
    fail(path.string(),
         fmt::format("has {} bytes; at most {} are expected here", file.bytes().size(), kMost));
  return file;
}

ListFile::ListFile(const std::filesystem::path& path, std::string role, Blemishes& blemishes)
    : list_{std::move(role), path, "", {}},
      text_(cleaned(path, kBlanks, list_, blemishes), path.string()) {
  std::ranges::copy_if(text_.lines(), std::back_inserter(lines_),
                       [](const TextLine& line) { return !line.text.empty(); });
}

ListCsv read_list_csv(const std::filesystem::path& path, std::string role, Blemishes& blemishes,
                      const CsvOptions& options) {
  TrialList list{std::move(role), path, "", {}};
  std::string text = cleaned(path, options.separator, list, blemishes);
  if (!options.header) drop_header_line(text, path, blemishes);
  return {CsvTable(std::move(text), path.string(), options), std::move(list)};
}

void note_column_order(const CsvTable& table, std::initializer_list<std::string_view> official,
                       Blemishes& blemishes) {
  std::size_t before = 0;
  for (const std::string_view name : official) {
    const std::size_t at = table.column(name);
    if (at < before) {
      blemishes.add(BlemishKind::column_order, ListPlace{table.name(), 1, ""},
                    fmt::format("{} comes earlier than in the official file", name));
      return;
    }
    before = at;
  }
}

}  // namespace facebench

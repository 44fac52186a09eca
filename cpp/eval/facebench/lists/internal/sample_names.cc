#include "facebench/lists/internal/sample_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/lists/internal/file_listing.h"

namespace facebench {
namespace {

std::string_view file_of(std::string_view sample) {
  return sample.substr(sample.rfind('/') + 1);  // npos + 1 = 0: the whole name
}

std::string folder(std::string_view sample) {
  const std::size_t slash = sample.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(sample.substr(0, slash));
}

std::string parent_folder(std::string_view sample) { return folder(folder(sample)); }

std::string before_last_underscore(std::string_view sample) {
  const std::string_view file = file_of(sample);
  const std::size_t at = file.rfind('_');
  return at == std::string_view::npos ? "" : std::string(file.substr(0, at));
}

// Of the parts between underscores the first that is not a number.
std::string first_word(std::string_view sample) {
  std::string_view file = file_of(sample);
  file = file.substr(0, file.rfind('.'));
  while (!file.empty()) {
    const std::size_t end = std::min(file.find('_'), file.size());
    const std::string_view part = file.substr(0, end);
    if (end < file.size() && part.find_first_not_of("0123456789") != std::string_view::npos)
      return std::string(part);
    file.remove_prefix(std::min(end + 1, file.size()));
  }
  return "";
}

std::string second_part(std::string_view sample) {
  const std::string_view file = file_of(sample);
  const std::size_t first = file.find('_');
  if (first == std::string_view::npos) return "";
  const std::size_t second = file.find('_', first + 1);
  if (second == std::string_view::npos) return "";
  return std::string(file.substr(first + 1, second - first - 1));
}

}  // namespace

std::string sample_name(std::string_view text, Blemishes& blemishes,
                        const std::function<ListPlace()>& where) {
  const auto refuse = [&](std::string_view what) {
    fail(where().text(), fmt::format("'{}' {}", printable(text), what),
         "Names are paths below the image folder, with '/'.");
  };
  std::string plain;  // most names hold no blank and are ASCII
  if (std::ranges::any_of(text, [](char c) { return static_cast<signed char>(c) <= ' '; }))
    plain = plain_name(text);
  if (!plain.empty() && plain != text) {
    const bool marked = text.find("\xEF\xBB\xBF") != std::string_view::npos;
    blemishes.add(marked ? BlemishKind::byte_order_mark : BlemishKind::blanks, where,
                  [&] { return fmt::format("in the name '{}'", plain); });
    text = plain;
  }
  if (text.empty()) fail(where().text(), "a name is empty");
  if (text.front() == '/') refuse("is an absolute path");
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    refuse("holds a control character");
  if (text.find('\\') != std::string_view::npos) refuse("holds a backslash");
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") refuse("is not a plain path");
    begin = end + 1;
  }
  return std::string(text);
}

const Table<IdentityRule>& identity_rules() {
  static const Table<IdentityRule> table(
      "identity rule",
      {{"folder", "the folders before the file's name: Ann/1.jpg is Ann", folder},
       {"parent_folder", "the folders without the last: 001/frontal/02.jpg is 001", parent_folder},
       {"before_last_underscore",
        "the file's name before its last underscore: Ann_Bee_0001.jpg "
        "is Ann_Bee",
        before_last_underscore},
       {"first_word",
        "of the parts before underscores the first that is not a number: 12_AnnBee_35_f.jpg and "
        "AnnBee_f_12_35.jpg are AnnBee",
        first_word},
       {"second_part", "the part between the first two underscores: 12_AnnBee_35_f.jpg is AnnBee",
        second_part},
       {"genuine", "names say nothing: people are what genuine comparisons connect", nullptr}});
  return table;
}

}  // namespace facebench

#include "protocols/sample_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/sha256.h"

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

std::string second_part(std::string_view sample) {
  const std::string_view file = file_of(sample);
  const std::size_t first = file.find('_');
  if (first == std::string_view::npos) return "";
  const std::size_t second = file.find('_', first + 1);
  if (second == std::string_view::npos) return "";
  return std::string(file.substr(first + 1, second - first - 1));
}

}  // namespace

std::string sample_name(std::string_view text, const std::function<std::string()>& where) {
  const auto refuse = [&](std::string_view what) {
    fail(where(), fmt::format("'{}' {}", printable(text), what),
         "Names are paths below the image folder, with '/'.");
  };
  if (text.empty()) fail(where(), "a name is empty");
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
       {"second_part", "the part between the first two underscores: 12_AnnBee_35_f.jpg is AnnBee",
        second_part},
       {"genuine", "names say nothing: people are what genuine comparisons connect", nullptr}});
  return table;
}

TrialList trial_list(std::string role, const std::filesystem::path& path, std::string_view bytes) {
  TrialList list{std::move(role), path, sha256_hex(bytes), {}};
  if (bytes.starts_with("\xEF\xBB\xBF"))
    list.notes.emplace_back("begins with a byte order mark, passed over");
  if (bytes.find("\r\n") != std::string_view::npos) list.notes.emplace_back("has CRLF line ends");
  return list;
}

}  // namespace facebench

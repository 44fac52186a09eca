#include "facebench/io/exclusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"

namespace facebench {

bool Exclusion::covers(const std::string& person, const std::string& sample) const {
  return people.contains(compared_name(person)) || samples.contains(compared_name(sample));
}

Exclusion read_exclusion(const std::filesystem::path& path) {
  const TextFile file(path);
  Exclusion e;
  e.path = path;
  e.sha256 = sha256_hex(file.bytes());
  const auto says_nothing = [](const TextLine& line) {
    return trim(line.text).empty() || line.text.starts_with('#');
  };
  const bool people_alone = std::ranges::all_of(file.lines(), [&](const TextLine& line) {
    return says_nothing(line) || split_whitespace(line.text).front() == line.text;
  });
  for (const TextLine& line : file.lines()) {
    const std::string where = at_line(file.name(), line.number);
    if (says_nothing(line)) continue;
    const std::vector<std::string_view> fields =
        people_alone ? std::vector<std::string_view>{"person", line.text} : split_tabs(line.text);
    if (fields.size() != 2 || fields[1].empty() || (fields[0] != "person" && fields[0] != "sample"))
      fail(where, fmt::format("'{}' is neither", printable(line.text)),
           "A line is 'person' or 'sample', a tab, and its name.");
    if (!(fields[0] == "person" ? e.people : e.samples).insert(compared_name(fields[1])).second)
      fail(where, fmt::format("{} '{}' is there twice", fields[0], printable(fields[1])));
  }
  return e;
}

std::string exclusion_text(const std::vector<std::string>& people,
                           const std::vector<std::string>& samples, const std::string& comment) {
  for (const auto* names : {&people, &samples})
    for (const std::string& name : *names)
      if (name.find_first_of("\t\r\n") != std::string::npos)
        throw std::invalid_argument(fmt::format(
            "'{}' cannot stand in a list: it holds a tab or a line end", printable(name)));
  std::string text;
  const TextFile comments(comment, "comment");
  for (const TextLine& line : comments.lines()) text += fmt::format("# {}\n", line.text);
  for (const std::string& p : people) text += fmt::format("person\t{}\n", p);
  for (const std::string& s : samples) text += fmt::format("sample\t{}\n", s);
  return text;
}

}  // namespace facebench

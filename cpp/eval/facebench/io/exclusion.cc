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

namespace {

constexpr std::string_view kForm = "A line is 'person' or 'sample', a tab, and its name";

bool is_count(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The lines of a list of people alone: a name each, or LFW's NAME<tab>NUMBER; none where the lines
// say what each is. A blank in place of the tab is a slip, and not a name.
std::vector<TextLine> lines_of_people(std::vector<TextLine> lines) {
  const auto tagged = [](const TextLine& line) {
    return line.text.starts_with("person ") || line.text.starts_with("sample ");
  };
  const auto numbered = [](const TextLine& line) {
    const auto fields = split_tabs(line.text);
    return fields.size() == 2 && !fields[0].empty() && is_count(trim(fields[1]));
  };
  if (std::ranges::none_of(lines, [&](const TextLine& line) {
        return tagged(line) || line.text.find('\t') != std::string_view::npos;
      }))
    return lines;
  if (lines.size() > 1 && trim(lines[0].text) == std::to_string(lines.size() - 1))
    lines.erase(lines.begin());
  if (!std::ranges::all_of(lines, numbered)) return {};
  for (TextLine& line : lines) line.text = split_tabs(line.text)[0];
  return lines;
}

}  // namespace

Exclusion read_exclusion(const std::filesystem::path& path, bool keeps) {
  const TextFile file(path);
  Exclusion e;
  e.path = path;
  e.sha256 = sha256_hex(file.bytes());
  e.keeps = keeps;
  const auto add = [&](const TextLine& line, std::string_view kind, std::string_view name) {
    if (!(kind == "person" ? e.people : e.samples).insert(compared_name(name)).second && !keeps)
      fail(at_line(file.name(), line.number),
           fmt::format("{} '{}' is there twice", kind, printable(name)));
  };
  std::vector<TextLine> lines(file.lines().begin(), file.lines().end());
  std::erase_if(lines, [](const TextLine& line) {
    return trim(line.text).empty() || line.text.starts_with('#');
  });
  if (const auto people = lines_of_people(lines); !people.empty()) {
    for (const TextLine& line : people) add(line, "person", trim(line.text));
  } else {
    for (const TextLine& line : lines) {
      const auto fields = split_tabs(line.text);
      if (fields.size() != 2 || fields[1].empty() ||
          (fields[0] != "person" && fields[0] != "sample"))
        fail(at_line(file.name(), line.number),
             fmt::format("'{}' is neither", printable(line.text)), std::string(kForm) + ".");
      add(line, fields[0], fields[1]);
    }
  }
  if (keeps && e.entries() == 0)
    fail(path.string(), "names nobody, so nothing would stay",
         "Write one person a line, or 'sample', a tab and a name for single images.");
  return e;
}

Exclusions read_exclusions(const std::filesystem::path& exclude,
                           const std::filesystem::path& only) {
  Exclusions lists;
  if (!exclude.empty()) lists.push_back(read_exclusion(exclude));
  if (!only.empty()) lists.push_back(read_exclusion(only, true));
  return lists;
}

std::string not_there_note(const Exclusion& list, const std::vector<std::string>& not_there) {
  if (not_there.empty()) return {};
  return fmt::format("{} of the {} entries of {} are not in the data: {}.", not_there.size(),
                     list.entries(), list.path.filename().string(), first_names(not_there));
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

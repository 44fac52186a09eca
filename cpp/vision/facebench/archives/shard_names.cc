#include "facebench/archives/shard_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

constexpr std::string_view kShardDigits = "0123456789";
constexpr std::int64_t kMostNumber = 1'000'000;

std::optional<std::int64_t> shard_number(std::string_view digits) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() ||
      number > kMostNumber)
    return std::nullopt;
  return number;
}

struct ShardName {
  std::string_view before, number_text, of_text, ending;
  std::int64_t number = 0, of = 0;
};

std::optional<ShardName> shard_name(std::string_view file) {
  constexpr std::string_view between = "-of-";
  const std::size_t at = file.rfind(between);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const std::size_t begin = file.find_last_not_of(kShardDigits, at - 1) + 1;  // npos + 1 = 0
  const std::size_t of = at + between.size();
  const std::size_t end = std::min(file.find_first_not_of(kShardDigits, of), file.size());
  ShardName name{file.substr(0, begin), file.substr(begin, at - begin), file.substr(of, end - of),
                 file.substr(end)};
  // A hash stands before the ending, of each part another.
  name.ending.remove_prefix(std::min(name.ending.rfind('.'), name.ending.size()));
  const auto number = shard_number(name.number_text), parts = shard_number(name.of_text);
  if (!number || !parts || *number > *parts || *parts == 0) return std::nullopt;
  name.number = *number;
  name.of = *parts;
  return name;
}

struct ShardSet {
  ShardName first;
  std::map<std::int64_t, std::string_view> files;  // by number
};

void require_set(const ShardSet& shards, std::string_view where) {
  const ShardName& name = shards.first;
  const std::int64_t base = shards.files.contains(name.of) ? 1 : 0;
  std::vector<std::string> absent;
  for (std::int64_t i = base; i < base + name.of; ++i)
    if (!shards.files.contains(i))
      absent.push_back(fmt::format("{}{:0{}}-of-{}", printable(name.before), i,
                                   name.number_text.size(), name.of_text));
  if (absent.empty()) return;
  fail(where,
       fmt::format("{} of {} parts are not there: {}", absent.size(), name.of, first_names(absent)),
       "Fetch them, or give a file to read it alone.");
}

}  // namespace

void require_all_shards(const std::vector<std::string>& files, std::string_view where) {
  std::map<std::pair<std::string_view, std::string_view>, ShardSet> sets;
  for (const std::string& file : files) {
    const std::optional<ShardName> name = shard_name(file);
    if (!name) continue;
    ShardSet& set =
        sets.try_emplace({name->before, name->ending}, ShardSet{*name, {}}).first->second;
    const auto [known, fresh] = set.files.emplace(name->number, file);
    if (set.first.of != name->of || !fresh)
      fail(where,
           fmt::format("{} and {} are parts of two sets",
                       printable(known->second == file ? set.files.begin()->second : known->second),
                       printable(file)),
           "Remove those of one: they may hold the same images.");
  }
  for (const auto& [key, set] : sets) require_set(set, where);
}

std::string shard_note(std::string_view file) {
  const std::optional<ShardName> name = shard_name(file);
  if (!name || name->of == 1) return {};
  return fmt::format("By its name {} is one of {} parts: the others are not read.", printable(file),
                     name->of);
}

std::string numbering_note(const std::vector<std::string>& files) {
  std::map<std::pair<std::string_view, std::string_view>, std::map<std::int64_t, std::size_t>> sets;
  for (const std::string& file : files) {
    const std::string_view all = file;
    const std::size_t dot = std::min(all.find('.'), all.size());
    const std::size_t begin =
        all.substr(0, dot).find_last_not_of(kShardDigits) + 1;  // npos + 1 = 0
    const std::string_view digits = all.substr(begin, dot - begin);
    if (const auto number = shard_number(digits); number && !shard_name(file))
      sets[{all.substr(0, begin), all.substr(dot)}].emplace(*number, digits.size());
  }
  std::vector<std::string> absent;
  for (const auto& [name, numbers] : sets) {
    const std::int64_t first = numbers.begin()->first, last = numbers.rbegin()->first;
    const auto there = static_cast<std::int64_t>(numbers.size());
    if (last - first + 1 >= 2 * there) continue;  // numbered otherwise than one by one
    for (std::int64_t i = first; i < last; ++i)
      if (!numbers.contains(i))
        absent.push_back(fmt::format("{}{:0{}}{}", printable(name.first), i,
                                     numbers.begin()->second, printable(name.second)));
  }
  if (absent.empty()) return {};
  return fmt::format("By the numbers in their names {} files are not there: {}.", absent.size(),
                     first_names(absent));
}

}  // namespace facebench

#include "facebench/claims/run_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "facebench/analysis/internal/shortened.h"
#include "facebench/core/error.h"
#include "facebench/core/registry.h"
#include "facebench/io/file.h"
#include "facebench/io/toml.h"
#include "facebench/runs/run_folder.h"
#include "facebench/runs/verify.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// 0 and false are values: something that is recorded.
bool is_empty(const Json& v) { return v.is_null() || v == "" || (v.is_structured() && v.empty()); }

std::string text_of(const Json& value) { return shortened(value, std::string::npos); }

// What a rule can ask of a value, and how it is read in a sentence.
struct ValueTest {
  std::string name, doc;
  std::function<bool(const Json& value, const Json& expected)> passes;
  // Whether it forbids: a list that is recorded and has no entry has nothing that is forbidden.
  bool forbids = false;
};
const Table<ValueTest>& value_tests() {
  static const Table<ValueTest> table(
      "test of a value",
      {{"is", "has to be", [](const Json& v, const Json& expected) { return v == expected; }},
       {"one_of", "has to be one of",
        [](const Json& v, const Json& expected) { return std::ranges::count(expected, v) > 0; }},
       {"at_least", "has to be at least",
        [](const Json& v, const Json& expected) { return v.is_number() && v >= expected; }},
       {"at_most", "has to be at most",
        [](const Json& v, const Json& expected) { return v.is_number() && v <= expected; }},
       {"present", "recorded has to be",
        [](const Json& v, const Json& expected) { return !v.is_null() == expected; }},
       {"empty", "empty has to be",
        [](const Json& v, const Json& expected) { return is_empty(v) == expected; }},
       {"lacks", "must not contain",
        [](const Json& v, const Json& expected) {
          return text_of(v).find(text_of(expected)) == std::string::npos;
        },
        true}});
  return table;
}

using Places = std::vector<std::pair<std::string, Json>>;

// Everything at a place, with the keys that lead there.
Places values_at(const Json& data, const std::string& place) {
  Places places = {{"", data}};
  for (std::size_t begin = 0; begin <= place.size();) {
    const std::size_t end = std::min(place.find('/', begin), place.size());
    const std::string part = place.substr(begin, end - begin);
    begin = end + 1;
    Places next;
    const auto add = [&](const std::string& at, const std::string& key, const Json& value) {
      next.emplace_back(at.empty() ? key : at + "/" + key, value);
    };
    for (const auto& [at, value] : places) {
      const bool every = part == "*", some = part.ends_with('*');
      if (value.is_array() && every)
        for (std::size_t i = 0; i < value.size(); ++i) add(at, std::to_string(i), value[i]);
      if (!value.is_object()) continue;
      for (const auto& [key, inner] : value.items())
        if (key == part || (some && key.starts_with(part.substr(0, part.size() - 1))))
          add(at, key, inner);
    }
    places = std::move(next);
  }
  return places;
}

// The list or table that `place` asks every entry of, where it is recorded and has none; else "".
std::string without_entries(const Json& data, const std::string& place) {
  for (std::size_t at = place.find("/*"); at != std::string::npos; at = place.find("/*", at + 1)) {
    if (at + 2 < place.size() && place[at + 2] != '/') continue;
    const std::string holder = place.substr(0, at);
    const Places found = values_at(data, holder);
    const auto has_none = [](const auto& p) {
      return p.second.is_structured() && p.second.empty();
    };
    if (!found.empty() && std::ranges::all_of(found, has_none)) return holder;
  }
  return "";
}

// A value in a sentence.
std::string in_brief(const Json& value) { return shortened(value, 90); }

using Finding = std::pair<bool, std::string>;

Finding apply_value(const RunRule& rule, const Json& data) {
  const ValueTest& test = value_tests().at(rule.test);
  Places places = values_at(data, rule.value);
  if (const std::string holder = without_entries(data, rule.value);
      places.empty() && test.forbids && !holder.empty())
    return {true, fmt::format("{} has no entry", holder)};
  if (places.empty() && rule.test != "present" && rule.test != "empty")
    return {false, fmt::format("{} is not recorded", rule.value)};
  if (places.empty()) places.emplace_back(rule.value, nullptr);
  for (const auto& [place, value] : places)
    if (!test.passes(value, rule.expected))
      return {false, fmt::format("{} is {}, and {} {}", place, in_brief(value), test.doc,
                                 in_brief(rule.expected))};
  const std::string others =
      places.size() > 1 ? fmt::format(" and {} more", places.size() - 1) : "";
  return {true, fmt::format("{} is {}{}", places[0].first, in_brief(places[0].second), others)};
}

Finding apply_file(const RunRule& rule, const fs::path& run) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(run))
    if (const std::string name = entry.path().filename().string();
        ::fnmatch(rule.file.c_str(), name.c_str(), FNM_PERIOD) == 0)
      files.push_back(name);
  std::ranges::sort(files);
  if (files.empty())
    return {false, fmt::format("there is no file {} in the run folder", rule.file)};
  return {true, fmt::format("{}", fmt::join(files, ", "))};
}

Finding apply_verified(const fs::path& run, const Job& job) {
  std::vector<Check> checks = verify_scores(run, job);
  for (Check& check : verify_inputs(run, {}, job)) checks.push_back(std::move(check));
  std::string wrong;
  std::vector<std::string> unchecked;
  for (const Check& c : checks) {
    if (!c.checked)
      unchecked.push_back(c.name);
    else if (!c.same)
      wrong += fmt::format("{}{} ({})", wrong.empty() ? "" : "; ", c.name, c.detail);
  }
  if (!wrong.empty()) return {false, wrong};
  return {true, fmt::format("{} of {} checks found the same{}{}", checks.size() - unchecked.size(),
                            checks.size(), unchecked.empty() ? "" : "; not checked: ",
                            fmt::join(unchecked, ", "))};
}

}  // namespace

RunRules read_rules(const fs::path& path) {
  const TomlTable top = parse_toml(read_file(path, 1 << 20), path.string());
  RunRules rules;
  rules.id = top.text("id");
  rules.version = top.integer("version");
  rules.title = top.text("title", "");
  rules.source = top.text("source", "");
  rules.changes = top.texts("changes", {});
  const std::vector<TomlTable> tables = top.tables("rules");
  std::vector<std::size_t> tests;  // of each rule
  for (const TomlTable& table : tables) {
    RunRule& rule = rules.rules.emplace_back();
    rule.name = table.text("name");
    rule.why = table.text("why", "");
    rule.value = table.text("value", "");
    rule.unless = table.text("unless", "");
    rule.file = table.text("file", "");
    rule.verified = table.boolean("verified", false);
    tests.push_back(0);
    for (const std::string& test : value_tests().names()) {
      if (!table.has(test)) continue;
      rule.test = test;
      rule.expected = json_of_option(table.option(test));
      ++tests.back();
    }
  }
  top.finish();
  for (std::size_t r = 0; r < tables.size(); ++r) {
    const RunRule& rule = rules.rules[r];
    if (!rule.value.empty() + !rule.file.empty() + rule.verified != 1)
      fail(tables[r].where(),
           fmt::format("rule '{}' needs one of value, verified and file", rule.name));
    if (tests[r] != (rule.value.empty() ? 0 : 1))
      fail(tables[r].where(), fmt::format("rule '{}': a value needs one of {}", rule.name,
                                          fmt::join(value_tests().names(), ", ")));
  }
  return rules;
}

std::vector<RuleResult> check_run(const fs::path& folder, const RunRules& rules, const Job& job) {
  const Run run = read_run(folder, job);
  const Json data = {{"content", run.manifest.content},
                     {"circumstance", run.manifest.circumstance},
                     {"metrics", run.metrics}};
  std::vector<RuleResult> results;
  for (const RunRule& rule : rules.rules) {
    Finding finding;
    if (!rule.unless.empty() &&
        std::ranges::any_of(values_at(data, rule.unless),
                            [](const auto& v) { return !v.second.is_null(); }))
      finding = {true, fmt::format("does not apply: {} is there", rule.unless)};
    else if (!rule.file.empty())
      finding = apply_file(rule, folder);
    else if (rule.verified)
      finding = apply_verified(folder, job);
    else
      finding = apply_value(rule, data);
    if (!finding.first && !rule.why.empty()) finding.second += ". " + rule.why;
    results.push_back({rule.name, finding.first, std::move(finding.second)});
  }
  return results;
}

}  // namespace facebench

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/io/json.h"

namespace facebench {

// Whether a run folder has what a journal or a challenge asks for: rules as data.

// One thing that is asked for: a value of the run, its files, or that they are as they were
// written.
struct RunRule {
  std::string name, why;
  // A place in {"content", "circumstance", "metrics"} of the run: keys with / between, where *
  // stands for every key and prefix* for those that begin so.
  std::string value;
  std::string test;       // of the value: is, one_of, at_least, at_most, present, empty, lacks
  Json expected;          // what the test compares with
  std::string unless;     // a place: the rule does not apply where something other than null is
  std::string file;       // a name with * and ?, of a file in the run folder
  bool verified = false;  // every file and input has its hash, and the numbers come out again
};
struct RunRules {
  std::string id, title, source;
  std::vector<std::string> changes;  // "1: first version"
  std::int64_t version = 0;
  std::vector<RunRule> rules;
};
// A TOML file (docs/suite.md has the form). Throws Error for a key that it does not know, and for a
// rule without exactly one of value, verified and file, or whose value has not exactly one test.
RunRules read_rules(const std::filesystem::path& path);

struct RuleResult {
  std::string name;
  bool passed = false;
  std::string reason;
};
// Every rule in turn. Nothing is computed again but for `verified`. Throws Error where `run` is no
// run folder.
std::vector<RuleResult> check_run(const std::filesystem::path& run, const RunRules& rules,
                                  const Job& job = {});

}  // namespace facebench

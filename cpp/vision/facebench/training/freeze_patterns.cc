#include "facebench/training/freeze_patterns.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "facebench/core/registry.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

bool matches(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

bool pattern_covers(const std::string& pattern, const std::string& name) {
  return matches(pattern, name) || matches(pattern + ".*", name);
}

}  // namespace

FreezePatterns::FreezePatterns(std::vector<std::string> patterns)
    : patterns_(std::move(patterns)) {}

bool FreezePatterns::covers(std::string_view name) const {
  const std::string text(name);
  return std::ranges::any_of(patterns_,
                             [&](const std::string& p) { return pattern_covers(p, text); });
}

void FreezePatterns::check(std::span<const std::string> names) const {
  for (const std::string& pattern : patterns_) {
    if (std::ranges::any_of(names, [&](const auto& n) { return pattern_covers(pattern, n); }))
      continue;
    std::vector<std::string> parts;  // "layer1", in the network's order
    for (const std::string& name : names)
      if (std::string part = name.substr(0, name.find('.'));
          std::ranges::find(parts, part) == parts.end())
        parts.push_back(std::move(part));
    const std::string near = closest_name(pattern, parts);
    const std::string meant = near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
    throw std::invalid_argument(
        fmt::format("training.freeze: '{}' is nothing of the network{} Its parts: {}", pattern,
                    meant.empty() ? "." : meant, first_names(parts, 20)));
  }
}

}  // namespace facebench

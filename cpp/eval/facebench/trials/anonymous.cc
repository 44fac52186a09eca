#include "facebench/trials/anonymous.h"

#include <algorithm>

#include "facebench/io/sha256.h"

namespace facebench {
namespace {

constexpr std::size_t kDigits = 32;

// Whether a name stands in a text, not within a longer word.
bool holds(std::string_view text, std::string_view name) {
  const auto is_word = [&](std::size_t at) {
    if (at >= text.size()) return false;
    const char c = text[at];
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
    if ((at == 0 || !is_word(at - 1)) && !is_word(at + name.size())) return true;
  return false;
}

}  // namespace

HashedNames::HashedNames(const TrialSet& trials) {
  Sha256 all;
  for (const auto* names : {&trials.names, &trials.templates.names, &trials.identity_names}) {
    for (const std::string& name : *names) {
      all.update(name);
      all.update(std::string_view("\0", 1));
      if (!name.empty()) names_.insert(name);
    }
    all.update(std::string_view("\1", 1));
  }
  key_ = all.hex();
}

std::string HashedNames::of(std::string_view name) const {
  return sha256_hex(key_ + std::string(name)).substr(0, kDigits);
}

TrialSet HashedNames::of(TrialSet trials) const {
  for (auto* names : {&trials.names, &trials.templates.names, &trials.identity_names})
    for (std::string& name : *names) name = of(name);
  for (auto* texts : {&trials.notes, &trials.warnings})
    for (std::string& text : *texts) text = without_names(text);
  for (TrialList& list : trials.lists)
    for (std::string& note : list.notes) note = without_names(note);
  for (FoundBlemishes& found : trials.blemishes) found.first.clear();
  return trials;
}

std::string HashedNames::without_names(const std::string& text) const {
  const auto within = [&](const std::string& name) { return holds(text, name); };
  if (text.find(" /") == std::string::npos && std::ranges::none_of(names_, within)) return text;
  return "A note that holds names or a path was left out (--anonymous).";
}

}  // namespace facebench

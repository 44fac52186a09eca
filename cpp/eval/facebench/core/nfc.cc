#include "facebench/core/nfc.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "facebench/core/internal/code_point.h"
#include "facebench/core/utf8.h"

namespace facebench {
namespace {

struct Decomposition {
  std::uint32_t character, first, second;  // second 0: there is none
  std::uint32_t composes;                  // whether NFC makes it of its parts
};
struct ClassRun {
  std::uint32_t first, last, combining_class;
};
#include "facebench/core/internal/nfc_tables.inc"

// Hangul syllables are computed (The Unicode Standard, 3.12).
constexpr std::uint32_t kSyllable = 0xAC00, kLead = 0x1100, kVowel = 0x1161, kTail = 0x11A7;
constexpr std::uint32_t kLeads = 19, kVowels = 21, kTails = 28;

bool in_run(std::uint32_t c, std::uint32_t begin, std::uint32_t count) {
  return c >= begin && c - begin < count;
}

// No character from here on has a part in a decomposition or a combining class.
constexpr std::uint32_t kEnd = 0x30000;

std::uint32_t combining_class(std::uint32_t c) {
  const auto* run =
      std::ranges::lower_bound(kClassRuns, c, {}, [](const ClassRun& r) { return r.last; });
  return run != std::end(kClassRuns) && c >= run->first ? run->combining_class : 0;
}

const Decomposition* decomposition(std::uint32_t c) {
  const auto* at = std::ranges::lower_bound(kDecompositions, c, {}, &Decomposition::character);
  return at != std::end(kDecompositions) && at->character == c ? at : nullptr;
}

// By the characters whose presence can make a text another in NFC: marks, what a letter can be
// composed with, and what NFC never holds.
const std::vector<bool>& unstable() {
  static const std::vector<bool> table = [] {
    std::vector<bool> of(kEnd, false);
    for (const ClassRun& run : kClassRuns)
      for (std::uint32_t c = run.first; c <= run.last; ++c) of[c] = true;
    for (const Decomposition& d : kDecompositions) of[d.composes ? d.second : d.character] = true;
    for (std::uint32_t k = 0; k < kVowels; ++k) of[kVowel + k] = true;
    for (std::uint32_t k = 1; k < kTails; ++k) of[kTail + k] = true;
    return of;
  }();
  return table;
}

// The character of two, 0 where there is none.
std::uint32_t composed(std::uint32_t first, std::uint32_t second) {
  static const auto* pairs = [] {
    auto* map = new std::unordered_map<std::uint64_t, std::uint32_t>;
    for (const Decomposition& d : kDecompositions)
      if (d.composes) map->emplace(std::uint64_t{d.first} << 32 | d.second, d.character);
    return map;
  }();
  if (in_run(first, kLead, kLeads) && in_run(second, kVowel, kVowels))
    return kSyllable + ((first - kLead) * kVowels + (second - kVowel)) * kTails;
  if (in_run(first, kSyllable, kLeads * kVowels * kTails) && (first - kSyllable) % kTails == 0 &&
      in_run(second, kTail + 1, kTails - 1))
    return first + (second - kTail);
  const auto at = pairs->find(std::uint64_t{first} << 32 | second);
  return at == pairs->end() ? 0 : at->second;
}

void append_decomposed(std::uint32_t c, std::vector<std::uint32_t>& out) {
  if (in_run(c, kSyllable, kLeads * kVowels * kTails)) {
    const std::uint32_t k = c - kSyllable;
    out.push_back(kLead + k / (kVowels * kTails));
    out.push_back(kVowel + k / kTails % kVowels);
    if (k % kTails != 0) out.push_back(kTail + k % kTails);
  } else if (const Decomposition* d = decomposition(c)) {
    append_decomposed(d->first, out);
    if (d->second != 0) append_decomposed(d->second, out);
  } else {
    out.push_back(c);
  }
}

// A run of valid characters.
void append_nfc(std::string_view text, std::string& out) {
  std::vector<std::uint32_t> characters;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    append_decomposed(code_point(text.substr(0, length)), characters);
    text.remove_prefix(length);
  }
  // Marks in the order of their classes.
  for (auto begin = characters.begin(); begin != characters.end();) {
    const auto is_starter = [](std::uint32_t c) { return combining_class(c) == 0; };
    begin = std::find_if_not(begin, characters.end(), is_starter);
    const auto end = std::find_if(begin, characters.end(), is_starter);
    std::ranges::stable_sort(begin, end, {}, combining_class);
    begin = end;
  }
  // Each with the last starter, where nothing of its class or a higher one stands between.
  std::vector<std::uint32_t> kept;
  std::size_t starter = 0;
  bool any_starter = false;
  std::uint32_t last_class = 0;
  for (const std::uint32_t c : characters) {
    const std::uint32_t of_class = combining_class(c);
    const bool blocked = kept.size() - starter > 1 && last_class >= of_class;
    const std::uint32_t both = any_starter && !blocked ? composed(kept[starter], c) : 0;
    if (both != 0) {
      kept[starter] = both;
      continue;
    }
    if (of_class == 0) {
      starter = kept.size();
      any_starter = true;
    }
    last_class = of_class;
    kept.push_back(c);
  }
  for (const std::uint32_t c : kept) append_utf8(c, out);
}

}  // namespace

bool may_change_in_nfc(std::string_view text) {
  // The first character that NFC can change is U+0300, CC 80 in UTF-8.
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0xCC; }))
    return false;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length > 1)
      if (const std::uint32_t c = code_point(text.substr(0, length)); c < kEnd && unstable()[c])
        return true;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return false;
}

std::string nfc(std::string_view text) {
  if (!may_change_in_nfc(text)) return std::string(text);
  std::string result;
  while (!text.empty()) {
    std::size_t valid = 0;
    while (const std::size_t length = utf8_length(text.substr(valid))) valid += length;
    append_nfc(text.substr(0, valid), result);
    text.remove_prefix(valid);
    if (text.empty()) break;
    result += text.front();
    text.remove_prefix(1);
  }
  return result;
}

}  // namespace facebench

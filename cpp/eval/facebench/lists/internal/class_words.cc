#include "facebench/lists/internal/class_words.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "facebench/core/numbers.h"

namespace facebench {
namespace {

constexpr auto kGenuine = std::to_array<std::string_view>(
    {"authentic", "client",    "clients", "gen",   "genuine", "genuines", "intra",    "intraclass",
     "mate",      "mated",     "mates",   "match", "matched", "matches",  "matching", "pos",
     "positive",  "positives", "same",    "tar",   "target",  "targets"});
constexpr auto kImpostor = std::to_array<std::string_view>(
    {"diff",       "differ",     "different",  "imp",        "imposter", "imposters",
     "impostor",   "impostors",  "inter",      "interclass", "mismatch", "mismatched",
     "mismatches", "neg",        "negative",   "negatives",  "non",      "nongenuine",
     "nonmatch",   "nonmatched", "nonmatches", "nonmate",    "nonmated", "nonmates",
     "nontarget",  "nontargets", "notsame",    "unmatched",  "unmated",  "zero"});

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

// Runs of letters, cut before a capital that follows a small letter; in small letters.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  char before = ' ';
  for (const char c : name) {
    if (is_letter(c)) {
      const bool begins = !is_letter(before) || (is_capital(c) && !is_capital(before));
      if (begins) words.emplace_back();
      words.back() += c;
    }
    before = c;
  }
  for (std::string& word : words) word = lower_ascii(word);
  return words;
}

template <std::size_t N>
bool among(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::optional<int> class_of_name(std::string_view name) {
  const std::vector<std::string> words = words_of(name);
  bool genuine = false, impostor = false;
  for (std::size_t k = 0; k < words.size(); ++k) {
    const bool denied = k > 0 && (words[k - 1] == "non" || words[k - 1] == "not");
    if (among(kGenuine, words[k])) (denied ? impostor : genuine) = true;
    if (among(kImpostor, words[k])) impostor = true;
  }
  if (genuine == impostor) return {};
  return genuine ? 1 : 0;
}

std::optional<int> class_of_label(std::string_view cell) {
  if (cell.starts_with('+')) cell.remove_prefix(1);
  if (const auto number = number_of(cell)) {
    if (*number == 1) return 1;
    if (*number == 0 || *number == -1) return 0;
    return {};
  }
  const std::string word = lower_ascii(cell);
  if (word == "true" || word == "t" || word == "yes" || word == "y") return 1;
  if (word == "false" || word == "f" || word == "no" || word == "n") return 0;
  // A name of a person or a file is not a label: one word, or "non" and one.
  const std::vector<std::string> words = words_of(word);
  const bool denied = words.size() == 2 && (words[0] == "non" || words[0] == "not");
  if (words.size() != 1 && !denied) return {};
  const bool plain = std::ranges::all_of(
      word, [](char c) { return is_letter(c) || c == '-' || c == '_' || c == ' '; });
  return plain ? class_of_name(word) : std::nullopt;
}

}  // namespace facebench

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace facebench {

// Matching of the names that data sets give to people and their folders.

// The words of a name, folded: letters without marks and case ("Škoda" as "skoda", "ß" as "ss", for
// the Latin, Greek, Cyrillic and Armenian scripts; others stay as they are), apostrophes dropped,
// every other sign between words; "Last, First" is turned round. Bytes that are not UTF-8 count as
// signs.
std::vector<std::string> name_words(std::string_view name);

// The words that identify the person, joined by blanks: without the numbers at the end
// ("Jane_Doe_0002"), which number images or namesakes. "" where no words are left that can be a
// name: an identifier ("0000045", "n000082", "m.0107_f") says nothing about who it is.
std::string normalized_name(std::string_view name);

struct NameMatch {
  std::int32_t first = 0, second = 0;  // indices into the two lists
  std::string rule;                    // "same", "folded", "reordered", "namesake"
};

struct NameComparison {
  // In the order of the first list, then of the second.
  std::vector<NameMatch> matches;
  // How many names of each are identifiers, which cannot be compared.
  std::int64_t first_unnamed = 0, second_unnamed = 0;
};

// Every pair of names of the two lists that may be one person. "same": letter by letter; "folded":
// the same normalized name; "reordered": the same words in another order. Where the numbers at the
// end alone tell names of one list apart ("Person_00001", "Person_00002"), they count; such a name
// still matches one without numbers, as a "namesake".
NameComparison match_names(std::span<const std::string> first, std::span<const std::string> second);

}  // namespace facebench

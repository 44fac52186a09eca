#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace facebench {

// People and samples that are left out of a data set, for example people of a training set who are
// also in a test set; or, where the list `keeps`, those that alone stay.
//
// The file: a line "person<TAB>NAME" or "sample<TAB>ID" each, NAME as the data set calls the
// person, ID as its sample is called. Or a list of people alone, one in each line, as overlap lists
// are published; or with a number after a tab, as LFW's peopleDevTrain.txt, whose first line may be
// their count. Empty lines and lines that begin with # are skipped.
struct Exclusion {
  std::filesystem::path path;
  std::set<std::string> people, samples;  // as compared_name() has them
  std::string sha256;                     // of the file
  bool keeps = false;                     // what it names stays

  std::size_t entries() const { return people.size() + samples.size(); }
  // Whether it names an image.
  bool covers(const std::string& person, const std::string& sample) const;
};
// Lists that hold at once: an image is left out if one of them leaves it out.
using Exclusions = std::vector<Exclusion>;

// Throws Error with file and line for any other line and for an entry that is there twice (which a
// list that keeps may have), and for a list that keeps nobody.
Exclusion read_exclusion(const std::filesystem::path& path, bool keeps = false);
// The lists of what is left out and of what alone stays; an empty path is none.
Exclusions read_exclusions(const std::filesystem::path& exclude, const std::filesystem::path& only);
// What is said of entries that the data do not have, as "person NAME"; empty where all are there.
std::string not_there_note(const Exclusion& list, const std::vector<std::string>& not_there);
// Such a file. Throws std::invalid_argument for a name with a tab or a line end.
std::string exclusion_text(const std::vector<std::string>& people,
                           const std::vector<std::string>& samples, const std::string& comment);

}  // namespace facebench

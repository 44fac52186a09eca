#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace facebench {

// People and samples that are left out of a data set, for example people of a training set who are
// also in a test set.
//
// The file: a line "person<TAB>NAME" or "sample<TAB>ID" each, NAME as the data set calls the
// person, ID as its sample is called; empty lines and lines that begin with # are skipped. Or a
// list of people alone, one word in each line, as overlap lists are published.
struct Exclusion {
  std::filesystem::path path;
  std::set<std::string> people, samples;  // as compared_name() has them
  std::string sha256;                     // of the file

  // Whether an image is left out.
  bool covers(const std::string& person, const std::string& sample) const;
};

// Throws Error with file and line for any other line, and for an entry that is there twice.
Exclusion read_exclusion(const std::filesystem::path& path);
// Such a file. Throws std::invalid_argument for a name with a tab or a line end.
std::string exclusion_text(const std::vector<std::string>& people,
                           const std::vector<std::string>& samples, const std::string& comment);

}  // namespace facebench

#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "facebench/datasets/dataset.h"
#include "facebench/io/json.h"

namespace facebench {

// People and samples that are left out of a data set, for example people of a training set who are
// also in a test set.
//
// The file: a line "person<TAB>NAME" or "sample<TAB>ID" each, NAME as the data set calls the
// person, ID as its sample is called; empty lines and lines that begin with # are skipped. Or a
// list of people alone, one word in each line, as overlap lists are published.
struct Exclusion {
  std::filesystem::path path;
  std::set<std::string> people, samples;
  std::string sha256;  // of the file

  // Whether an image is left out.
  bool covers(const std::string& person, const std::string& sample) const {
    return people.contains(person) || samples.contains(sample);
  }
};

// Throws Error with file and line for any other line, and for an entry that is there twice.
Exclusion read_exclusion(const std::filesystem::path& path);
// Such a file. Throws std::invalid_argument for a name with a tab or a line end.
std::string exclusion_text(const std::vector<std::string>& people,
                           const std::vector<std::string>& samples, const std::string& comment);

// Which images of a set are left out.
struct ExcludedImages {
  std::vector<bool> out;  // one an image
  std::int64_t images = 0;
  std::vector<std::string> not_there;  // entries of the list that the set does not have

  // For manifests: the list's hash, how many people, samples and images, and what is not there.
  Json json(const Exclusion& exclusion) const;
};
// Labels index into the people. Throws Error if the list has entries but the set has none of them:
// it belongs to other data.
ExcludedImages excluded_images(const Exclusion& exclusion, const std::vector<std::string>& people,
                               const std::vector<std::string>& samples,
                               const std::vector<std::int32_t>& labels);

// The data set without them; people keep their numbers. What was left out goes into the manifest of
// a pack that is made of it. Throws Error as above, and where no image is left.
Dataset exclude(const Dataset& dataset, const Exclusion& exclusion);

}  // namespace facebench

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facebench/datasets/dataset.h"
#include "facebench/io/exclusion.h"
#include "facebench/io/json.h"

namespace facebench {

// Which images of a set are left out.
struct ExcludedImages {
  std::vector<bool> out;  // one an image
  std::int64_t images = 0;
  // For manifests: hash, people and samples of the list, and its entries that the set does not
  // have; of a list that keeps under "only"; and how many images are left out.
  Json json = Json::object();
  std::vector<std::string> notes;  // not_there_note() of each list
};
// Labels index into the people. Throws Error if a list has entries but the set has none of them:
// it belongs to other data.
ExcludedImages excluded_images(const Exclusions& lists, const std::vector<std::string>& people,
                               const std::vector<std::string>& samples,
                               const std::vector<std::int32_t>& labels);

// The data set without them; people keep their numbers. What was left out goes into the manifest of
// a pack that is made of it. Throws Error as above, and where no image is left.
Dataset exclude(const Dataset& dataset, const Exclusions& lists);

}  // namespace facebench

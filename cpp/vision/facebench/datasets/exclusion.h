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

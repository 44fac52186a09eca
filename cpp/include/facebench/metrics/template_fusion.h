#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/registry.h"

namespace facebench {

// How the embeddings of several samples become one. The choice changes published results by more
// than the systems they compare differ, so each way has a name.
struct TemplateFusion {
  std::string name;
  std::string doc;
  std::string source;
  // Each sample's embedding is brought to unit length first; else samples with a longer embedding
  // (usually those of better quality) count more.
  bool unit_samples = false;
  // What is done within a medium before the media are added up: nothing (media are not looked at),
  // the mean, or the sum brought to unit length.
  enum class Medium : std::uint8_t { ignored, mean, unit_sum } medium = Medium::ignored;
};
const Table<TemplateFusion>& template_fusions();

// The fused embedding, of unit length. `samples` is (n, dim) row-major, n >= 1; `media` has the
// medium of each. Sums are taken in double, in the order given (media by first appearance). Throws
// std::invalid_argument where sizes disagree, where an embedding is zero or not finite, and where
// the samples cancel out.
std::vector<double> fuse_template(const TemplateFusion& fusion, std::span<const float> samples,
                                  std::span<const std::int32_t> media);

}  // namespace facebench

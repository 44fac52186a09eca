#pragma once

#include <memory>
#include <string>
#include <vector>

#include "facebench/claims/published.h"
#include "facebench/io/json.h"

namespace facebench {

// Where a number is printed already.
struct ClaimSource {
  std::shared_ptr<const Publication> publication;
  PublishedValue value;  // points into the publication
};

// The values in the embedded publications that measure `measures` (a TAR's FAR by its value) and
// are `value`, a share, as far as the coarser of the two is printed. `step`: one of the last digit
// of `value`.
std::vector<ClaimSource> claim_sources(double value, double step, const MeasureAddress& measures);

// The differences of every two values of the same table, one of each list, under their names.
struct SourcePair {
  const ClaimSource* one = nullptr;
  const ClaimSource* other = nullptr;
  std::vector<std::string> differences;
};
std::vector<SourcePair> source_pairs(const std::vector<ClaimSource>& ones,
                                     const std::vector<ClaimSource>& others);

// [{"publication", ...} with what published_value_json() has].
Json claim_sources_json(const std::vector<ClaimSource>& sources);
// [{"one", "other", "place", "differences"}].
Json source_pairs_json(const std::vector<SourcePair>& pairs);

}  // namespace facebench

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"

namespace facebench {

struct SyntheticIjbOptions {
  std::string like = "ijbc";
  double scale = 1;
  std::int64_t dim = 0;
  std::int64_t seed = 0;

  static void describe(OptionsBuilder<SyntheticIjbOptions>& o);
};

struct SyntheticIjbSummary {
  std::filesystem::path folder;
  std::int64_t templates = 0, faces = 0, comparisons = 0;
};

// Lists as InsightFace packs them, in FOLDER/IJBC/meta: with scale 1 as many templates, faces and
// comparisons of each kind as IJB-C (protocols/ijbc_1_1.toml) or IJB-B. Who is compared with whom
// is drawn. Of IJB-B, whose gallery sizes no source states, both galleries have half of its people.
//
// Embeddings: e = n (c + m k + f), where c is a standard normal vector of the person, k one of the
// medium, f one of the face, m uniform in [0.5, 5] for each medium, n uniform in [0.5, 1.5]. All
// out of Random(seed, purpose, {number}), so that the same options give the same bytes with any
// number of threads. The folder appears when it is complete. Throws Error where it exists and is
// not empty, or cannot be written.
SyntheticIjbSummary write_synthetic_ijb(const SyntheticIjbOptions& options,
                                        const std::filesystem::path& folder, const Job& job = {});

}  // namespace facebench

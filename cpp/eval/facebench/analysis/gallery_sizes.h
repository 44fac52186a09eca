#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/io/embeddings.h"
#include "facebench/io/json.h"

namespace facebench {

// FNIR at an FPIR by gallery size: draws of the gallery, and where the trend leads.

struct GalleryOptions {
  std::vector<std::int64_t> sizes;
  std::vector<double> fpir = {0.01, 0.1};
  std::int64_t draws = 50;
  std::vector<std::int64_t> extrapolate;
  double level = 0.95;
  std::int64_t seed = 0;

  static void describe(OptionsBuilder<GalleryOptions>& o);
};

struct GalleryPoint {
  double fpir = 0;
  std::int64_t size = 0;            // people in the gallery
  double fnir = 0;                  // mean over the draws
  double low = 0, high = 0;         // hold options.level of the draws
  double mated = 0, non_mated = 0;  // searches, means over the draws
  bool reliable = false;            // ten false positives are expected
  bool extrapolated = false;        // not measured: then there are no searches
};

struct GallerySizes {
  std::int64_t draws = 0;
  double level = 0;
  std::int64_t people = 0;  // with two images or more
  std::int64_t failed = 0;  // images without an embedding
  std::vector<GalleryPoint> points;
  std::vector<double> too_few;  // FPIRs at which too few are missed to extrapolate
};

// Of everybody with two images or more the first image is enrolled. In each draw the first `sizes`
// people of a random order are the gallery (default: a sixteenth, an eighth, a quarter and half of
// them), so that a draw's galleries lie in each other; their other images are mated searches, all
// images of everybody else non-mated ones. A search is a miss where the mate is not first or lies
// below the threshold of the FPIR. Larger sizes are extrapolated by the straight line through log
// FNIR over log size of each draw. `people`: a number for the person of each row of the embeddings;
// failed ones are left out. Throws std::invalid_argument for sizes that cannot be drawn. Sources:
// ISO/IEC 19795-1; Grother, Ngan & Hanaoka, FRTE part 2, NIST IR 8271 (the form of the trend).
GallerySizes gallery_sizes(const EmbeddingSet& embeddings, std::span<const std::int32_t> people,
                           const GalleryOptions& options = {}, const Job& job = {});

Json gallery_sizes_json(const GallerySizes& sizes);

}  // namespace facebench

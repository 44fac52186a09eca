#pragma once

#include <cstdint>
#include <span>

#include "facebench/metrics/embedding_rows.h"
#include "facebench/metrics/internal/filter_kernels.h"

namespace facebench {

// 32-bit groups in a vector that is packed for these kernels.
std::int64_t panel_groups(const FilterKernels& kernels, std::int64_t dim);

// The unit vectors of rows which[0], which[1], ... of `set`, rounded and packed into panels of
// `width` (filter_kernels.h); the last panel is filled up with zero vectors. `out` holds
// ceil(which.size() / width) * width * panel_groups() groups. Returns the largest distance of a
// unit vector from its rounded copy.
double pack_panels(const EmbeddingRows& set, std::span<const std::int32_t> which, int width,
                   const FilterKernels& kernels, std::uint32_t* out);

// Bound of the difference between the score of a filter tile and the cosine in double, where the
// packed vectors of the two sides lie within these distances of the unit vectors (all_pairs.h).
double filter_margin(double row_distance, double column_distance, std::int64_t dim);

}  // namespace facebench

#pragma once

#include <cstdint>
#include <span>

#include "facebench/metrics/embedding_rows.h"

namespace facebench {

// What workers share: scores[i] is the cosine of row first[i] with column second[i]. On the calling
// thread; indices and directions are the caller's care.
void cosines(const EmbeddingRows& rows, const EmbeddingRows& columns,
             std::span<const std::int32_t> first, std::span<const std::int32_t> second,
             double* scores);

}  // namespace facebench

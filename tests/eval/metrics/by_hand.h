#pragma once

#include <cstdint>
#include <vector>

namespace facebench {

using Labels = std::vector<std::uint8_t>;
using Scores = std::vector<double>;
using Folds = std::vector<std::int32_t>;

// By hand: genuine 0.9 0.7 0.7 0.2, impostor 0.8 0.7 0.3 0.1 0.1.
const Scores scores{0.9, 0.7, 0.7, 0.2, 0.8, 0.7, 0.3, 0.1, 0.1};
const Labels labels{1, 1, 1, 1, 0, 0, 0, 0, 0};

}  // namespace facebench

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// What scores, labels, counts and rates may be.
namespace facebench {

// Throws std::invalid_argument as the constructor of Comparisons says: of comparison i alone, and
// of all.
void check_comparison(std::size_t i, double score, std::uint8_t label);
void check_comparisons(std::span<const double> scores, std::span<const std::uint8_t> labels);
// Throws std::invalid_argument unless far lies in [0, 1].
void check_far(double far);
// Throws std::invalid_argument, naming `what`, where one of the counts is 0.
void require_both(std::int64_t genuine, std::int64_t impostor, const char* what);

}  // namespace facebench

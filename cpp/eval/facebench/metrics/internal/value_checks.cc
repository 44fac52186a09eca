#include "facebench/metrics/internal/value_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace facebench {

void check_comparison(std::size_t i, double score, std::uint8_t label) {
  if (!std::isfinite(score))
    throw std::invalid_argument(fmt::format("score [{}] is {}; scores must be finite", i, score));
  if (label > 1)
    throw std::invalid_argument(
        fmt::format("label [{}] is {}; labels are 1 (genuine) or 0 (impostor)", i, label));
}

void check_comparisons(std::span<const double> scores, std::span<const std::uint8_t> labels) {
  const std::size_t n = scores.size();
  if (n == 0) throw std::invalid_argument("no comparisons");
  if (n > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument(fmt::format("{} comparisons are more than 2^32 - 1", n));
  if (labels.size() != n)
    throw std::invalid_argument(fmt::format("{} scores but {} labels", n, labels.size()));
  for (std::size_t i = 0; i < n; ++i) check_comparison(i, scores[i], labels[i]);
}

void check_far(double far) {
  if (!(far >= 0 && far <= 1))
    throw std::invalid_argument(fmt::format("the target FAR is {}; it must lie in [0, 1]", far));
}

void require_both(std::int64_t genuine, std::int64_t impostor, const char* what) {
  if (genuine > 0 && impostor > 0) return;
  throw std::invalid_argument(std::string(what) + " is undefined: there are no " +
                              (genuine > 0 ? "impostor" : "genuine") + " comparisons");
}

}  // namespace facebench

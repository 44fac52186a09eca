#include "facebench/metrics/reject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "facebench/metrics/internal/measures.h"

namespace facebench {
namespace {

void check_limit(double limit) {
  if (!(limit > 0 && limit <= 1))
    throw std::invalid_argument(fmt::format("the limit is {}; it must lie in (0, 1]", limit));
}

}  // namespace

void RejectCurve::add(double share_rejected, double lowest_quality, std::int64_t wrong_kept,
                      std::int64_t all_kept) {
  rejected.push_back(share_rejected);
  error.push_back(ratio(wrong_kept, all_kept));
  quality.push_back(lowest_quality);
  wrong.push_back(wrong_kept);
  kept.push_back(all_kept);
}

double RejectCurve::area(double limit) const {
  check_limit(limit);
  double sum = 0;
  for (std::size_t i = 0; i < size() && rejected[i] < limit; ++i) {
    const double end = i + 1 < size() ? std::min(rejected[i + 1], limit) : limit;
    sum += error[i] * (end - rejected[i]);
  }
  return sum / limit;
}

double RejectCurve::best_area(double limit) const {
  check_limit(limit);
  const std::int64_t all = kept.front(), bad = wrong.front();
  double sum = 0;
  for (std::int64_t k = 0; k < bad; ++k) {  // k wrong ones are gone
    const double begin = ratio(k, all);
    if (begin >= limit) break;
    sum += ratio(bad - k, all - k) * (std::min(ratio(k + 1, all), limit) - begin);
  }
  return sum / limit;
}

RejectCurve error_versus_reject(std::span<const std::uint8_t> wrong,
                                std::span<const double> quality) {
  const std::size_t n = wrong.size();
  if (quality.size() != n)
    throw std::invalid_argument(fmt::format("{} comparisons but {} qualities", n, quality.size()));
  if (n == 0) throw std::invalid_argument("no comparisons");
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(quality[i]))
      throw std::invalid_argument(
          fmt::format("quality [{}] is {}; qualities must be finite", i, quality[i]));
    if (wrong[i] > 1)
      throw std::invalid_argument(fmt::format("wrong [{}] is {}; it must be 0 or 1", i, wrong[i]));
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return quality[a] < quality[b]; });

  RejectCurve curve;
  auto bad = std::accumulate(wrong.begin(), wrong.end(), std::int64_t{0});
  const auto all = static_cast<std::int64_t>(n);
  for (std::size_t i = 0; i < n;) {
    const std::int64_t kept = all - static_cast<std::int64_t>(i);
    const double lowest = quality[order[i]];
    curve.add(ratio(all - kept, all), lowest, bad, kept);
    for (; i < n && quality[order[i]] == lowest; ++i) bad -= wrong[order[i]];
  }
  return curve;
}

}  // namespace facebench

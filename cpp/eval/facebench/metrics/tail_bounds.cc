#include "facebench/metrics/tail_bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/roc.h"

namespace facebench {
namespace {

// The counts of both classes at and above each edge, from the highest edge down. Genuine scores are
// exact; of impostor scores at least `low` and at most `high` lie there.
struct EdgeCounts {
  std::vector<double> edge;
  std::vector<std::int64_t> genuine, low, high;
};

EdgeCounts edge_counts(const ScoreTail& tail) {
  const ScoreHistogram& h = tail.histogram;
  require_both(static_cast<std::int64_t>(tail.genuine.size()), tail.impostor_count,
               "the metrics of a tail");
  if (h.impostor.empty()) throw std::invalid_argument("the tail was made without a histogram");
  const std::size_t bins = h.impostor.size();
  std::vector<std::int64_t> above(bins + 1, 0);  // in bins k and up
  for (std::size_t k = bins; k-- > 0;) above[k] = above[k + 1] + h.impostor[k];
  const auto known = static_cast<std::int64_t>(tail.impostor.size());
  EdgeCounts counts;
  for (std::size_t k = bins + 1; k-- > 0;) {
    const double edge = h.edges[k];
    counts.edge.push_back(edge);
    counts.genuine.push_back(
        std::upper_bound(tail.genuine.begin(), tail.genuine.end(), edge, std::greater<double>()) -
        tail.genuine.begin());
    if (!tail.impostor.empty() && edge > tail.impostor.back()) {
      const auto exact = std::upper_bound(tail.impostor.begin(), tail.impostor.end(), edge,
                                          std::greater<double>()) -
                         tail.impostor.begin();
      counts.low.push_back(exact);
      counts.high.push_back(exact);
      continue;
    }
    // Bins that lie at or above the edge whatever the blur, and those that may.
    const auto sure = std::lower_bound(h.edges.begin(), h.edges.end(), edge + tail.histogram_blur) -
                      h.edges.begin();
    const auto possible =
        std::upper_bound(h.edges.begin(), h.edges.end(), edge - tail.histogram_blur) -
        h.edges.begin() - 1;
    const auto at = [&](std::ptrdiff_t bin) {
      return above[static_cast<std::size_t>(
          std::clamp<std::ptrdiff_t>(bin, 0, static_cast<std::ptrdiff_t>(bins)))];
    };
    counts.low.push_back(std::max(at(sure), std::min(known, tail.impostor_count)));
    counts.high.push_back(std::max(at(possible), counts.low.back()));
  }
  // Below the lowest edge there is nothing: cosines, and the failed with the lowest of them.
  counts.low.back() = counts.high.back() = tail.impostor_count;
  counts.genuine.back() = static_cast<std::int64_t>(tail.genuine.size());
  return counts;
}

}  // namespace

MetricBounds auc_bounds(const ScoreTail& tail) {
  const EdgeCounts c = edge_counts(tail);
  // A genuine score between two edges is certainly above the impostors below the lower edge, and at
  // most above those that may be below the upper one. Rounded step by step as auc() rounds, which
  // keeps the order.
  Wide low = 0, high = 0;
  const std::int64_t impostors = tail.impostor_count;
  for (std::size_t i = 0; i < c.edge.size(); ++i) {
    const std::int64_t own = c.genuine[i] - (i ? c.genuine[i - 1] : 0);
    const std::int64_t above = i ? c.low[i - 1] : 0;
    low += static_cast<Wide>(own) * (impostors - c.high[i]);
    high += static_cast<Wide>(own) * (impostors - above);
  }
  const double all =
      static_cast<double>(c.genuine.back()) * static_cast<double>(tail.impostor_count);
  return {static_cast<double>(low) / all, static_cast<double>(high) / all};
}

MetricBounds eer_bounds(const ScoreTail& tail) {
  const EdgeCounts c = edge_counts(tail);
  // At any threshold the EER lies between the two error rates. eer() takes six roundings (two
  // counts, their quotient, product, sum, quotient), a rate one, and moving it outwards two: room
  // for ten.
  constexpr double kRoundings = 10 * std::numeric_limits<double>::epsilon() / 2;
  MetricBounds bounds{0, 1};
  for (std::size_t i = 0; i < c.edge.size(); ++i) {
    const double fnr = ratio(c.genuine.back() - c.genuine[i], c.genuine.back());
    bounds.low = std::max(bounds.low, std::min(fnr, ratio(c.low[i], tail.impostor_count)));
    bounds.high = std::min(bounds.high, std::max(fnr, ratio(c.high[i], tail.impostor_count)));
  }
  bounds.low *= 1 - kRoundings;
  bounds.high = std::min(1.0, bounds.high * (1 + kRoundings));
  return bounds;
}

TarBounds tar_bounds(const ScoreTail& tail, double far) {
  check_far(far);
  const EdgeCounts c = edge_counts(tail);
  TarBounds bounds;
  bounds.tar = {0, 1};
  bounds.threshold = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < c.edge.size(); ++i) {
    const double tar = ratio(c.genuine[i], c.genuine.back());
    if (ratio(c.high[i], tail.impostor_count) <= far) {
      bounds.tar.low = tar;
      bounds.threshold = c.edge[i];
      bounds.false_accepts = c.high[i];
      bounds.genuine_accepted = c.genuine[i];
    } else if (ratio(c.low[i], tail.impostor_count) > far) {
      bounds.tar.high = tar;  // this threshold accepts too many, so the right one lies above
      break;
    }
  }
  bounds.far_achieved = ratio(bounds.false_accepts, tail.impostor_count);
  return bounds;
}

RocCurve roc(const ScoreTail& tail) {
  RocCurve curve;
  curve.genuine = static_cast<std::int64_t>(tail.genuine.size());
  curve.impostor = tail.impostor_count;
  const auto put = [&](double threshold, std::int64_t genuine, std::int64_t impostor) {
    curve.threshold.push_back(threshold);
    curve.true_accepts.push_back(genuine);
    curve.false_accepts.push_back(impostor);
  };
  put(std::numeric_limits<double>::infinity(), 0, 0);
  // Every genuine score that lies where all impostors are known.
  const double reach = tail.impostor.empty() ? 1 : tail.impostor.back();
  std::size_t impostors = 0;
  for (std::size_t g = 0; g < tail.genuine.size() && tail.genuine[g] > reach; ++g) {
    const double score = tail.genuine[g];
    if (g + 1 < tail.genuine.size() && tail.genuine[g + 1] == score) continue;
    while (impostors < tail.impostor.size() && tail.impostor[impostors] >= score) ++impostors;
    put(score, static_cast<std::int64_t>(g + 1), static_cast<std::int64_t>(impostors));
  }
  if (tail.histogram.impostor.empty()) return curve;
  const EdgeCounts c = edge_counts(tail);
  for (std::size_t i = 0; i < c.edge.size(); ++i)
    if (c.edge[i] <= reach && c.genuine[i] >= curve.true_accepts.back() &&
        c.high[i] >= curve.false_accepts.back())
      put(c.edge[i], c.genuine[i], c.high[i]);
  return curve;
}

}  // namespace facebench

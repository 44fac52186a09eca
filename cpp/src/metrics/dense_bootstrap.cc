#include "facebench/metrics/dense_bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "metrics/bootstrap.h"
#include "metrics/measures.h"

namespace facebench {

DenseStatistic dense_auc_statistic(const DenseComparisons& c) {
  return {"auc", [](const RocCurve& curve, std::span<const Weight>) { return measure_auc(curve); },
          1 / (static_cast<double>(c.genuine()) * static_cast<double>(c.impostor())), 1};
}

DenseStatistic dense_eer_statistic(const DenseComparisons& c) {
  return {"eer", [](const RocCurve& curve, std::span<const Weight>) { return measure_eer(curve); },
          1 / static_cast<double>(std::min(c.genuine(), c.impostor())), 1};
}

DenseStatistic dense_tar_at_far_statistic(const DenseComparisons& c, double far) {
  c.tar_at_far(far);  // throws for wrong use, once instead of in each replicate
  return {"tar_at_far",
          [far](const RocCurve& curve, std::span<const Weight>) {
            if (curve.genuine == 0 || curve.impostor == 0) return nan;
            std::size_t i = 0;
            while (i + 1 < curve.size() && ratio(curve.false_accepts[i + 1], curve.impostor) <= far)
              ++i;
            // The curve ends within the target: where it goes on is not known.
            if (i + 1 == curve.size() && std::isfinite(curve.threshold[i])) return nan;
            return ratio(curve.true_accepts[i], curve.genuine);
          },
          1 / static_cast<double>(c.genuine()), far};
}

DenseStatistic dense_threshold_statistic(std::shared_ptr<const DenseComparisons> c, double far) {
  c->tar_at_far(far);
  return {"threshold_at_far",
          [c, far](const RocCurve& curve, std::span<const Weight> weights) {
            // As the rest of the cell, which knows no TAR there.
            return curve.genuine == 0 ? nan : c->threshold(far, curve.impostor, weights);
          },
          0, far, false};
}

namespace {

// All statistics in every replicate.
Replicates replicate(const DenseComparisons& comparisons,
                     std::span<const DenseStatistic> statistics, const BootstrapOptions& options,
                     const Job& job) {
  check_options(options);
  const auto n = static_cast<std::size_t>(comparisons.identities());
  if (n < 2) throw std::invalid_argument("the vertex bootstrap needs at least two identities");
  constexpr std::size_t lanes = DenseComparisons::kLanes;
  double far_needed = 0;
  for (const DenseStatistic& s : statistics) far_needed = std::max(far_needed, s.far_needed);
  Replicates result;
  result.method = "vertex_bootstrap";
  const RocCurve whole = comparisons.curve();
  for (const DenseStatistic& s : statistics) result.points.push_back(s.evaluate(whole, {}));
  const auto replicates = static_cast<std::size_t>(options.replicates);
  result.values.assign(statistics.size(), std::vector<double>(replicates));
  const auto batches = static_cast<std::int64_t>((replicates + lanes - 1) / lanes);
  Stage stage(job, "vertex_bootstrap", batches, "batches of replicates");
  parallel_for(
      batches, job,
      [&](std::int64_t batch, int) {
        const std::size_t first = static_cast<std::size_t>(batch) * lanes;
        const std::size_t count = std::min(lanes, replicates - first);
        std::vector<Weight> weights(n * lanes, 0);
        std::vector<std::vector<Weight>> drawn(count, std::vector<Weight>(n));
        for (std::size_t lane = 0; lane < count; ++lane) {
          draw_identities(options.seed, static_cast<std::int64_t>(first + lane), drawn[lane]);
          for (std::size_t i = 0; i < n; ++i) weights[i * lanes + lane] = drawn[lane][i];
        }
        const auto curves = comparisons.curves(weights, count, far_needed);
        for (std::size_t s = 0; s < statistics.size(); ++s)
          for (std::size_t lane = 0; lane < count; ++lane)
            result.values[s][first + lane] = statistics[s].evaluate(curves[lane], drawn[lane]);
      },
      &stage);
  return result;
}

}  // namespace

std::vector<Interval> vertex_bootstrap(const DenseComparisons& comparisons,
                                       std::span<const DenseStatistic> statistics,
                                       const BootstrapOptions& options, const Job& job) {
  Replicates r = replicate(comparisons, statistics, options, job);
  std::vector<Interval> result;
  for (std::size_t s = 0; s < statistics.size(); ++s) {
    Statistic as_listed;
    as_listed.name = statistics[s].name;
    as_listed.resolution = statistics[s].resolution;
    as_listed.rate = statistics[s].rate;
    result.push_back(vertex_interval(as_listed, r.points[s], std::move(r.values[s]),
                                     comparisons.identities(), options.level));
  }
  return result;
}

std::vector<PairedComparison> compare_paired(const DenseComparisons& a, const DenseComparisons& b,
                                             std::span<const DenseStatistic> statistics_a,
                                             std::span<const DenseStatistic> statistics_b,
                                             const BootstrapOptions& options, const Job& job) {
  if (a.identities() != b.identities() || a.genuine() != b.genuine() ||
      a.impostor() != b.impostor())
    throw std::invalid_argument("the systems were not measured on the same comparisons");
  if (statistics_a.size() != statistics_b.size())
    throw std::invalid_argument(fmt::format("{} statistics of one system but {} of the other",
                                            statistics_a.size(), statistics_b.size()));
  // The draws depend on the seed and the number of identities alone: the same people in both.
  return paired_differences(replicate(a, statistics_a, options, job),
                            replicate(b, statistics_b, options, job), options.level);
}

}  // namespace facebench

#include "facebench/metrics/centred_accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "metrics/measures.h"

namespace facebench {
namespace {

double centred_cosine(std::span<const float> a, std::span<const float> b,
                      std::span<const double> mean) {
  double dot = 0, aa = 0, bb = 0;
  for (std::size_t d = 0; d < mean.size(); ++d) {
    const double x = a[d] - mean[d], y = b[d] - mean[d];
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  return aa > 0 && bb > 0 ? std::clamp(dot / std::sqrt(aa * bb), -1.0, 1.0) : 0;
}

Accuracy measure_centred(const CentredComparisons& c, const AccuracyConvention& rule,
                         std::span<const Weight> weights) {
  Accuracy result;
  result.convention = rule.name;
  result.folds.assign(c.plain().fold_names().begin(), c.plain().fold_names().end());
  for (int fold = 0; fold < c.plain().fold_count(); ++fold) {
    const Comparisons& own = c.of_fold(fold);
    measure_fold(own, rule, own.sorted_weights(weights), accuracy_keys(own, rule), fold, result);
  }
  summarize_folds(result, rule.spread);
  return result;
}

}  // namespace

std::vector<double> centred_scores(std::span<const float> first, std::span<const float> second,
                                   std::size_t dim, std::span<const std::int32_t> folds,
                                   std::int32_t fold) {
  const std::size_t n = folds.size();
  if (first.size() != n * dim || second.size() != n * dim || dim == 0)
    throw std::invalid_argument(fmt::format("{} and {} numbers of embeddings of {} for {} folds",
                                            first.size(), second.size(), dim, n));
  std::vector<double> mean(dim, 0);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (folds[i] == fold) continue;
    count += 2;
    for (std::size_t d = 0; d < dim; ++d)
      mean[d] += static_cast<double>(first[i * dim + d]) + second[i * dim + d];
  }
  for (double& m : mean) m /= static_cast<double>(std::max<std::int64_t>(count, 1));
  std::vector<double> scores(n);
  for (std::size_t i = 0; i < n; ++i)
    scores[i] = centred_cosine(first.subspan(i * dim, dim), second.subspan(i * dim, dim), mean);
  return scores;
}

CentredComparisons::CentredComparisons(Comparisons plain, std::vector<Comparisons> of_fold)
    : plain_(std::move(plain)), of_fold_(std::move(of_fold)) {
  const bool fits = std::ranges::all_of(of_fold_, [&](const Comparisons& c) {
    return c.size() == plain_.size() && c.genuine() == plain_.genuine() &&
           std::ranges::equal(c.fold_names(), plain_.fold_names());
  });
  if (!fits || of_fold_.size() != static_cast<std::size_t>(plain_.fold_count()))
    throw std::invalid_argument(
        fmt::format("centred scores for {} folds do not fit {} comparisons in {} folds",
                    of_fold_.size(), plain_.size(), plain_.fold_count()));
}

Accuracy centred_accuracy(const CentredComparisons& c, std::string_view convention,
                          std::span<const Weight> weights) {
  const AccuracyConvention& rule = accuracy_conventions().at(convention);
  if (c.plain().fold_count() < 2)
    throw std::invalid_argument(
        "the mean and the thresholds are taken from other folds: give at least two folds");
  Accuracy result = measure_centred(c, rule, weights);
  require_accuracy(result);
  return result;
}

Accuracy centred_accuracy(std::span<const float> first, std::span<const float> second,
                          std::size_t dim, std::span<const std::uint8_t> labels,
                          std::span<const std::int32_t> folds, std::string_view convention) {
  if (labels.size() != folds.size())
    throw std::invalid_argument(fmt::format("{} labels and {} folds", labels.size(), folds.size()));
  std::vector<std::int32_t> names(folds.begin(), folds.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::vector<Comparisons> of_fold;
  for (const std::int32_t name : names)
    of_fold.emplace_back(centred_scores(first, second, dim, folds, name), labels, folds);
  if (of_fold.empty()) throw std::invalid_argument("no comparisons");
  Comparisons plain = of_fold.front();  // its scores decide nothing
  return centred_accuracy(CentredComparisons(std::move(plain), std::move(of_fold)), convention);
}

Statistic centred_accuracy_statistic(std::shared_ptr<const CentredComparisons> c,
                                     std::string_view convention) {
  centred_accuracy(*c, convention);  // checks the arguments once, not in each replicate
  const AccuracyConvention& rule = accuracy_conventions().at(convention);
  const double step = 1 / static_cast<double>(c->plain().size());
  return {"accuracy",
          [c, &rule](std::span<const Weight> w) { return measure_centred(*c, rule, w).value; },
          step};
}

}  // namespace facebench

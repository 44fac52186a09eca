#include "facebench/metrics/centred_accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

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

}  // namespace

Accuracy centred_accuracy(std::span<const float> first, std::span<const float> second,
                          std::size_t dim, std::span<const std::uint8_t> labels,
                          std::span<const std::int32_t> folds, std::string_view convention) {
  const std::size_t n = labels.size();
  if (first.size() != n * dim || second.size() != n * dim || folds.size() != n || dim == 0)
    throw std::invalid_argument(
        fmt::format("{} and {} numbers of embeddings of {} for {} labels and {} folds",
                    first.size(), second.size(), dim, n, folds.size()));
  const AccuracyConvention& rule = accuracy_conventions().at(convention);
  std::vector<std::int32_t> names(folds.begin(), folds.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());

  Accuracy result;
  result.convention = rule.name;
  result.folds = names;
  std::vector<double> scores(n);
  for (std::size_t k = 0; k < names.size(); ++k) {
    std::vector<double> mean(dim, 0);
    std::int64_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (folds[i] == names[k]) continue;
      count += 2;
      for (std::size_t d = 0; d < dim; ++d)
        mean[d] += static_cast<double>(first[i * dim + d]) + second[i * dim + d];
    }
    for (double& m : mean) m /= static_cast<double>(std::max<std::int64_t>(count, 1));
    for (std::size_t i = 0; i < n; ++i)
      scores[i] = centred_cosine(first.subspan(i * dim, dim), second.subspan(i * dim, dim), mean);
    const Comparisons comparisons(scores, labels, folds);
    const Accuracy of_fold = accuracy(comparisons, convention);
    result.fold_accuracy.push_back(of_fold.fold_accuracy[k]);
    result.fold_threshold.push_back(of_fold.fold_threshold[k]);
    const auto size =
        static_cast<std::int64_t>(comparisons.fold_members(static_cast<int>(k)).size());
    result.comparisons += size;
    result.wrong += std::llround((1 - of_fold.fold_accuracy[k]) * static_cast<double>(size));
  }
  summarize_folds(result, rule.spread);
  return result;
}

}  // namespace facebench

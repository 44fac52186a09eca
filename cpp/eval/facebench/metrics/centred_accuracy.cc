#include "facebench/metrics/centred_accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "facebench/metrics/internal/measures.h"

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
  Comparisons comparisons = of_fold.front();  // its scores decide nothing
  comparisons.set_centred(std::move(of_fold));
  AccuracyConvention rule = accuracy_conventions().at(convention);
  rule.centred = true;
  return accuracy(comparisons, rule);
}

}  // namespace facebench

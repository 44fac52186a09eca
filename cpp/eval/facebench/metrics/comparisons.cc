#include "facebench/metrics/comparisons.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "facebench/metrics/internal/value_checks.h"

namespace facebench {

Comparisons::Comparisons(std::span<const double> scores, std::span<const std::uint8_t> labels,
                         std::span<const std::int32_t> folds) {
  check_comparisons(scores, labels);
  const std::size_t n = scores.size();
  if (!folds.empty() && folds.size() != n)
    throw std::invalid_argument(fmt::format("{} scores but {} folds", n, folds.size()));

  struct Entry {
    double score;
    std::uint32_t index;
  };
  std::vector<Entry> order(n);
  for (std::size_t i = 0; i < n; ++i) {
    genuine_ += labels[i];
    order[i] = {scores[i], static_cast<std::uint32_t>(i)};
  }
  std::sort(order.begin(), order.end(), [](const Entry& a, const Entry& b) {
    return a.score != b.score ? a.score > b.score : a.index < b.index;
  });

  scores_.resize(n);
  labels_.resize(n);
  index_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    scores_[i] = order[i].score;
    index_[i] = order[i].index;
    labels_[i] = labels[order[i].index];
  }
  if (folds.empty()) return;

  fold_names_.assign(folds.begin(), folds.end());
  std::sort(fold_names_.begin(), fold_names_.end());
  fold_names_.erase(std::unique(fold_names_.begin(), fold_names_.end()), fold_names_.end());
  folds_.resize(n);
  fold_begin_.assign(fold_names_.size() + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = std::lower_bound(fold_names_.begin(), fold_names_.end(), folds[index_[i]]);
    folds_[i] = static_cast<std::int32_t>(at - fold_names_.begin());
    ++fold_begin_[folds_[i] + 1];
  }
  for (std::size_t k = 0; k < fold_names_.size(); ++k) fold_begin_[k + 1] += fold_begin_[k];
  members_.resize(n);
  std::vector<std::size_t> next(fold_begin_.begin(), fold_begin_.end() - 1);
  for (std::size_t i = 0; i < n; ++i) members_[next[folds_[i]]++] = static_cast<std::uint32_t>(i);
}

void Comparisons::set_centred(std::vector<Comparisons> of_fold) {
  const bool fits = std::ranges::all_of(of_fold, [&](const Comparisons& c) {
    return c.size() == size() && c.genuine() == genuine() &&
           std::ranges::equal(c.fold_names(), fold_names());
  });
  if (!fits || of_fold.size() != fold_names_.size())
    throw std::invalid_argument(
        fmt::format("centred scores for {} folds do not fit {} comparisons in {} folds",
                    of_fold.size(), size(), fold_count()));
  centred_ = std::move(of_fold);
}

std::vector<std::int64_t> Comparisons::taking_part(bool genuine) const {
  std::vector<std::int64_t> part(size());
  for (std::size_t i = 0; i < size(); ++i) part[index_[i]] = (labels_[i] != 0) == genuine;
  return part;
}

std::vector<Weight> Comparisons::sorted_weights(std::span<const Weight> weights) const {
  if (weights.empty()) return std::vector<Weight>(size(), 1);
  if (weights.size() != size())
    throw std::invalid_argument(
        fmt::format("{} comparisons but {} weights", size(), weights.size()));
  std::vector<Weight> sorted(size());
  for (std::size_t i = 0; i < size(); ++i) sorted[i] = weights[index_[i]];
  return sorted;
}

double threshold_between(double low, double high) {
  const double middle = low / 2 + high / 2;  // low + high may overflow
  return middle > low && middle <= high ? middle : high;
}

double threshold_above(double highest) {
  return std::nextafter(highest, std::numeric_limits<double>::infinity());
}

}  // namespace facebench

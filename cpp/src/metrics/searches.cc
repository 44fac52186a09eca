#include "facebench/metrics/searches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace facebench {
namespace {

bool higher(const Searches::Impostor& a, const Searches::Impostor& b) {
  return a.score != b.score ? a.score > b.score : a.probe < b.probe;
}

// The highest `limit` impostor scores out of many, in memory for twice as many.
class Highest {
 public:
  explicit Highest(std::size_t limit) : limit_(limit) {}
  void add(double score, std::uint32_t probe) {
    if (score < lowest_) return;
    kept_.push_back({score, probe});
    if (kept_.size() >= 2 * limit_ + 64) shrink();
  }
  void shrink() {
    if (kept_.size() <= limit_) return;
    std::nth_element(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(limit_ - 1),
                     kept_.end(), higher);
    kept_.resize(limit_);
    lowest_ = kept_.back().score;
  }
  std::vector<Searches::Impostor>& kept() { return kept_; }

 private:
  std::size_t limit_;
  double lowest_ = -std::numeric_limits<double>::infinity();
  std::vector<Searches::Impostor> kept_;
};

}  // namespace

template <class T>
void Searches::search(std::span<const T> similarity, std::span<const std::int32_t> probe_identity,
                      std::span<const std::int32_t> gallery_identity, const Job& job) {
  const std::size_t probes = probe_identity.size(), entries = gallery_identity.size();
  if (probes == 0) throw std::invalid_argument("no probes");
  if (entries == 0) throw std::invalid_argument("the gallery is empty");
  if (probes > std::numeric_limits<std::uint32_t>::max() ||
      entries > std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument("more than 2^32 - 1 probes or 2^31 - 1 gallery entries");
  if (similarity.size() != probes * entries)
    throw std::invalid_argument(fmt::format("{} scores for {} probes and {} gallery entries",
                                            similarity.size(), probes, entries));

  std::vector<std::int32_t> people(gallery_identity.begin(), gallery_identity.end());
  std::sort(people.begin(), people.end());
  people.erase(std::unique(people.begin(), people.end()), people.end());
  gallery_ = static_cast<std::int64_t>(people.size());
  // The number of an identity among the people, or people.size().
  const auto number = [&](std::int32_t identity) {
    const auto at = std::lower_bound(people.begin(), people.end(), identity);
    return at != people.end() && *at == identity ? static_cast<std::size_t>(at - people.begin())
                                                 : people.size();
  };
  std::vector<std::size_t> person(entries);
  for (std::size_t e = 0; e < entries; ++e) person[e] = number(gallery_identity[e]);

  is_mated_.resize(probes);
  score_.resize(probes);
  ahead_.assign(probes, 0);
  tied_.assign(probes, 0);
  for (std::size_t p = 0; p < probes; ++p) {
    is_mated_[p] = number(probe_identity[p]) < people.size();
    mated_count_ += is_mated_[p];
  }

  const auto workers = static_cast<std::size_t>(job.workers());
  std::vector<std::vector<double>> best(workers);
  std::vector<Highest> highest(workers, Highest(2 * static_cast<std::size_t>(mated_count_)));
  Stage stage(job, "identification", static_cast<std::int64_t>(probes), "probes");
  parallel_for(
      static_cast<std::int64_t>(probes), job,
      [&](std::int64_t i, int worker) {
        const auto p = static_cast<std::size_t>(i);
        const std::span<const T> row = similarity.subspan(p * entries, entries);
        std::vector<double>& score = best[worker];
        score.assign(people.size(), -std::numeric_limits<double>::infinity());
        for (std::size_t e = 0; e < entries; ++e) {
          if (!std::isfinite(row[e]))
            throw std::invalid_argument(fmt::format("score [{}, {}] is {}; scores must be finite",
                                                    p, e, static_cast<double>(row[e])));
          score[person[e]] = std::max(score[person[e]], static_cast<double>(row[e]));
        }
        if (!is_mated_[p]) {
          score_[p] = *std::max_element(score.begin(), score.end());
          return;
        }
        const std::size_t mate = number(probe_identity[p]);
        score_[p] = score[mate];
        for (std::size_t g = 0; g < people.size(); ++g) {
          if (g == mate) continue;
          ahead_[p] += score[g] > score_[p];
          tied_[p] += score[g] == score_[p];
          highest[worker].add(score[g], static_cast<std::uint32_t>(p));
        }
      },
      &stage);

  Highest all(2 * static_cast<std::size_t>(mated_count_));
  for (Highest& h : highest)
    for (const Impostor& i : h.kept()) all.add(i.score, i.probe);
  all.shrink();
  impostors_ = std::move(all.kept());
  std::sort(impostors_.begin(), impostors_.end(), higher);

  order_.resize(probes);
  std::iota(order_.begin(), order_.end(), 0u);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return score_[a] > score_[b]; });
}

Searches::Searches(std::span<const double> similarity, std::span<const std::int32_t> probe_identity,
                   std::span<const std::int32_t> gallery_identity, const Job& job) {
  search(similarity, probe_identity, gallery_identity, job);
}

Searches::Searches(std::span<const float> similarity, std::span<const std::int32_t> probe_identity,
                   std::span<const std::int32_t> gallery_identity, const Job& job) {
  search(similarity, probe_identity, gallery_identity, job);
}

}  // namespace facebench

#include "facebench/metrics/searches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "facebench/metrics/listed_pairs.h"

namespace facebench {
namespace {

using Impostor = SearchRecord::Impostor;

// Scores in memory at once where they are not all kept.
constexpr std::size_t kBlockScores = std::size_t{1} << 24;

bool higher(const Impostor& a, const Impostor& b) {
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
  std::vector<Impostor>& kept() { return kept_; }

 private:
  std::size_t limit_;
  double lowest_ = -std::numeric_limits<double>::infinity();
  std::vector<Impostor> kept_;
};

// Makes a record out of rows of scores, each seen once.
class Ranking {
 public:
  Ranking(std::span<const std::int32_t> probe_identity,
          std::span<const std::int32_t> gallery_identity, const Job& job)
      : probe_identity_(probe_identity), best_(static_cast<std::size_t>(job.workers())) {
    const std::size_t probes = probe_identity.size(), entries = gallery_identity.size();
    if (probes == 0) throw std::invalid_argument("no probes");
    if (entries == 0) throw std::invalid_argument("the gallery is empty");
    if (probes > std::numeric_limits<std::uint32_t>::max() ||
        entries > std::numeric_limits<std::int32_t>::max())
      throw std::invalid_argument("more than 2^32 - 1 probes or 2^31 - 1 gallery entries");
    people_.assign(gallery_identity.begin(), gallery_identity.end());
    std::sort(people_.begin(), people_.end());
    people_.erase(std::unique(people_.begin(), people_.end()), people_.end());
    record_.gallery = static_cast<std::int64_t>(people_.size());
    for (const std::int32_t identity : gallery_identity) person_.push_back(number(identity));
    record_.is_mated.resize(probes);
    record_.score.resize(probes);
    record_.ahead.assign(probes, 0);
    record_.tied.assign(probes, 0);
    std::size_t mated = 0;
    for (std::size_t p = 0; p < probes; ++p)
      mated += record_.is_mated[p] = number(probe_identity[p]) < people_.size();
    highest_.assign(best_.size() + 1, Highest(2 * mated));
  }

  // The scores of probes first, first + 1, ... with every gallery entry.
  template <class T>
  void add(std::size_t first, std::span<const T> scores, const Job& job, Stage* stage) {
    const std::size_t entries = person_.size();
    parallel_for(
        static_cast<std::int64_t>(scores.size() / entries), job,
        [&](std::int64_t i, int worker) {
          const auto row = static_cast<std::size_t>(i);
          add_row(first + row, scores.subspan(row * entries, entries),
                  static_cast<std::size_t>(worker));
        },
        stage);
  }

  SearchRecord finish() {
    Highest& all = highest_.back();
    for (std::size_t w = 0; w < best_.size(); ++w)
      for (const Impostor& i : highest_[w].kept()) all.add(i.score, i.probe);
    all.shrink();
    record_.impostors = std::move(all.kept());
    std::sort(record_.impostors.begin(), record_.impostors.end(), higher);
    return std::move(record_);
  }

 private:
  // The number of an identity among the people, or people_.size().
  std::size_t number(std::int32_t identity) const {
    const auto at = std::lower_bound(people_.begin(), people_.end(), identity);
    return at != people_.end() && *at == identity ? static_cast<std::size_t>(at - people_.begin())
                                                  : people_.size();
  }

  template <class T>
  void add_row(std::size_t p, std::span<const T> row, std::size_t worker) {
    std::vector<double>& score = best_[worker];
    score.assign(people_.size(), -std::numeric_limits<double>::infinity());
    for (std::size_t e = 0; e < row.size(); ++e) {
      if (!std::isfinite(row[e]))
        throw std::invalid_argument(fmt::format("score [{}, {}] is {}; scores must be finite", p, e,
                                                static_cast<double>(row[e])));
      score[person_[e]] = std::max(score[person_[e]], static_cast<double>(row[e]));
    }
    if (!record_.is_mated[p]) {
      record_.score[p] = *std::max_element(score.begin(), score.end());
      return;
    }
    const std::size_t mate = number(probe_identity_[p]);
    record_.score[p] = score[mate];
    for (std::size_t g = 0; g < people_.size(); ++g) {
      if (g == mate) continue;
      record_.ahead[p] += score[g] > score[mate];
      record_.tied[p] += score[g] == score[mate];
      highest_[worker].add(score[g], static_cast<std::uint32_t>(p));
    }
  }

  std::span<const std::int32_t> probe_identity_;
  std::vector<std::int32_t> people_;       // in the gallery, ascending
  std::vector<std::size_t> person_;        // per gallery entry, index into people_
  std::vector<std::vector<double>> best_;  // per worker, of the row at hand
  std::vector<Highest> highest_;           // per worker, and of all
  SearchRecord record_;
};

template <class T>
SearchRecord rank_all(std::span<const T> similarity, std::span<const std::int32_t> probe_identity,
                      std::span<const std::int32_t> gallery_identity, const Job& job) {
  Ranking ranking(probe_identity, gallery_identity, job);
  if (similarity.size() != probe_identity.size() * gallery_identity.size())
    throw std::invalid_argument(fmt::format("{} scores for {} probes and {} gallery entries",
                                            similarity.size(), probe_identity.size(),
                                            gallery_identity.size()));
  Stage stage(job, "identification", static_cast<std::int64_t>(probe_identity.size()), "probes");
  ranking.add(0, similarity, job, &stage);
  return ranking.finish();
}

}  // namespace

Searches::Searches(std::span<const double> similarity, std::span<const std::int32_t> probe_identity,
                   std::span<const std::int32_t> gallery_identity, const Job& job)
    : record_(rank_all(similarity, probe_identity, gallery_identity, job)) {
  finish();
}

Searches::Searches(std::span<const float> similarity, std::span<const std::int32_t> probe_identity,
                   std::span<const std::int32_t> gallery_identity, const Job& job)
    : record_(rank_all(similarity, probe_identity, gallery_identity, job)) {
  finish();
}

Searches::Searches(const Rows& rows, std::span<const std::int32_t> probe_identity,
                   std::span<const std::int32_t> gallery_identity, const Job& job) {
  Ranking ranking(probe_identity, gallery_identity, job);
  const std::size_t probes = probe_identity.size(), entries = gallery_identity.size();
  const std::size_t block = std::clamp<std::size_t>(kBlockScores / entries, 1, 4096);
  Stage stage(job, "identification", static_cast<std::int64_t>(probes), "probes");
  Job inner = job;
  inner.progress = nullptr;
  for (std::size_t first = 0; first < probes; first += block) {
    const std::size_t count = std::min(block, probes - first);
    const std::vector<float> scores = rows(first, count);
    if (scores.size() != count * entries)
      throw std::invalid_argument(fmt::format("{} scores for {} probes and {} gallery entries",
                                              scores.size(), count, entries));
    ranking.add(first, std::span(scores), inner, nullptr);
    stage.update(static_cast<std::int64_t>(first + count));
  }
  record_ = ranking.finish();
  finish();
}

Searches::Searches(SearchRecord record) : record_(std::move(record)) {
  const SearchRecord& r = record_;
  const std::size_t n = r.score.size();
  const auto require = [](bool ok, const char* what) {
    if (!ok) throw std::invalid_argument(fmt::format("a record of searches: {}", what));
  };
  require(n > 0 && r.gallery > 0, "no probes, or nobody in the gallery");
  require(r.is_mated.size() == n && r.ahead.size() == n && r.tied.size() == n,
          "columns of different lengths");
  for (std::size_t p = 0; p < n; ++p) {
    require(r.is_mated[p] <= 1 && std::isfinite(r.score[p]), "a score that is not a number");
    const std::int64_t ahead = r.ahead[p], tied = r.tied[p];
    require(ahead >= 0 && tied >= 0 && ahead + tied < r.gallery, "a rank beyond the gallery");
    require(r.is_mated[p] || ahead + tied == 0, "a rank without a mate");
  }
  for (std::size_t i = 0; i < r.impostors.size(); ++i)
    require(std::isfinite(r.impostors[i].score) && r.impostors[i].probe < n &&
                (i == 0 || !higher(r.impostors[i], r.impostors[i - 1])),
            "impostor scores out of order");
  finish();
}

void Searches::finish() {
  mated_count_ = std::count(record_.is_mated.begin(), record_.is_mated.end(), 1);
  order_.resize(size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return record_.score[a] > record_.score[b];
  });
}

Searches search_embeddings(const EmbeddingRows& probes,
                           std::span<const std::int32_t> probe_identity,
                           const EmbeddingRows& gallery,
                           std::span<const std::int32_t> gallery_identity, const Job& job) {
  if (probes.size() != static_cast<std::int64_t>(probe_identity.size()) ||
      gallery.size() != static_cast<std::int64_t>(gallery_identity.size()))
    throw std::invalid_argument(
        fmt::format("{} probes with {} identities and {} gallery entries with {}", probes.size(),
                    probe_identity.size(), gallery.size(), gallery_identity.size()));
  probes.require_directions();  // a block would name its own row
  Job inner = job;
  inner.progress = nullptr;
  return Searches(
      [&](std::size_t first, std::size_t count) {
        return dense_scores(
            probes.slice(static_cast<std::int64_t>(first), static_cast<std::int64_t>(count)),
            gallery, inner);
      },
      probe_identity, gallery_identity, job);
}

}  // namespace facebench

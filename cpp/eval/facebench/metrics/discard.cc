#include "facebench/metrics/discard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "facebench/core/options.h"
#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/internal/discard_curve.h"
#include "facebench/metrics/internal/measures.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {
namespace {

void check(const SampleComparisons& c, std::span<const SampleQuality> qualities,
           const DiscardOptions& options) {
  check_options(options);
  const std::size_t n = c.scores.size();
  if (c.labels.size() != n || c.first_sample.size() != n || c.second_sample.size() != n)
    throw std::invalid_argument("labels and samples need one entry for each score");
  const auto samples = static_cast<std::int64_t>(c.person.size());
  for (std::size_t i = 0; i < n; ++i)
    for (const std::int32_t s : {c.first_sample[i], c.second_sample[i]})
      if (s < 0 || s >= samples)
        throw std::invalid_argument(
            fmt::format("comparison {} is of sample {}, but there are {}", i, s, samples));
  if (qualities.empty()) throw std::invalid_argument("no quality is given");
  for (const SampleQuality& q : qualities)
    if (q.values.size() != c.person.size())
      throw std::invalid_argument(fmt::format("{} samples but {} values of quality '{}'",
                                              c.person.size(), q.values.size(), q.name));
  if (options.discard == "images" && options.pair_quality == "product")
    throw std::invalid_argument("images are discarded by their own quality, not by a product");
  for (const double limit : options.limits)
    if (!(limit > 0 && limit <= 1))
      throw std::invalid_argument(fmt::format("the limit {} is not in (0, 1]", limit));
  if (options.threshold && options.discard_threshold == "chosen_again")
    throw std::invalid_argument("a threshold that is chosen again follows the FAR; give that");
}

// Also the numbers of the people that are compared, ascending.
RankedComparisons rank_comparisons(const SampleComparisons& c, double threshold,
                                   std::vector<std::int32_t>& people) {
  RankedComparisons r;
  r.labels = c.labels;
  r.sample_person.assign(c.person.size(), -1);
  std::map<std::int32_t, std::int32_t> number;
  const auto person = [&](std::int32_t sample) {
    return c.person[static_cast<std::size_t>(sample)];
  };
  for (std::size_t i = 0; i < c.scores.size(); ++i)
    for (const std::int32_t s : {c.first_sample[i], c.second_sample[i]}) number[person(s)] = 0;
  for (auto& [p, k] : number) {
    k = static_cast<std::int32_t>(people.size());
    people.push_back(p);
  }
  std::vector<double> distinct(c.scores.begin(), c.scores.end());
  std::ranges::sort(distinct, std::greater{});
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  r.ranks = static_cast<std::uint32_t>(distinct.size());
  for (std::size_t i = 0; i < c.scores.size(); ++i) {
    for (const std::int32_t s : {c.first_sample[i], c.second_sample[i]})
      r.sample_person[static_cast<std::size_t>(s)] = number[person(s)];
    r.first_person.push_back(number[person(c.first_sample[i])]);
    r.second_person.push_back(number[person(c.second_sample[i])]);
    const auto above = std::ranges::lower_bound(distinct, c.scores[i], std::greater{});
    r.rank.push_back(static_cast<std::uint32_t>(above - distinct.begin() + 1));
    r.wrong.push_back(c.labels[i] && !(c.scores[i] >= threshold));
  }
  return r;
}

// The curve of discarding wrong genuine comparisons first.
RejectCurve oracle_of_comparisons(const DiscardResult& result, std::int64_t wrong) {
  RejectCurve curve;
  for (std::int64_t k = 0; k <= wrong && k < result.genuine; ++k)
    curve.add(ratio(k, result.genuine), nan, wrong - k, result.genuine - k);
  return curve;
}

// The same of images, by the greedy rule of the header.
RejectCurve oracle_of_images(const SampleComparisons& c, const RankedComparisons& ranked,
                             const DiscardResult& result, std::int64_t wrong) {
  const std::size_t samples = c.person.size();
  std::vector<std::vector<std::uint32_t>> of_sample(samples);
  std::vector<std::int64_t> bad(samples, 0), good(samples, 0);
  for (std::uint32_t i = 0; i < c.scores.size(); ++i) {
    if (!c.labels[i]) continue;
    for (const std::int32_t s : {c.first_sample[i], c.second_sample[i]}) {
      const auto sample = static_cast<std::size_t>(s);
      of_sample[sample].push_back(i);
      (ranked.wrong[i] ? bad : good)[sample] += 1;
      if (c.first_sample[i] == c.second_sample[i]) break;
    }
  }
  // Entries that have become stale are put back with their new counts.
  using Entry = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // bad, -good, -sample
  std::priority_queue<Entry> queue;
  for (std::size_t s = 0; s < samples; ++s)
    if (bad[s] > 0) queue.emplace(bad[s], -good[s], -static_cast<std::int64_t>(s));
  std::vector<std::uint8_t> gone(c.scores.size(), 0);
  std::int64_t kept = result.genuine, discarded = 0;
  RejectCurve curve;
  const auto point = [&] {
    if (kept > 0) curve.add(ratio(discarded, result.samples), nan, wrong, kept);
  };
  point();
  while (!queue.empty()) {
    const auto [b, g, negative] = queue.top();
    queue.pop();
    const auto s = static_cast<std::size_t>(-negative);
    if (bad[s] == 0) continue;
    if (bad[s] != b || -good[s] != g) {
      queue.emplace(bad[s], -good[s], negative);
      continue;
    }
    for (const std::uint32_t i : of_sample[s]) {
      if (gone[i]) continue;
      gone[i] = 1;
      --kept;
      wrong -= ranked.wrong[i];
      for (const std::int32_t side : {c.first_sample[i], c.second_sample[i]})
        (ranked.wrong[i] ? bad : good)[static_cast<std::size_t>(side)] -= 1;
    }
    ++discarded;
    point();
  }
  return curve;
}

}  // namespace

void DiscardOptions::describe(OptionsBuilder<DiscardOptions>& o) {
  o.name("DiscardOptions", "What is discarded by quality, and how its curve is summed up.");
  o.choice("discard", &DiscardOptions::discard,
           "what is discarded: genuine comparisons by the quality of their two images, or images",
           {"comparisons", "images"});
  o.choice("pair_quality", &DiscardOptions::pair_quality,
           "the quality of a comparison out of those of its two images", {"minimum", "product"});
  o.choice("discard_threshold", &DiscardOptions::discard_threshold,
           "whether the threshold is kept while more is discarded, or chosen again for the FAR",
           {"kept", "chosen_again"});
  o.field("threshold", &DiscardOptions::threshold,
          "accept scores of at least this; default: what gives the FAR", -1e300, 1e300);
  o.field("far", &DiscardOptions::far, "FAR that sets the threshold", 0, 1);
  o.field("limits", &DiscardOptions::limits, "shares of discards that areas go up to", 0, 1);
  o.field("replicates", &DiscardOptions::replicates, "resampled data sets", 20, 10'000'000);
  o.field("level", &DiscardOptions::level, "confidence level of the intervals", 0.5, 0.9999);
  o.field("seed", &DiscardOptions::seed, "seed of the resampling", 0, 9e15);
}

DiscardResult error_versus_discard(const SampleComparisons& c,
                                   std::span<const SampleQuality> qualities,
                                   const DiscardOptions& options, const Job& job) {
  check(c, qualities, options);
  DiscardResult result;
  const Comparisons comparisons(c.scores, c.labels);
  result.genuine = comparisons.genuine();
  result.impostor = comparisons.impostor();
  if (result.genuine == 0) throw std::invalid_argument("there is no genuine comparison");
  result.threshold = options.threshold ? *options.threshold
                                       : tar_at_far(comparisons, options.far, "exact").threshold;

  std::vector<std::int32_t> people;
  const RankedComparisons ranked = rank_comparisons(c, result.threshold, people);
  result.samples =
      std::ranges::count_if(ranked.sample_person, [](std::int32_t p) { return p >= 0; });
  const std::int64_t wrong = std::ranges::count(ranked.wrong, 1);
  result.fnmr = ratio(wrong, result.genuine);
  if (options.discard_threshold == "kept")
    result.oracle = options.discard == "images" ? oracle_of_images(c, ranked, result, wrong)
                                                : oracle_of_comparisons(result, wrong);

  std::vector<std::shared_ptr<const DiscardCurve>> curves;
  std::vector<Statistic> statistics;  // of each quality, its areas
  for (const SampleQuality& quality : qualities) {
    curves.push_back(std::make_shared<const DiscardCurve>(ranked, c, quality, options));
    for (const double limit : options.limits)
      statistics.push_back({"area",
                            [curve = curves.back(), limit](std::span<const Weight> w) {
                              const RejectCurve drawn = curve->evaluate(w, limit);
                              return drawn.size() ? drawn.area(limit) : nan;
                            },
                            1 / static_cast<double>(result.genuine)});
  }
  const Replicates replicates = Bootstrap::of_people(people).replicates_with_freedom(
      statistics, {options.replicates, options.level, options.seed}, job);

  const std::size_t limits = options.limits.size();
  for (std::size_t q = 0; q < qualities.size(); ++q) {
    DiscardMeasure m{qualities[q].name, curves[q]->evaluate({}), {}};
    for (std::size_t k = 0; k < limits; ++k) {
      const std::size_t s = q * limits + k;
      DiscardArea area;
      area.limit = options.limits[k];
      area.value = replicates.points[s];
      area.interval = interval_of(replicates, s, statistics[s], options.level);
      area.oracle = result.oracle.size() ? result.oracle.area(area.limit) : nan;
      const double possible = result.fnmr - area.oracle;
      area.gain = possible > 0 ? (result.fnmr - area.value) / possible : nan;
      m.areas.push_back(std::move(area));
    }
    result.measures.push_back(std::move(m));
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t k = 0; k < limits; ++k)
    for (std::size_t a = 0; a < qualities.size(); ++a)
      for (std::size_t b = a + 1; b < qualities.size(); ++b) {
        pairs.emplace_back(a * limits + k, b * limits + k);
        result.differences.push_back({a, b, options.limits[k], {}});
      }
  const std::vector<PairedComparison> paired = compare_paired(replicates, pairs, options.level);
  for (std::size_t d = 0; d < paired.size(); ++d) result.differences[d].paired = paired[d];
  return result;
}

}  // namespace facebench

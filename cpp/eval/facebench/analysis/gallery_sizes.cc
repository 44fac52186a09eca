#include "facebench/analysis/gallery_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "facebench/core/options.h"
#include "facebench/core/random.h"
#include "facebench/metrics/identification.h"
#include "facebench/metrics/summary.h"
#include "facebench/trials/identification_trials.h"
#include "facebench/trials/scoring.h"

namespace facebench {
namespace {

// Scores that are held at once, float32: 2 GiB.
constexpr std::size_t kMostScores = std::size_t{1} << 29;

// The first unit of everybody with two or more.
std::vector<std::int32_t> first_of_several(std::span<const std::int32_t> people) {
  std::map<std::int32_t, std::pair<std::int32_t, int>> seen;  // first unit, how many
  for (std::size_t i = 0; i < people.size(); ++i) {
    auto& [first, count] =
        seen.try_emplace(people[i], static_cast<std::int32_t>(i), 0).first->second;
    ++count;
  }
  std::vector<std::int32_t> chosen;
  for (const auto& [person, one] : seen)
    if (one.second > 1) chosen.push_back(one.first);
  std::ranges::sort(chosen);
  return chosen;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

GalleryPoint point_of(double fpir, std::int64_t size, std::vector<double> fnirs, double level) {
  GalleryPoint p;
  p.fpir = fpir;
  p.size = size;
  p.fnir = mean(fnirs);
  std::ranges::sort(fnirs);
  p.low = linear_quantile(fnirs, (1 - level) / 2);
  p.high = linear_quantile(fnirs, (1 + level) / 2);
  return p;
}

// The straight line through the points at another x.
double line_at(const std::vector<double>& x, const std::vector<double>& y, double at) {
  const double mx = mean(x), my = mean(y);
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    products += (x[i] - mx) * (y[i] - my);
    squares += (x[i] - mx) * (x[i] - mx);
  }
  return my + products / squares * (at - mx);
}

std::vector<std::int64_t> chosen_sizes(const GalleryOptions& o, std::int64_t enrolled) {
  std::vector<std::int64_t> sizes = o.sizes;
  if (sizes.empty())
    for (const std::int64_t part : {16, 8, 4, 2})
      sizes.push_back(std::max<std::int64_t>(2, enrolled / part));
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (sizes.front() < 2 || sizes.back() >= enrolled)
    throw std::invalid_argument(fmt::format(
        "galleries of {} to {} people; {} people have two images or more, and somebody must be "
        "left for non-mated searches",
        sizes.front(), sizes.back(), enrolled));
  if (!o.extrapolate.empty() &&
      (sizes.size() < 3 || *std::ranges::min_element(o.extrapolate) <= sizes.back()))
    throw std::invalid_argument(
        "extrapolation needs three sizes that are measured, all of them smaller");
  return sizes;
}

// What the draws of one gallery size gave.
struct Drawn {
  std::vector<double> mated, non_mated;
  std::vector<std::vector<double>> fnir;  // of each FPIR
};

// One draw: the first `size` of the columns are the gallery.
void search(const UnitEmbeddings& units, std::span<const std::int32_t> order,
            std::span<const float> scores, std::int64_t size, std::span<const double> fpirs,
            const Job& job, Drawn& drawn) {
  const auto enrolled = order.first(static_cast<std::size_t>(size));
  std::vector<std::uint8_t> in_gallery(units.size(), 0);
  std::vector<std::int32_t> gallery;
  for (const std::int32_t u : enrolled) {
    in_gallery[static_cast<std::size_t>(u)] = 1;
    gallery.push_back(units.identity[static_cast<std::size_t>(u)]);
  }
  std::vector<std::int32_t> searching, people;
  for (std::size_t u = 0; u < units.size(); ++u)
    if (!in_gallery[u]) {
      searching.push_back(static_cast<std::int32_t>(u));
      people.push_back(units.identity[u]);
    }
  const auto rows = [&](std::size_t first, std::size_t count) {
    std::vector<float> block;
    for (const std::int32_t u : std::span(searching).subspan(first, count)) {
      const auto row = scores.subspan(static_cast<std::size_t>(u) * order.size(), order.size());
      block.insert(block.end(), row.begin(), row.begin() + size);
    }
    return block;
  };
  const Searches searches(rows, people, gallery, job);
  drawn.mated.push_back(static_cast<double>(searches.mated()));
  drawn.non_mated.push_back(static_cast<double>(searches.non_mated()));
  for (std::size_t f = 0; f < fpirs.size(); ++f)
    drawn.fnir[f].push_back(dir_at_fpir(searches, fpirs[f]).fnir);
}

}  // namespace

void GalleryOptions::describe(OptionsBuilder<GalleryOptions>& o) {
  o.name("GalleryOptions", "Which galleries are drawn.");
  o.field("sizes", &GalleryOptions::sizes, "people in the gallery; default: 1/16 to 1/2 of them", 2,
          1e9);
  o.field("fpir", &GalleryOptions::fpir, "FPIRs that set the threshold", 0, 1);
  o.field("draws", &GalleryOptions::draws, "draws of the gallery", 2, 100'000);
  o.field("extrapolate", &GalleryOptions::extrapolate, "larger sizes to extrapolate to", 2, 1e12);
  o.field("level", &GalleryOptions::level, "share of the draws that a range holds", 0.5, 0.9999);
  o.field("seed", &GalleryOptions::seed, "seed of the draws", 0, 9e15);
}

GallerySizes gallery_sizes(const EmbeddingSet& embeddings, std::span<const std::int32_t> people,
                           const GalleryOptions& o, const Job& job) {
  check_options(o);
  if (people.size() != embeddings.size())
    throw std::invalid_argument(
        fmt::format("{} people for {} embeddings", people.size(), embeddings.size()));
  GallerySizes result;
  result.draws = o.draws;
  result.level = o.level;
  UnitEmbeddings units;
  units.dim = embeddings.dim;
  for (std::size_t i = 0; i < embeddings.size(); ++i) {
    if (embeddings.status[i] != SampleStatus::ok) {
      ++result.failed;
      continue;
    }
    units.values.insert(units.values.end(), embeddings.row(i).begin(), embeddings.row(i).end());
    units.status.push_back(SampleStatus::ok);
    units.identity.push_back(people[i]);
  }
  std::vector<std::int32_t> enrolled = first_of_several(units.identity);
  result.people = std::ssize(enrolled);
  const std::vector<std::int64_t> sizes = chosen_sizes(o, result.people);
  const auto largest = static_cast<std::size_t>(sizes.back());
  if (units.size() > kMostScores / largest)
    throw std::invalid_argument(
        fmt::format("{} images and {} people are too many scores", units.size(), largest));
  std::vector<std::int32_t> all(units.size());
  std::iota(all.begin(), all.end(), 0);

  std::vector<Drawn> drawn(sizes.size());
  for (Drawn& d : drawn) d.fnir.resize(o.fpir.size());
  Stage stage(job, "draw galleries", o.draws, "draws");
  for (std::int64_t draw = 0; draw < o.draws; ++draw) {
    std::vector<std::int32_t> order = enrolled;
    Random random(static_cast<std::uint64_t>(o.seed), "gallery",
                  {static_cast<std::uint64_t>(draw)});
    shuffle(order, random);
    order.resize(largest);
    const Job silent{.threads = job.threads};
    IdentificationTrials trials;
    trials.gallery = order;
    trials.probes = all;
    const Scores scores = trials.score(units, {Storage::What::all}, silent);
    for (std::size_t n = 0; n < sizes.size(); ++n)
      search(units, order, scores.each_single, sizes[n], o.fpir, silent, drawn[n]);
    stage.update(draw + 1);
  }

  std::vector<double> log_sizes;
  for (const std::int64_t n : sizes) log_sizes.push_back(std::log(static_cast<double>(n)));
  std::vector<std::int64_t> beyond = o.extrapolate;
  std::ranges::sort(beyond);
  for (std::size_t f = 0; f < o.fpir.size(); ++f) {
    bool few = false;  // a size at which less than one miss is found
    for (std::size_t n = 0; n < sizes.size(); ++n) {
      const Drawn& d = drawn[n];
      GalleryPoint& p =
          result.points.emplace_back(point_of(o.fpir[f], sizes[n], d.fnir[f], o.level));
      p.mated = mean(d.mated);
      p.non_mated = mean(d.non_mated);
      p.reliable = o.fpir[f] * p.non_mated >= 10;
      double misses = 0;
      for (std::size_t k = 0; k < d.mated.size(); ++k) misses += d.fnir[f][k] * d.mated[k];
      few = few || misses < static_cast<double>(o.draws);
    }
    if (beyond.empty()) continue;
    if (few) {
      result.too_few.push_back(o.fpir[f]);
      continue;
    }
    for (const std::int64_t size : beyond) {
      std::vector<double> trend;
      for (std::size_t k = 0; k < static_cast<std::size_t>(o.draws); ++k) {
        std::vector<double> logs;
        // Half an error more, so that a draw without any has a logarithm.
        for (const Drawn& d : drawn)
          logs.push_back(std::log((d.fnir[f][k] * d.mated[k] + 0.5) / (d.mated[k] + 1)));
        trend.push_back(
            std::min(1.0, std::exp(line_at(log_sizes, logs, std::log(static_cast<double>(size))))));
      }
      result.points.emplace_back(point_of(o.fpir[f], size, trend, o.level)).extrapolated = true;
    }
  }
  return result;
}

Json gallery_sizes_json(const GallerySizes& sizes) {
  Json points = Json::array();
  for (const GalleryPoint& p : sizes.points) {
    Json& point = points.emplace_back(Json{{"fpir", p.fpir},
                                           {"size", p.size},
                                           {"fnir", p.fnir},
                                           {"low", p.low},
                                           {"high", p.high},
                                           {"reliable", p.reliable},
                                           {"extrapolated", p.extrapolated}});
    if (p.extrapolated) continue;
    point["mated"] = p.mated;
    point["non_mated"] = p.non_mated;
  }
  return {{"draws", sizes.draws},   {"level", sizes.level}, {"people", sizes.people},
          {"failed", sizes.failed}, {"points", points},     {"too_few", sizes.too_few}};
}

}  // namespace facebench

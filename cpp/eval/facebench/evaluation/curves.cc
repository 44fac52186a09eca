#include "facebench/evaluation/curves.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/metrics/identification.h"
#include "facebench/metrics/tail_bounds.h"

namespace facebench {
namespace {

constexpr int kFormat = 1;

// At most `count` of the points of a rising curve, both ends included, spread evenly over the
// length that is walked along it with x logarithmic. x = 0 lies one decade below `smallest`, the
// smallest positive x that there could be.
std::vector<std::size_t> spread(std::span<const double> x, std::span<const double> y,
                                double smallest, std::size_t count) {
  if (count < 2) throw std::invalid_argument("a curve needs at least two points");
  std::vector<std::size_t> chosen;
  if (x.size() <= count) {
    for (std::size_t i = 0; i < x.size(); ++i) chosen.push_back(i);
    return chosen;
  }
  const double lowest = std::log10(smallest / 10);
  const auto position = [&](std::size_t i) {
    return y[i] - (x[i] == 0 ? lowest : std::log10(x[i])) / lowest;  // both terms rise
  };
  const double first = position(0), last = position(x.size() - 1);
  std::size_t i = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const double target =
        first + (last - first) * static_cast<double>(k) / static_cast<double>(count - 1);
    const std::size_t before = i;
    while (i + 1 < x.size() && position(i) < target) ++i;
    if (k + 1 == count) i = x.size() - 1;
    if (k == 0 || i != before) chosen.push_back(i);
  }
  return chosen;
}

void add_identification(const Searches& searches, const std::string& ties, std::size_t count,
                        TrackCurves& out) {
  if (searches.mated() == 0) return;
  out.cmc = cmc(searches, ties).rate;
  if (out.cmc.size() > count) out.cmc.resize(count);
  if (searches.non_mated() == 0) return;
  const IdentificationCurve curve = identification_curve(searches);
  const auto fpir = curve.fpir(), dir = curve.dir();
  for (const std::size_t i :
       spread(fpir, dir, 1 / static_cast<double>(searches.non_mated()), count))
    out.dir.push_back({fpir[i], dir[i]});
}

// Neighbouring bins together, about `bins` of them between the lowest and the highest that hold
// any.
ScoreHistogram coarser(const ScoreHistogram& fine, std::size_t bins) {
  std::size_t first = 0, last = fine.impostor.size();
  const auto empty = [&](std::size_t k) { return fine.genuine[k] + fine.impostor[k] == 0; };
  while (first + 1 < last && empty(first)) ++first;
  while (last > first + 1 && empty(last - 1)) --last;
  const std::size_t together = (last - first + bins - 1) / bins;
  ScoreHistogram result;
  for (std::size_t k = first; k < last; ++k) {
    if ((k - first) % together == 0) {
      result.edges.push_back(fine.edges[k]);
      result.genuine.push_back(0);
      result.impostor.push_back(0);
    }
    result.genuine.back() += fine.genuine[k];
    result.impostor.back() += fine.impostor[k];
  }
  result.edges.push_back(fine.edges[last]);
  return result;
}

// The columns of points as an object of lists, and back.
template <class Point>
using Columns = std::vector<std::pair<const char*, double Point::*>>;
const Columns<RocPoint> kRoc = {{"far", &RocPoint::far}, {"tar", &RocPoint::tar}};
const Columns<BandPoint> kBand = {
    {"far", &BandPoint::far}, {"low", &BandPoint::low}, {"high", &BandPoint::high}};
const Columns<IdentificationPoint> kDir = {{"fpir", &IdentificationPoint::fpir},
                                           {"dir", &IdentificationPoint::dir}};

template <class Point>
void put(Json& json, const char* name, const std::vector<Point>& points,
         const Columns<Point>& columns) {
  if (points.empty()) return;
  for (const auto& [key, member] : columns) {
    Json& list = json[name][key] = Json::array();
    for (const Point& p : points) list.push_back(p.*member);
  }
}

template <class Point>
std::vector<Point> points_of(const Json& json, const char* name, const Columns<Point>& columns) {
  std::vector<Point> points;
  if (!json.contains(name)) return points;
  for (const auto& [key, member] : columns) {
    const Json& list = json.at(name).at(key);
    const auto values = list.get<std::vector<double>>();
    if (member == columns.front().second) points.resize(values.size());
    if (values.size() != points.size())
      throw std::invalid_argument("the lists of a curve differ in length");
    for (std::size_t i = 0; i < values.size(); ++i) points[i].*member = values[i];
  }
  return points;
}

}  // namespace

std::vector<RocPoint> roc_points(std::span<const double> scores,
                                 std::span<const std::uint8_t> labels, std::size_t count) {
  return roc_points(Comparisons(scores, labels).roc(), count);
}

std::vector<RocPoint> roc_points(const RocCurve& curve, std::size_t count) {
  if (curve.genuine == 0 || curve.impostor == 0)
    throw std::invalid_argument("a curve needs genuine and impostor comparisons");
  const auto far = curve.fpr(), tar = curve.tpr();
  std::vector<RocPoint> points;
  for (const std::size_t i : spread(far, tar, 1 / static_cast<double>(curve.impostor), count))
    points.push_back({far[i], tar[i]});
  return points;
}

std::vector<double> band_fars(const ScoreSet& scores) {
  constexpr int kPerDecade = 8;
  std::vector<double> fars;
  if (scores.genuine() == 0) return fars;
  for (int k = 0;; ++k) {
    const double far = std::pow(10, -static_cast<double>(k) / kPerDecade);
    if (far * static_cast<double>(scores.impostor()) < 1 - 1e-9 || !scores.reaches(far))
      return fars;
    fars.push_back(far);
  }
}

TrackCurves curves_of(const Track& track, const ScoredTrack& scored, const Measurable& measurable,
                      const std::string& ties) {
  constexpr std::size_t kPoints = 500;
  constexpr int kBins = 60;
  TrackCurves c;
  c.track = track.name;
  if (measurable.searches) add_identification(*measurable.searches, ties, kPoints, c);
  // A matrix mixes groups that are not meant to be one population: it has no curve.
  const ScoreSet* scores = measurable.scores.get();
  const ScoreTail* tail = measurable.tail.get();
  if (scores && scores->genuine() > 0 && scores->impostor() > 0)
    c.roc = roc_points(tail ? roc(*tail) : scores->roc(), kPoints);
  if (tail)
    c.scores = coarser(tail->histogram, kBins);
  else if (scores || measurable.matrix)
    c.scores = histogram(
        [&](const ScoreVisitor& visit) { visit_scores(*track.trials, scored, visit); }, kBins);
  return c;
}

Json curves_json(std::span<const TrackCurves> curves) {
  Json tracks = Json::array();
  for (const TrackCurves& c : curves) {
    Json& json = tracks.emplace_back(Json{{"track", c.track}});
    put(json, "roc", c.roc, kRoc);
    put(json, "band", c.band, kBand);
    if (!c.scores.edges.empty())
      json["scores"] = {{"edges", c.scores.edges},
                        {"genuine", c.scores.genuine},
                        {"impostor", c.scores.impostor}};
    if (!c.cmc.empty()) json["cmc"] = c.cmc;
    put(json, "dir", c.dir, kDir);
  }
  return {{"format", kFormat}, {"tracks", tracks}};
}

std::vector<TrackCurves> curves_from_json(const Json& json, std::string_view where) {
  std::vector<TrackCurves> curves;
  try {
    if (json.at("format") != kFormat)
      throw std::invalid_argument("a format that this version of facebench does not read");
    for (const Json& track : json.at("tracks")) {
      TrackCurves& c = curves.emplace_back();
      c.track = track.at("track").get<std::string>();
      c.roc = points_of(track, "roc", kRoc);
      c.band = points_of(track, "band", kBand);
      if (track.contains("cmc")) c.cmc = track.at("cmc").get<std::vector<double>>();
      c.dir = points_of(track, "dir", kDir);
      if (!track.contains("scores")) continue;
      const Json& scores = track.at("scores");
      c.scores = {scores.at("edges").get<std::vector<double>>(),
                  scores.at("genuine").get<std::vector<std::int64_t>>(),
                  scores.at("impostor").get<std::vector<std::int64_t>>()};
      if (c.scores.genuine.size() != c.scores.impostor.size() ||
          c.scores.edges.size() != c.scores.genuine.size() + 1)
        throw std::invalid_argument("a histogram has one edge more than bins");
    }
  } catch (const Json::exception& e) {
    fail(std::string(where), e.what(), "The file was changed; run the evaluation again.");
  } catch (const std::invalid_argument& e) {
    fail(std::string(where), e.what(), "The file was changed; run the evaluation again.");
  }
  return curves;
}

}  // namespace facebench

#include "facebench/reports/save.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/metrics/roc.h"
#include "facebench/reports/run_report.h"

namespace facebench {

namespace fs = std::filesystem;

void save_run(const fs::path& target, const EvaluationResult& result, const RunInfo& info,
              bool overwrite, const std::function<void(const fs::path&)>& more) {
  std::error_code ignored;
  const bool there = fs::exists(target, ignored);
  if (there && overwrite && !is_run_folder(target) &&
      !(fs::is_directory(target, ignored) && fs::is_empty(target, ignored)))
    fail(target.string(), "exists and is not a run folder of facebench, so it is not replaced",
         "Choose another name.");
  AtomicFolder folder(target, overwrite);
  write_run_files(folder.temporary(), result, info);
  write_file(folder.temporary() / "report.md", run_report(read_run(folder.temporary())));
  if (more) more(folder.temporary());
  folder.commit();
}

std::vector<RocPoint> roc_points(std::span<const double> scores,
                                 std::span<const std::uint8_t> labels, std::size_t count) {
  if (count < 2) throw std::invalid_argument("a curve needs at least two points");
  const RocCurve curve = roc(scores, labels);
  const auto far = curve.fpr();
  const auto tar = curve.tpr();
  if (curve.genuine == 0 || curve.impostor == 0)
    throw std::invalid_argument("a curve needs genuine and impostor comparisons");
  std::vector<RocPoint> points;
  if (curve.size() <= count) {
    for (std::size_t i = 0; i < curve.size(); ++i) points.push_back({far[i], tar[i]});
    return points;
  }
  // The length walked along the plotted curve; FAR 0 lies one decade below the first false accept.
  const double lowest = std::log10(0.1 / static_cast<double>(curve.impostor));
  const auto position = [&](std::size_t i) {
    const double x = curve.false_accepts[i] == 0 ? lowest : std::log10(far[i]);
    return tar[i] - x / lowest;  // both terms rise along the curve, by 1 in all
  };
  const double first = position(0), last = position(curve.size() - 1);
  std::size_t i = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const double wanted =
        first + (last - first) * static_cast<double>(k) / static_cast<double>(count - 1);
    const std::size_t before = i;
    while (i + 1 < curve.size() && position(i) < wanted) ++i;
    if (k + 1 == count) i = curve.size() - 1;
    if (k == 0 || i != before) points.push_back({far[i], tar[i]});
  }
  return points;
}

std::vector<RocPoint> roc_points(const RunScores& s, std::string_view track, std::size_t count) {
  const bool drop = failure_policies().at(s.options.failed_enrolments).drop;
  for (std::size_t t = 0; t < s.trials.tracks.size(); ++t) {
    const Track& own = s.trials.tracks[t];
    if (own.name != track) continue;
    const LabelledScores all =
        labelled_scores(own, s.trials, unit_status(s.trials, s.status), s.scores[t], drop);
    return roc_points(all.scores, all.labels, count);
  }
  throw std::invalid_argument(fmt::format("the run has no track '{}'", track));
}

}  // namespace facebench

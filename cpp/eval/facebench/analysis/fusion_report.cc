#include "facebench/analysis/fusion_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "facebench/analysis/internal/attributes.h"
#include "facebench/analysis/internal/counted_list.h"
#include "facebench/analysis/internal/interval_json.h"
#include "facebench/analysis/quality_report.h"
#include "facebench/backends/score_calibrator.h"
#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/core/person_names.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/metrics/calibration.h"
#include "facebench/runs/run_folder.h"
#include "facebench/trials/listed_trials.h"
#include "facebench/trials/scoring.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// The same comparisons as several systems scored them.
struct Systems {
  std::vector<std::string> names;
  std::vector<RunScores> runs;
  std::vector<std::size_t> tracks;   // of each run
  std::vector<SampleStatus> status;  // of a sample: failed where any system failed
  RowMatrix<double> inputs;          // (comparisons, inputs); of those with a failed side 0
  std::vector<std::uint8_t> genuine, failed;
  std::vector<std::string> what;  // the inputs

  const RunScores& first() const { return runs.front(); }
  const ListedTrials& list() const { return *first().trials.tracks[tracks.front()].trials->list(); }
  std::int32_t person(std::int32_t unit) const { return first().trials.unit_identity(unit); }
};

void check_same(const Systems& s, const fs::path& first, const fs::path& other) {
  const RunScores &a = s.runs.front(), &b = s.runs.back();
  const Trials &x = *a.trials.tracks[s.tracks.front()].trials,
               &y = *b.trials.tracks[s.tracks.back()].trials;
  if (!y.same_as(x, units_in(a.trials, b.trials)) || a.trials.names != b.trials.names)
    fail(other.string(),
         fmt::format("does not hold the comparisons of {} in its order", first.string()),
         "Fuse runs of one protocol on the same lists.");
}

Systems read_systems(std::span<const fs::path> folders, const FusionOptions& options,
                     const Job& job) {
  Systems s;
  for (const fs::path& folder : folders) {
    s.runs.push_back(read_run_scores(folder, job));
    const RunScores& run = s.runs.back();
    s.tracks.push_back(track_of(run, options.track));
    const Track& track = run.trials.tracks[s.tracks.back()];
    if (!track.trials->list() || !run.scores[s.tracks.back()].all())
      fail(folder.string(),
           fmt::format("track {} is not a list of which each score was kept", track.name),
           "Such tracks are fused.");
    if (s.runs.size() > 1) check_same(s, folders.front(), folder);
    s.names.push_back(run_name(folder));
    s.what.push_back("score of " + s.names.back());
  }
  s.status = s.first().status;
  for (const RunScores& run : s.runs)
    for (std::size_t i = 0; i < s.status.size(); ++i)
      if (run.status[i] != SampleStatus::ok) s.status[i] = run.status[i];
  const TrialSet& trials = s.first().trials;
  std::vector<std::vector<double>> qualities;
  if (!options.quality.empty())
    for (const NamedQuality& q : read_named_qualities(options.quality, {}, std::nullopt)) {
      qualities.push_back(quality_of_units(q, trials));
      s.what.push_back("lower " + q.name);
      s.what.push_back("higher " + q.name);
    }
  std::vector<std::string> groups;
  if (!options.groups.empty()) {
    Attributes table(options.groups, std::nullopt, std::nullopt);
    for (std::size_t u = 0; u < trials.units(); ++u) {
      const auto unit = static_cast<std::int32_t>(u);
      groups.push_back(
          table.of(trials.identity_names[static_cast<std::size_t>(trials.unit_identity(unit))],
                   trials.unit_name(unit)));
    }
    s.what.push_back("another " + table.column());
  }
  const std::vector<Comparison>& comparisons = s.list().comparisons;
  const std::vector<std::uint8_t> failed = failed_units(unit_status(trials, s.status));
  s.inputs.setZero(static_cast<Eigen::Index>(comparisons.size()),
                   static_cast<Eigen::Index>(s.what.size()));
  s.genuine = s.list().genuine;
  for (std::size_t k = 0; k < comparisons.size(); ++k) {
    const Comparison c = comparisons[k];
    s.failed.push_back(!takes_part(c, failed));
    if (s.failed.back()) continue;
    const auto row = static_cast<Eigen::Index>(k);
    Eigen::Index j = 0;
    for (std::size_t r = 0; r < s.runs.size(); ++r)
      s.inputs(row, j++) = s.runs[r].scores[s.tracks[r]].at(static_cast<std::int64_t>(k));
    const auto first = static_cast<std::size_t>(c.first),
               second = static_cast<std::size_t>(c.second);
    for (const std::vector<double>& q : qualities) {
      const auto [low, high] = std::minmax(q[first], q[second]);
      if (std::isnan(q[first]) || std::isnan(q[second]))
        fail(options.quality.string(),
             fmt::format("has no quality of {} or {}", trials.unit_name(c.first),
                         trials.unit_name(c.second)),
             "Give one for each image that is compared.");
      s.inputs(row, j++) = low;
      s.inputs(row, j++) = high;
    }
    if (!groups.empty()) {
      if (groups[first].empty() || groups[second].empty())
        fail(options.groups.string(),
             fmt::format("has no group of {} or {}", trials.unit_name(c.first),
                         trials.unit_name(c.second)),
             "Give one for everybody who is compared.");
      s.inputs(row, j++) = groups[first] != groups[second];
    }
  }
  return s;
}

// The comparisons that fold `fold` may be fused by; all where it is -1.
std::vector<std::size_t> usable(const Systems& s, std::int32_t fold) {
  const ListedTrials& list = s.list();
  std::set<std::int32_t> tested;
  if (fold >= 0)
    for (std::size_t k = 0; k < list.fold.size(); ++k)
      if (list.fold[k] == fold)
        for (const std::int32_t u : {list.comparisons[k].first, list.comparisons[k].second})
          tested.insert(s.person(u));
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < s.failed.size(); ++k)
    if (!s.failed[k] && !tested.contains(s.person(list.comparisons[k].first)) &&
        !tested.contains(s.person(list.comparisons[k].second)))
      rows.push_back(k);
  return rows;
}

// Fitted to these comparisons; `system`: to its score alone, -1: to all inputs.
LogisticFusion fit(const Systems& s, const std::vector<std::size_t>& rows, std::int64_t system,
                   double prior) {
  RowMatrix<double> inputs(static_cast<Eigen::Index>(rows.size()),
                           system < 0 ? s.inputs.cols() : 1);
  std::vector<std::uint8_t> genuine;
  for (const std::size_t k : rows) {
    const auto from = static_cast<Eigen::Index>(k), to = static_cast<Eigen::Index>(genuine.size());
    if (system < 0)
      inputs.row(to) = s.inputs.row(from);
    else
      inputs(to, 0) = s.inputs(from, system);
    genuine.push_back(s.genuine[k]);
  }
  return fit_logistic_fusion(inputs, genuine, prior);
}

double apply(const LogisticFusion& fusion, const Systems& s, std::size_t k, std::int64_t system) {
  const double* row = s.inputs.data() + static_cast<Eigen::Index>(k) * s.inputs.cols();
  return system < 0 ? fusion.apply({row, static_cast<std::size_t>(s.inputs.cols())})
                    : fusion.apply({row + system, 1});
}

void refuse_tested(const Systems& tested, const Systems& trained, const FusionOptions& options,
                   const fs::path& where, std::vector<std::string>& warnings) {
  const auto &names = trained.first().trials.identity_names,
             &others = tested.first().trials.identity_names;
  const std::set<std::string> known(others.begin(), others.end());
  std::set<std::string> both;
  for (const NameMatch& m : match_names(names, others).matches)
    both.insert(names[static_cast<std::size_t>(m.first)]);
  for (const std::string& name : names)
    if (known.contains(name)) both.insert(name);
  if (both.empty()) return;
  const std::string found =
      fmt::format("{} of the {} people that the fusion is trained on are tested ({})", both.size(),
                  names.size(), first_names({both.begin(), both.end()}, 5));
  if (!options.allow_overlap)
    fail(where.string(), found, "Train on others, or say allow_overlap (--allow-overlap).");
  warnings.push_back(found + ", as was allowed.");
}

// Of the lists behind a run, what its manifest says of them; their text is not in scores.h5.
void take_lists(const Run& run, Result& r) {
  const Json& content = run.manifest.content;
  const Json places = run.manifest.circumstance.value("inputs", Json::array());
  const std::set<std::string> others = {"embeddings", "scores", "model", "backend",
                                        "train",      "cohort", "fused", "side"};
  for (std::size_t i = 0; i < content["inputs"].size(); ++i) {
    const Json& input = content["inputs"][i];
    const std::string role = text_at(input, "/role");
    if (!others.contains(role))
      r.inputs.push_back(
          {role, i < places.size() ? text_at(places[i], "/path") : "", text_at(input, "/sha256")});
  }
  r.notes = content.value("notes", r.notes);
  r.trials.limit = content.value("limit", r.trials.limit);
  const std::vector<std::string> kinds = blemish_rules().names();
  for (const Json& kind : content.value("blemishes", Json::array())) {
    FoundBlemishes found;
    const auto at = std::ranges::find(kinds, text_at(kind, "/kind"));
    if (at == kinds.end()) continue;
    found.kind = static_cast<BlemishKind>(at - kinds.begin());
    found.count = kind.value("count", found.count);
    for (const Json& b : kind.value("first", Json::array()))
      found.first.push_back({text_at(b, "/file"),
                             b.value("line", Json()).is_null() ? 0 : b["line"].get<std::int64_t>(),
                             text_at(b, "/what")});
    r.trials.blemishes.push_back(std::move(found));
  }
}

Json fusion_json(const LogisticFusion& f) {
  return {{"mean", f.mean}, {"sd", f.sd}, {"weight", f.weight}, {"offset", f.offset}};
}

Json paired_json(const PairedComparison& p) {
  Json json = {{"value", number_or_null(p.value)}, {"p", number_or_null(p.p_value)}};
  json["interval"] = p.no_interval.empty() ? interval_json(p.interval) : Json();
  if (!p.no_interval.empty()) json["no_interval"] = p.no_interval;
  return json;
}

std::string text_of(const NumberKey& key) {
  return key.row.empty() ? key.metric : fmt::format("{}[{},{}]", key.metric, key.row, key.column);
}

}  // namespace

void FusionOptions::describe(OptionsBuilder<FusionOptions>& o) {
  o.name("FusionOptions", "How the scores of several systems become one.");
  o.field("track", &FusionOptions::track, "track of the runs; default: the only verification");
  o.field("prior", &FusionOptions::prior, "share of genuine comparisons that the fit assumes", 1e-9,
          1 - 1e-9);
  o.field("quality", &FusionOptions::quality,
          "a CSV file: names of images, then columns of qualities, which become inputs, too");
  o.field("groups", &FusionOptions::groups,
          "a CSV file: names of people or images, then their group; whether both differ becomes an "
          "input");
  o.field("allow_overlap", &FusionOptions::allow_overlap,
          "runs that are trained on may hold people who are tested");
  o.field("replicates", &FusionOptions::replicates, "resampled data sets", 20, 10'000'000);
  o.field("level", &FusionOptions::level, "confidence level of the intervals", 0.5, 0.9999);
  o.field("seed", &FusionOptions::seed, "seed of the resampling", 0, 9e15);
}

FusionReport fuse(std::span<const fs::path> runs, std::span<const fs::path> trained_on,
                  const FusionOptions& options, const Job& job) {
  check_options(options);
  if (runs.empty()) throw std::invalid_argument("give runs to fuse");
  if (!trained_on.empty() && trained_on.size() != runs.size())
    throw std::invalid_argument(
        fmt::format("{} runs are trained on for {} that are fused: one of each system, in the same "
                    "order",
                    trained_on.size(), runs.size()));
  const Systems s = read_systems(runs, options, job);
  const ListedTrials& list = s.list();
  const Track& track = s.first().trials.tracks[s.tracks.front()];
  FusionReport report;
  report.protocol = s.first().spec.id;
  report.track = track.name;
  report.inputs = s.what;
  std::vector<std::string> warnings;
  // Of the fusion, then of each system alone.
  const std::size_t columns = 1 + s.runs.size();
  std::vector<std::vector<double>> llr(columns, std::vector<double>(s.failed.size(), 0));
  const auto fuse_rows = [&](const Systems& from, std::int32_t fold) {
    const std::vector<std::size_t> rows = usable(from, trained_on.empty() ? fold : -1);
    for (std::size_t c = 0; c < columns; ++c) {
      const auto system = static_cast<std::int64_t>(c) - 1;
      const LogisticFusion fusion = fit(from, rows, system, options.prior);
      for (std::size_t k = 0; k < s.failed.size(); ++k)
        if (!s.failed[k] && (fold < 0 || list.fold[k] == fold))
          llr[c][k] = apply(fusion, s, k, system);
      if (c == 0) report.fusions.push_back(fusion);
    }
  };
  if (trained_on.empty()) {
    if (list.fold.empty())
      throw std::invalid_argument(fmt::format(
          "track {} has no folds to be trained on; give runs of the same systems on another list "
          "(train, --train): what is reported is never trained on",
          track.name));
    report.trained_on = "other folds";
    for (std::int32_t fold = 0; fold < list.fold_count(); ++fold) {
      job.check();
      fuse_rows(s, fold);
    }
  } else {
    const Systems from = read_systems(trained_on, options, job);
    refuse_tested(s, from, options, trained_on.front(), warnings);
    report.trained_on = "runs";
    fuse_rows(from, -1);
  }

  TrialSet trials = s.first().trials;
  trials.tracks = {track};
  report.result = evaluate_scores(std::move(trials), llr[0], s.status, s.first().options, job);
  Result& r = report.result;
  r.score = "fusion";
  take_lists(read_run(runs.front(), job), r);
  Json weights = Json::array(), systems = Json::array();
  for (const LogisticFusion& f : report.fusions) weights.push_back(fusion_json(f));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    r.inputs.push_back({"fused", runs[i] / "scores.h5", sha256_file(runs[i] / "scores.h5", job)});
    systems.push_back(s.names[i]);
  }
  for (const fs::path& run : trained_on)
    r.inputs.push_back({"train", run / "scores.h5", sha256_file(run / "scores.h5", job)});
  for (const fs::path& table : {options.quality, options.groups})
    if (!table.empty()) r.inputs.push_back({"side", table, sha256_file(table, job)});
  r.backend = {{"spec", fmt::format("fusion of {} systems", runs.size())},
               {"systems", systems},
               {"inputs", s.what},
               {"prior", options.prior},
               {"trained_on", report.trained_on},
               {"fusions", weights}};
  r.notes.push_back(fmt::format(
      "The scores are natural-logarithm likelihood ratios: a logistic regression of {}, trained on "
      "{}.",
      fmt::join(s.what, ", "),
      trained_on.empty() ? "the other folds, without anyone of the fold"
                         : "runs of the same systems on another list"));
  r.warnings.insert(r.warnings.begin(), warnings.begin(), warnings.end());

  // What the fusion gains, on the same draws of people.
  std::vector<std::size_t> rows;
  for (std::size_t k = 0; k < s.failed.size(); ++k)
    if (!s.failed[k]) rows.push_back(k);
  std::vector<std::int32_t> people[2];
  for (const std::size_t k : rows) {
    people[0].push_back(s.person(list.comparisons[k].first));
    people[1].push_back(s.person(list.comparisons[k].second));
  }
  const ComparisonGraph graph{people[0], people[1], {}};
  const Bootstrap bootstrap(graph, Resampling::dyadic);
  const BootstrapOptions how{options.replicates, options.level, options.seed};
  std::vector<std::shared_ptr<const Comparisons>> measured;
  std::vector<std::uint8_t> labels;
  for (const std::size_t k : rows) labels.push_back(s.genuine[k]);
  for (const std::vector<double>& all : llr) {
    std::vector<double> scores;
    for (const std::size_t k : rows) scores.push_back(all[k]);
    measured.push_back(std::make_shared<const Comparisons>(scores, labels));
  }
  report.cllr = cllr(*measured[0]);
  report.min_cllr = min_cllr(measured[0]->roc({}));
  const std::vector<Statistic> of_fusion = {cllr_statistic(measured[0]),
                                            min_cllr_statistic(measured[0])};
  RunScores fused;
  static_cast<ScoredTrials&>(fused) = r;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& alone = measured[i + 1];
    FusedSystem system{s.names[i], cllr(*alone), min_cllr(alone->roc({}))};
    const std::vector<Statistic> statistics = {cllr_statistic(alone), min_cllr_statistic(alone)};
    const auto paired = compare_paired(bootstrap, of_fusion, bootstrap, statistics, how, job);
    system.less_cllr = paired[0];
    system.less_min_cllr = paired[1];
    for (const TrackPairs& pair : track_pairs(fused, s.runs[i]))
      if (pair.track == track.name)
        system.less = compare_track(fused, s.runs[i], pair, r.spec, r.options, how, job).numbers;
    report.systems.push_back(std::move(system));
  }
  return report;
}

Json fusion_report_json(const FusionReport& report) {
  Json systems = Json::array(), fusions = Json::array();
  for (const LogisticFusion& f : report.fusions) fusions.push_back(fusion_json(f));
  for (const FusedSystem& system : report.systems) {
    Json less = {{"cllr", paired_json(system.less_cllr)},
                 {"min_cllr", paired_json(system.less_min_cllr)}};
    for (const auto& [key, paired] : system.less) less[text_of(key)] = paired_json(paired);
    systems.push_back({{"name", system.name},
                       {"cllr", system.cllr},
                       {"min_cllr", system.min_cllr},
                       {"less", less}});
  }
  return {{"protocol", report.protocol}, {"track", report.track}, {"trained_on", report.trained_on},
          {"inputs", report.inputs},     {"fusions", fusions},    {"cllr", report.cllr},
          {"min_cllr", report.min_cllr}, {"systems", systems}};
}

}  // namespace facebench

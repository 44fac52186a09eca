#include "facebench/training/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/datasets/image_rows.h"
#include "facebench/datasets/pack.h"
#include "facebench/embedding/extractor.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/evaluation/metric.h"
#include "facebench/trials/scoring.h"

namespace facebench {
namespace {

const TrackResult& judged_track(const Result& result, const std::optional<std::string>& wanted) {
  if (wanted) return result.track(*wanted);
  const TrackResult& last = result.tracks.back();
  return last.kind == "summary" ? last : result.tracks.front();
}

}  // namespace

void ValidationOptions::describe(OptionsBuilder<ValidationOptions>& o) {
  o.name("ValidationOptions", "Which number judges a model while it is trained.");
  o.field("metric", &ValidationOptions::metric,
          "as it stands in metrics.json, e.g. tar@far=0.001; default: the track's first");
  o.field(
      "track", &ValidationOptions::track,
      "track of the protocol; default: the mean over tracks where there is one, else the first");
  o.field("every", &ValidationOptions::every, "epochs between validations", 1, 1e6);
  o.field("steps", &ValidationOptions::steps,
          "steps between further ones, which are logged and shown and choose no model", 1, 1e12);
}

Validation::Validation(ProtocolSpec spec, TrialSet trials,
                       std::shared_ptr<const ImageSource> images, std::string images_hash,
                       const ValidationOptions& options)
    : spec_(std::move(spec)),
      trials_(std::move(trials)),
      images_(std::move(images)),
      images_hash_(std::move(images_hash)),
      options_(options),
      rows_(listed_rows()) {
  check_options(options_);
  // A metric that the protocol's tables do not show can judge, too.
  const Metric* metric = options_.metric ? protocol_metrics().find(*options_.metric) : nullptr;
  if (metric && !metric->takes_targets &&
      std::none_of(spec_.metrics.begin(), spec_.metrics.end(),
                   [&](const MetricRequest& m) { return m.name == options_.metric; }))
    spec_.metrics.push_back({*options_.metric, {}, ""});
  trials_ = under(spec_, std::move(trials_));
}

// In the source's order, so that neither batches nor messages depend on the lists' order.
std::vector<std::int64_t> Validation::listed_rows() const {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < images_->size(); ++i) names.push_back(sample_id(*images_, i));
  std::vector<std::int64_t> rows = match_names(trials_.names, names, spec_.match);
  std::erase(rows, -1);
  std::ranges::sort(rows);
  return rows;
}

Validation open_validation(const std::string& protocol, const DataPlaces& places,
                           const std::filesystem::path& pack, const ValidationOptions& options) {
  ProtocolSpec spec = load_protocol(protocol);
  TrialSet trials = read_trials(spec, places);
  auto images = std::make_shared<const Pack>(pack);
  std::string hash = text_at(images->manifest(), "/tree_sha256");
  return {std::move(spec), std::move(trials), std::move(images), std::move(hash), options};
}

ValidationValue Validation::operator()(const BatchModel& model, const Job& job) const {
  EvaluationOptions evaluation;
  evaluation.replicates = 200;
  evaluation.allow_missing = true;  // what the images lack is told by failed_enrolments
  const Result result =
      evaluate(trials_, extract(model, ImageRows(*images_, rows_), {}, job), evaluation, job);
  const TrackResult& track = judged_track(result, options_.track);
  if (track.numbers.empty()) fail(spec_.id, "track " + track.name + " has no metrics");
  const Number& number = options_.metric ? track.number(*options_.metric) : track.numbers.front();
  if (number.matrix)
    throw std::invalid_argument(
        fmt::format("validation: {} is a matrix; name a metric that is one number", number.name));
  if (!std::isfinite(number.value))
    fail(spec_.id, fmt::format("{} of track {} is undefined", number.name, track.name),
         "Validate on another metric, or see that the images fit the lists");
  const Metric* metric = metric_of_number(number.name).metric;
  return {track.name,
          number.name,
          number.value,
          metric && metric->lower_is_better ? -number.value : number.value,
          static_cast<std::int64_t>(track.failed.size()),
          number.interval};
}

Json Validation::description() const {
  Json lists = Json::array();
  for (const TrialList& list : trials_.lists) lists.push_back(list.sha256);
  // Unset is "" here, as it was before options could be unset: hashes of older runs stay valid.
  Json json = {{"metric", options_.metric.value_or("")},
               {"track", options_.track.value_or("")},
               {"every", options_.every}};
  if (options_.steps) json["steps"] = *options_.steps;
  json["protocol"] = {{"id", spec_.id}, {"sha256", spec_.sha256}};
  json["lists"] = std::move(lists);
  json["images"] = images_hash_;
  return json;
}

}  // namespace facebench

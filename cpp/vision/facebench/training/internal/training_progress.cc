#include "facebench/training/internal/training_progress.h"

namespace facebench {
namespace {

Json json_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

std::optional<double> number_or_nothing(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

}  // namespace

bool TrainingProgress::judge(double score, std::int64_t epoch, std::int64_t patience,
                             double min_delta) {
  if (!mark_ || score > *mark_ + min_delta) {
    mark_ = score;
    mark_epoch_ = epoch;
  }
  stopped = patience > 0 && epoch - mark_epoch_ >= patience;
  if (best && score <= *best) return false;
  best = score;
  best_epoch = epoch;
  return true;
}

void TrainingProgress::goes_on_with(std::int64_t count) {
  if (processes.empty() || processes.back().second != count)
    processes.emplace_back(iteration, count);
}

Json json_of(const TrainingProgress::Epoch& epoch) {
  return {{"iteration", epoch.iteration},
          {"loss", epoch.loss},
          {"accuracy", epoch.accuracy},
          {"score", json_or_null(epoch.score)}};
}

Json TrainingProgress::json() const {
  Json history = Json::array();
  for (const Epoch& e : epochs) history.push_back(json_of(e));
  Json json = {{"epochs", std::move(history)}, {"epoch_sums", epoch_sums.json()},
               {"log_sums", log_sums.json()},  {"best", json_or_null(best)},
               {"best_epoch", best_epoch},     {"stopped", stopped},
               {"mark", json_or_null(mark_)},  {"mark_epoch", mark_epoch_},
               {"processes", processes}};
  if (!notes.empty()) json["notes"] = notes;
  return json;
}

TrainingProgress TrainingProgress::from_json(const Json& json, std::int64_t iteration) {
  TrainingProgress p;
  p.iteration = iteration;
  for (const Json& e : json.at("epochs"))
    p.epochs.push_back({e.at("iteration").get<std::int64_t>(), e.at("loss").get<double>(),
                        e.at("accuracy").get<double>(), number_or_nothing(e.at("score"))});
  p.epoch_sums.set(json.at("epoch_sums"));
  p.log_sums.set(json.at("log_sums"));
  p.best = number_or_nothing(json.at("best"));
  p.best_epoch = json.at("best_epoch").get<std::int64_t>();
  p.stopped = json.at("stopped").get<bool>();
  json.at("processes").get_to(p.processes);
  if (json.contains("notes")) json["notes"].get_to(p.notes);
  p.mark_ = number_or_nothing(json.at("mark"));
  p.mark_epoch_ = json.at("mark_epoch").get<std::int64_t>();
  return p;
}

}  // namespace facebench

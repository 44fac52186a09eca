#include "facebench/training/training_loop.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "facebench/training/internal/decodable_images.h"
#include "facebench/training/internal/shared_images.h"
#include "facebench/training/internal/training_checks.h"
#include "facebench/training/internal/training_record.h"
#include "facebench/training/schedule.h"

namespace facebench {

ModelOptions trained_model_options(const Recipe& recipe, const TrainingSet& data) {
  ModelOptions options;
  set_model_input(recipe.input, data.images->shape(), options);
  for (const char* key : {"detector", "detector_mode", "selection", "crop"})
    if (data.preparation.contains(key))
      set_option(options, key, option_of_json(key, data.preparation.at(key)));
  return options;
}

std::unique_ptr<Sampler> make_sampler(const TrainingOptions& training,
                                      const TrainingClasses& classes) {
  return samplers()
      .at(training.sampler)
      .make({classes.samples, classes.labels, training.seed, training.batch,
             parse_last_batch(training.last_batch), training.images_per_person});
}

TrainingLoop::TrainingLoop(Recipe recipe, OpenedTrainingSet data)
    : recipe_(std::move(recipe)),
      data_(std::move(data)),
      decodable_(std::make_unique<DecodableImages>(data_.set, std::filesystem::path(), std::nullopt,
                                                   Job{}, alone_)),
      classes_(training_classes(decodable_->set())),
      sampler_(make_sampler(recipe_.training, classes_)),
      learner_(recipe_, trained_model_options(recipe_, decodable_->set()),
               decodable_->set().images->shape(), classes_.count, at::kCPU, alone_),
      iterations_(recipe_.training.iterations > 0 ? recipe_.training.iterations
                                                  : sampler_->iterations(recipe_.training.epochs)),
      loader_(std::make_unique<BatchLoader>(
          *decodable_->set().images, classes_.labels, *sampler_,
          BatchLoader::Settings{.augmentation = recipe_.augmentation,
                                .input = learner_.network().input_view(),
                                .scale = make_pixel_input(recipe_.input),
                                .seed = recipe_.training.seed,
                                .channels_last = false},
          0, iterations_)) {
  if (!recipe_.training.freeze.empty())
    throw std::invalid_argument("training.freeze is for facebench's own trainer");
  notes_ = check_plan(plan());
  if (!recipe_.batch_scaling.is_null())
    notes_.insert(notes_.begin(), recipe_.batch_scaling.at("said").get<std::string>());
  if (std::string note = decodable_->note(); !note.empty())
    notes_.insert(notes_.begin(), std::move(note));
  if (std::string shared =
          images_of_several_people(decodable_->set(), classes_, decodable_->hashes());
      !shared.empty())
    notes_.push_back(std::move(shared));
  const std::vector<std::string>& said = decodable_->set().notes;
  notes_.insert(notes_.begin(), said.begin(), said.end());
}

TrainingLoop::~TrainingLoop() = default;

PlannedTraining TrainingLoop::plan() const {
  return {recipe_, classes_, *sampler_, iterations_, 1, learner_.network(), learner_.head(), false};
}

std::vector<std::string> TrainingLoop::signs(const std::vector<double>& losses) const {
  if (losses.empty()) return {};
  const auto epoch = static_cast<std::size_t>(std::max(1.0, std::round(iterations_per_epoch())));
  const std::size_t last = std::min(epoch, losses.size());
  TrainingCourse course;
  course.first_loss = losses.front();
  course.last_loss =
      std::accumulate(losses.end() - static_cast<std::ptrdiff_t>(last), losses.end(), 0.0) /
      static_cast<double>(last);
  course.ever_a_loss = std::ranges::any_of(losses, [](double loss) { return loss != 0; });
  return signs_of_no_learning(plan(), course);
}

double TrainingLoop::learning_rate(std::int64_t iteration) const {
  return facebench::learning_rate(recipe_.optimizer.lr, recipe_.schedule,
                                  {iteration, iterations_, sampler_->iterations_per_epoch()});
}

std::map<std::string, ParameterRule> TrainingLoop::rules() const {
  std::map<std::string, ParameterRule> result;
  for (const TrainedParameter& p : learner_.network().parameters()) {
    ParameterRule& rule = result["network." + p.name];
    rule = parameter_rule(recipe_.optimizer, p.kind);
    rule.lr_mult *= recipe_.optimizer.backbone_lr_scale;
  }
  for (const PartialTensor& p : learner_.head().parameters())
    result["head." + p.name] = parameter_rule(
        recipe_.optimizer, p.tensor.dim() <= 1 ? ParameterKind::bias : ParameterKind::weight);
  return result;
}

void TrainingLoop::save(const std::filesystem::path& model, const Json& trained_by) const {
  if (!trained_by.is_null())
    learner_.network().set_training(
        "", training_record(recipe_, decodable_->set(), classes_, {},
                            training_set_hash(decodable_->set()), trained_by));
  learner_.snapshot()->save(model);
}

std::vector<NamedTensor> TrainingLoop::tensors() const {
  std::vector<NamedTensor> result;
  for (const PartialTensor& t : learner_.state())
    if (t.name.starts_with("network.") || t.name.starts_with("head."))
      result.push_back({t.name, t.tensor});
  return result;
}

}  // namespace facebench

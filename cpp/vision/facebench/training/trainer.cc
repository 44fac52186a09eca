#include "facebench/training/trainer.h"

#include <ATen/DeviceGuard.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/core/memory.h"
#include "facebench/embedding/extractor.h"
#include "facebench/io/manifest.h"
#include "facebench/io/sha256.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/torch_device.h"
#include "facebench/training/batch_loader.h"
#include "facebench/training/checkpoint.h"
#include "facebench/training/internal/arithmetic.h"
#include "facebench/training/internal/decodable_images.h"
#include "facebench/training/internal/finished_training.h"
#include "facebench/training/internal/shared_images.h"
#include "facebench/training/internal/shared_values.h"
#include "facebench/training/internal/training_checks.h"
#include "facebench/training/internal/training_folder.h"
#include "facebench/training/internal/training_log.h"
#include "facebench/training/internal/training_progress.h"
#include "facebench/training/internal/training_record.h"
#include "facebench/training/internal/weight_sample.h"
#include "facebench/training/training_loop.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// So that a training of few steps shows curves, too.
constexpr std::int64_t kFirstLogged = 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Learner::OwnMakers own_makers(const TrainCallbacks& callbacks) {
  Learner::OwnMakers makers{};
  if (callbacks.network) makers.network = callbacks.network->make;
  if (callbacks.loss) makers.head = callbacks.loss->make;
  if (callbacks.first) makers.first = &*callbacks.first;
  return makers;
}

// One training: what goes on from step to step, and its files.
class Trainer {
 public:
  Trainer(const Recipe& recipe, const DecodableImages& images, const fs::path& out,
          const TrainOptions& options, const TrainCallbacks& callbacks, Communicator& communicator,
          int threads, at::Device device, const std::optional<FinishedTraining>& extended)
      : recipe_(recipe),
        data_(images.set()),
        out_(out),
        options_(options),
        callbacks_(callbacks),
        communicator_(communicator),
        classes_(training_classes(data_)),
        sampler_(make_sampler(recipe.training, classes_)),
        learner_(recipe, trained_model_options(recipe, data_), data_.images->shape(),
                 classes_.count, device, communicator, own_makers(callbacks)),
        split_(recipe.training.split_classes),
        extended_(extended) {
    total_ = recipe.training.iterations > 0 ? recipe.training.iterations
                                            : sampler_->iterations(recipe.training.epochs);
    notes_ = check_plan(plan());
    if (const std::string note = images.note(); !note.empty()) notes_.insert(notes_.begin(), note);
    if (writes())
      if (std::string shared = images_of_several_people(data_, classes_, images.hashes());
          !shared.empty())
        notes_.push_back(std::move(shared));
    notes_.insert(notes_.begin(), data_.notes.begin(), data_.notes.end());
    if (!recipe.batch_scaling.is_null())
      notes_.insert(notes_.begin(), recipe.batch_scaling.at("said").get<std::string>());
    if (recipe.training.patience > 0 && writes() && !callbacks.on_epoch && !callbacks.validation)
      throw std::invalid_argument(
          "patience needs a score: give a validation, or an on_epoch that "
          "returns one");
    identity_ = training_identity(recipe, data_, classes_, options, callbacks, communicator.size(),
                                  threads, device);
    if (!images.undecodable().empty()) identity_["undecodable"] = images.undecodable();
    if (callbacks.first) {
      begun_with_ = callbacks.first->source;
      begun_with_.update(learner_.taken()->json());
      if (!learner_.taken()->complete())
        notes_.push_back(learner_.taken()->sentence(callbacks.first->where));
    } else if (callbacks.network && callbacks.network->description.contains("weights_sha256")) {
      begun_with_ = callbacks.network->description;
    } else if (extended) {
      begun_with_ = extended->record();
    }
    if (!begun_with_.is_null()) {
      identity_["begun_with"] = begun_with_;
      identity_["begun_with"].erase("file");  // its hash counts, not what it is called
    }
    training_run_ = sha256_hex(canonical_json(identity_));
    Json record = training_record(
        recipe, data_, classes_, callbacks, identity_["data"].get<std::string>(),
        {{"engine", "facebench"}, {"device", identity_["device"]}, {"torch", identity_["torch"]}});
    if (!begun_with_.is_null()) record["begun_with"] = begun_with_;
    learner_.network().set_training(training_run_, record);
  }

  // Every process starts with what rank 0 reads from the file, or without one with its fresh
  // weights; of split tensors it reads its own rows.
  void resume_from(const std::optional<fs::path>& checkpoint) {
    TrainingState state;
    state.iteration = -1;
    state.progress = progress_.json();
    if (checkpoint) {
      // Batches, and classes that are split, are shared out anew; run.json says so.
      const std::string may_differ[] = {"processes"};
      state = read_checkpoint(*checkpoint, identity_, learner_.state(), may_differ);
    } else if (extended_) {
      if (std::string note = extended_->load(identity_, learner_.state()); !note.empty())
        notes_.push_back(std::move(note));
    }
    if (communicator_.size() > 1) {
      state.iteration = shared_number(communicator_, state.iteration);
      state.progress = Json::parse(shared_text(communicator_, canonical_json(state.progress)));
      state.parts = Json::parse(shared_text(communicator_, canonical_json(state.parts)));
      std::vector<at::Tensor> tensors;
      for (const PartialTensor& t : learner_.state())
        if (!t.split()) tensors.push_back(t.tensor.detach());
      communicator_.broadcast(tensors, 0);
    }
    saved_ = state.iteration;
    try {
      if (saved_ >= 0 && split_)
        read_checkpoint_parts(out_ / "checkpoints", state.parts, learner_.state());
      progress_ = TrainingProgress::from_json(state.progress, std::max<std::int64_t>(saved_, 0));
      progress_.goes_on_with(communicator_.size());
      notes_.insert(notes_.end(), progress_.notes.begin(), progress_.notes.end());
    } catch (const Json::exception& error) {
      fail(checkpoint ? checkpoint->string() : "rank 0",
           std::string("the checkpoint's state is incomplete: ") + error.what());
    }
  }

  TrainResult run(const Job& job) {
    const at::AutoGradMode gradients(true);
    const std::int64_t started_at = progress_.iteration;
    const Clock::time_point start = Clock::now();
    if (split_) tell_memory();
    if (writes()) {
      log_.emplace(out_ / "log.jsonl", started_at);
      for (const std::string& note : notes_) tell(note);
      if (started_at == 0) first_weights_.emplace(learner_.parameters());
    }
    {
      BatchLoader loader(
          *data_.images, classes_.labels, *sampler_,
          {recipe_.augmentation, learner_.network().input_view(), make_pixel_input(recipe_.input),
           recipe_.training.seed, recipe_.training.channels_last, communicator_.rank(),
           communicator_.size(), options_.data_threads},
          started_at, total_);
      Stage stage(job, "training", total_, "steps");
      log_time_ = start;
      images_before_ = progress_.log_sums.images;
      try {
        stage.update(started_at);
        if (writes() && !data_.excluded.is_null() && started_at == 0)
          log_->write({{"iteration", 0}, {"excluded", data_.excluded}});
        if (writes() && callbacks_.validation && started_at == 0)
          log_validation(validate(*learner_.snapshot(), job));
        // The last run may have been stopped while it reported an epoch.
        if (epochs_done() > progress_.reported()) end_epoch(job);
        validate_step(job);
        while (going_on()) {
          step(loader);
          if (epochs_done() > progress_.reported()) end_epoch(job);
          validate_step(job);
          if (options_.checkpoint_every && progress_.iteration % *options_.checkpoint_every == 0)
            save();
          stage.update(progress_.iteration, note_ + validation_note_);
        }
      } catch (...) {
        // Between two steps everything is whole: nothing done so far is lost. (Within a step only
        // a loss that is not finite, running out of memory or an unreadable image can end here;
        // the tensors may then be ahead of the counter, and the last checkpoint stands.)
        // Parts of a split head are written by all processes together, which only the ends of
        // steps that all of them reach allow.
        if (!in_step_ && !diverged_ && (!split_ || communicator_.size() == 1)) save();
        throw;
      }
    }
    save();

    const double seconds = seconds_since(start);
    const TrainingProgress::Epoch last =
        progress_.epochs.empty() ? TrainingProgress::Epoch{} : progress_.epochs.back();
    TrainResult result;
    result.model = out_ / "model.safetensors";
    result.iterations = progress_.iteration;
    result.epochs = progress_.reported();
    result.classes = classes_.count;
    result.images = images();
    if (!data_.excluded.is_null()) result.excluded = data_.excluded.at("images");
    result.loss = last.loss;
    result.accuracy = last.accuracy;
    result.begun_with = begun_with_;
    result.best_score = progress_.best;
    result.best_epoch = progress_.best_epoch;
    result.stopped_early = progress_.stopped;
    result.images_per_second =
        static_cast<double>((progress_.iteration - started_at) * recipe_.training.batch) / seconds;
    if (writes()) {
      const std::vector<std::string> signs = signs_of_no_learning(plan(), course(last));
      notes_.insert(notes_.end(), signs.begin(), signs.end());
      result.notes = notes_;
      finish(result, started_at, seconds);
      for (const std::string& sign : signs) tell(sign);
    }
    communicator_.barrier();
    return result;
  }

 private:
  bool writes() const { return communicator_.rank() == 0; }
  std::int64_t images() const { return static_cast<std::int64_t>(classes_.samples.size()); }
  bool going_on() const { return progress_.iteration < total_ && !progress_.stopped; }

  PlannedTraining plan() {
    return {recipe_,
            classes_,
            *sampler_,
            total_,
            communicator_.size(),
            learner_.network(),
            learner_.head(),
            callbacks_.loss.has_value()};
  }

  void tell(const std::string& note) const {
    if (callbacks_.on_note) callbacks_.on_note(note);
  }

  TrainingCourse course(const TrainingProgress::Epoch& last) const {
    TrainingCourse course = log_->course();
    course.last_images = std::min(images(), progress_.iteration * recipe_.training.batch);
    if (progress_.epochs.size() > 1) {
      course.last_loss = last.loss;
      course.last_accuracy = last.accuracy;
    }
    // A loss of the caller's may come without logits.
    if (callbacks_.loss && course.last_accuracy == 0.0) course.last_accuracy.reset();
    if (gradient_norm_.contains("value") && gradient_norm_["value"].is_number())
      course.gradient_norm = gradient_norm_["value"].get<double>();
    course.feature_spread = feature_spread_;
    return course;
  }

  void tell_memory() const {
    const HeadMemory memory =
        head_memory(learner_.head(), recipe_.training.batch, recipe_.optimizer.moments(),
                    learner_.updates_in_backward());
    const at::Tensor numbers =
        at::tensor({memory.first_class, memory.classes, memory.parameters, memory.momentum,
                    memory.gradients, memory.logits, memory.features},
                   at::TensorOptions(at::kLong));
    std::vector<HeadMemory> all;
    for (const at::Tensor& t : communicator_.all_gather(numbers)) {
      const at::Tensor told = t.contiguous();
      const std::int64_t* v = told.const_data_ptr<std::int64_t>();
      all.push_back({v[0], v[1], v[2], v[3], v[4], v[5], v[6]});
    }
    if (writes() && callbacks_.on_start) callbacks_.on_start(all);
  }

  std::int64_t epochs_done() const {
    return progress_.iteration == total_ ? sampler_->epoch(total_ - 1) + 1
                                         : sampler_->epoch(progress_.iteration);
  }

  void step(BatchLoader& loader) {
    if (callbacks_.on_phase) callbacks_.on_phase(StepPhase::data);
    const Batch batch = loader.next();
    const std::int64_t iteration = progress_.iteration;
    lr_ = learning_rate(recipe_.optimizer.lr, recipe_.schedule,
                        {iteration, total_, sampler_->iterations_per_epoch()});
    in_step_ = true;
    const bool logged = (iteration + 1) % options_.log_every == 0 || iteration + 1 == total_ ||
                        (iteration < kFirstLogged && options_.log_every <= kFirstLogged);
    const Learner::Step done = learner_.step(batch, sampler_->batch_size(iteration), iteration, lr_,
                                             logged, callbacks_.on_phase);
    if (!done.finite) diverged(fmt::format("the loss is not finite in step {}", iteration + 1));
    last_loss_ = done.sums.mean_loss();
    if (done.observed)
      gradient_norm_ = {{"iteration", iteration + 1},
                        {"value", number_or_null(done.observed->gradient_norm)}};
    progress_.epoch_sums.add(done.sums);
    progress_.log_sums.add(done.sums);
    ++progress_.iteration;
    in_step_ = false;
    if (done.observed) feature_spread_ = done.observed->spread;
    look_at_weights();
    if (logged) log(*done.observed);
    if (callbacks_.on_step)
      callbacks_.on_step({progress_.iteration, total_, done.sums.mean_loss(), done.sums.accuracy(),
                          lr_, done.gradient_norm});
  }

  // Once, when the first steps are made; a warm-up's first steps may be still.
  void look_at_weights() {
    if (!first_weights_) return;
    const bool last = progress_.iteration == total_;
    if (!last && (progress_.iteration < kFirstLogged || lr_ < 0.01 * recipe_.optimizer.lr)) return;
    const std::string sign =
        sign_of_stillness(plan(), first_weights_->moved(), progress_.iteration, lr_);
    first_weights_.reset();
    if (sign.empty()) return;
    progress_.notes.push_back(sign);
    notes_.push_back(sign);
    tell(sign);
  }

  // Says so in the log too. `what` ends without a stop.
  [[noreturn]] void diverged(const std::string& what) {
    diverged_ = true;
    const NonFinite bad = learner_.non_finite();
    const auto known = [](const Json& number) {
      return number.is_number() ? fmt::format("{:.4g}", number.get<double>()) : "not finite";
    };
    std::string seen = fmt::format("rate {:.4g}", lr_);
    if (last_loss_) seen += fmt::format(", loss of the step before {:.4g}", *last_loss_);
    if (!gradient_norm_.is_null())
      seen += fmt::format(", gradient norm {} in step {}", known(gradient_norm_["value"]),
                          gradient_norm_["iteration"].get<std::int64_t>());
    seen += fmt::format("; not finite: {:.3g} % of the weights, {:.3g} % of the gradients",
                        100 * bad.weights, 100 * bad.gradients);
    if (log_) {
      log_->write({{"iteration", progress_.iteration + 1},
                   {"diverged", what},
                   {"lr", lr_},
                   {"last_loss", last_loss_ ? Json(*last_loss_) : Json()},
                   {"gradient_norm", gradient_norm_},
                   {"non_finite_weights", bad.weights},
                   {"non_finite_gradients", bad.gradients}});
      if (callbacks_.on_checkpoint) callbacks_.on_checkpoint();
    }
    const std::string kept = saved_ > 0 ? fmt::format("The checkpoint of step {} is kept", saved_)
                                        : std::string("There was no checkpoint yet");
    fail(out_.string(), fmt::format("the training diverged: {} ({})", what, seen),
         kept +
             ". Train anew in another folder with a lower rate (optimizer.lr), a warm-up "
             "(schedule.warmup) or clipped gradients (optimizer.clip_norm)");
  }

  // The validation that falls due after a number of steps, where the epoch's was not made here.
  void validate_step(const Job& job) {
    if (!writes() || !callbacks_.validation || !callbacks_.validation->steps() ||
        progress_.iteration == 0 || progress_.iteration % *callbacks_.validation->steps() != 0 ||
        log_->validated() == progress_.iteration)
      return;
    log_validation(validate(*learner_.snapshot(), job));
  }

  void end_epoch(const Job& job) {
    EpochReport report{epochs_done(),
                       sampler_->epoch(total_ - 1) + 1,
                       progress_.iteration,
                       progress_.epoch_sums.mean_loss(),
                       progress_.epoch_sums.accuracy(),
                       lr_,
                       std::nullopt};
    std::optional<double> score;
    if (writes() && (callbacks_.on_epoch || callbacks_.validation)) {
      const std::unique_ptr<TrainedModel> model = learner_.snapshot();
      if (callbacks_.validation &&
          (report.epoch % callbacks_.validation->every() == 0 || progress_.iteration == total_)) {
        report.validation = validate(*model, job);
        score = report.validation->score;
      }
      if (callbacks_.on_epoch)
        if (const std::optional<double> callers_score = callbacks_.on_epoch(report, *model))
          score = callers_score;
      if (report.validation) log_validation(*report.validation);
      if (score && progress_.judge(*score, report.epoch, recipe_.training.patience,
                                   recipe_.training.min_delta))
        model->save(out_ / "best.safetensors");
    }
    if (recipe_.training.patience > 0)
      progress_.stopped = shared_number(communicator_, progress_.stopped) != 0;
    progress_.epochs.push_back({report.iteration, report.loss, report.accuracy, score});
    progress_.epoch_sums = {};
    if (!options_.checkpoint_every) save();
  }

  ValidationValue validate(const TrainedModel& model, const Job& job) const {
    Job validation_job;  // its stages would interrupt the progress display of the training
    validation_job.threads = at::get_num_threads();
    validation_job.poll = job.poll;
    return (*callbacks_.validation)(*model.batch_model(kMicroBatch), validation_job);
  }

  void log_validation(const ValidationValue& v) {
    Json line = {{"iteration", progress_.iteration},
                 {"epoch", epochs_done()},
                 {"track", v.track},
                 {"metric", v.metric},
                 {"value", v.value},
                 {"failed_enrolments", v.failed_enrolments}};
    if (v.interval && std::isfinite(v.interval->low) && std::isfinite(v.interval->high)) {
      line["low"] = v.interval->low;
      line["high"] = v.interval->high;
    }
    log_->write(line);
    validation_note_ = fmt::format(", {} {:.4g}", v.metric, v.value);
  }

  // Collective where classes are split.
  void save() {
    if (saved_ == progress_.iteration || (!writes() && !split_)) return;
    if (const auto bad = learner_.non_finite(); anywhere(bad.weights > 0))
      diverged(fmt::format("weights are not finite after step {}", progress_.iteration));
    const fs::path folder = out_ / "checkpoints";
    TrainingState state{progress_.iteration, identity_, progress_.json()};
    const std::vector<PartialTensor> tensors = learner_.state();
    if (split_) {
      const Json part = write_checkpoint_part(folder, progress_.iteration, communicator_.rank(),
                                              communicator_.size(), tensors);
      for (const std::string& text : gathered_texts(communicator_, canonical_json(part)))
        state.parts.push_back(Json::parse(text));
    }
    saved_ = progress_.iteration;
    if (!writes()) return;
    write_checkpoint(checkpoint_path(folder, progress_.iteration), state, tensors);
    remove_old_checkpoints(folder, options_.keep);
    if (callbacks_.on_checkpoint) callbacks_.on_checkpoint();
  }

  // Collective where classes are split.
  bool anywhere(bool here) const {
    if (!split_) return here;
    at::Tensor count = at::full({1}, here ? 1 : 0, at::TensorOptions(at::kLong));
    communicator_.all_reduce(std::span(&count, 1));
    return count.item<std::int64_t>() > 0;
  }

  void log(const Observation& observed) {
    const TrainingSums& sums = progress_.log_sums;
    // After a resume the sums hold images of the run before, too.
    const auto images = static_cast<double>(sums.images - images_before_);
    const double rate = images / std::max(seconds_since(log_time_), 1e-9);
    const std::int64_t memory = resident_memory();
    note_ = fmt::format("loss {:.3f}, accuracy {:.3f}, rate {:.3g}, {:.0f} images/s, {:.0f} MB",
                        sums.mean_loss(), sums.accuracy(), lr_, rate,
                        static_cast<double>(memory) / 1e6);
    const auto left = static_cast<double>((total_ - progress_.iteration) * recipe_.training.batch);
    if (log_) {
      Json line = {
          {"iteration", progress_.iteration},
          {"epoch", static_cast<double>(progress_.iteration) / sampler_->iterations_per_epoch()},
          {"loss", sums.mean_loss()},
          {"accuracy", sums.accuracy()},
          {"lr", lr_},
          {"images_per_second", rate},
          {"seconds_left", left / rate},
          {"memory", memory}};
      line.update(observed.json());
      log_->write(line);
    }
    progress_.log_sums = {};
    images_before_ = 0;
    log_time_ = Clock::now();
  }

  void finish(const TrainResult& result, std::int64_t started_at, double seconds) {
    learner_.snapshot()->save(result.model);
    Json epochs = Json::array();
    for (const TrainingProgress::Epoch& e : progress_.epochs) epochs.push_back(json_of(e));
    Manifest manifest;
    manifest.content = identity_;
    manifest.content["kind"] = "training";
    manifest.content["training_run"] = training_run_;
    manifest.content.update(trained_content(data_));
    manifest.content["recipe_id"] = recipe_.id;
    if (!begun_with_.is_null()) manifest.content["begun_with"] = begun_with_;
    manifest.content["preparation"] = data_.preparation;
    if (!data_.archive.is_null()) manifest.content["archive"] = data_.archive;
    manifest.content["result"] = {{"model_sha256", sha256_file(result.model)},
                                  {"iterations", result.iterations},
                                  {"epochs", std::move(epochs)},
                                  {"loss", result.loss},
                                  {"accuracy", result.accuracy},
                                  {"best_score", progress_.best ? Json(*progress_.best) : Json()},
                                  {"best_epoch", result.best_epoch},
                                  {"stopped_early", result.stopped_early}};
    if (!notes_.empty()) manifest.content["notes"] = notes_;
    if (progress_.processes.size() > 1)
      manifest.content["processes_by_step"] = progress_.json().at("processes");
    manifest.circumstance = circumstance_of_this_process();
    manifest.circumstance["device"] = options_.device;
    manifest.circumstance["card"] = device_facts(torch_device(options_.device));
    manifest.circumstance["data_threads"] = options_.data_threads;
    manifest.circumstance["resumed_at"] = started_at;
    manifest.circumstance["seconds"] = seconds;
    manifest.circumstance["images_per_second"] = result.images_per_second;
    write_manifest(out_ / "run.json", manifest);
  }

  const Recipe& recipe_;
  const TrainingSet& data_;
  fs::path out_;
  const TrainOptions& options_;
  const TrainCallbacks& callbacks_;
  Communicator& communicator_;
  TrainingClasses classes_;
  std::unique_ptr<Sampler> sampler_;
  Learner learner_;
  bool split_ = false;  // whether classes are split over processes
  const std::optional<FinishedTraining>& extended_;
  Json begun_with_;  // TrainResult::begun_with
  Json identity_;
  std::string training_run_;  // its hash, which model files name
  std::int64_t total_ = 0;    // steps

  TrainingProgress progress_;
  std::int64_t saved_ = -1;  // iteration of the newest checkpoint
  bool in_step_ = false, diverged_ = false;
  double lr_ = 0;
  Clock::time_point log_time_;
  std::int64_t images_before_ = 0;      // in progress_.log_sums before log_time_
  std::vector<std::string> notes_;      // what was odd, a sentence each
  std::string note_, validation_note_;  // what the progress display says
  std::optional<double> last_loss_;
  Json gradient_norm_;                         // the last that is known, and its iteration
  std::optional<double> feature_spread_;       // the last that is known
  std::optional<WeightSample> first_weights_;  // until it is known whether they move
  std::optional<TrainingLog> log_;
};

}  // namespace

TrainResult train(const Recipe& recipe, const TrainingSet& data, const fs::path& out,
                  const TrainOptions& options, const Job& job, const TrainCallbacks& callbacks) {
  SingleProcess alone;
  return train(recipe, data, out, options, job, callbacks, alone);
}

TrainResult train(const Recipe& recipe, const TrainingSet& data, const fs::path& out,
                  const TrainOptions& options, const Job& job, const TrainCallbacks& callbacks,
                  Communicator& communicator) {
  check_options(options);
  if (callbacks.first && !options.extend.empty())
    throw std::invalid_argument(
        "init gives the network other weights than extend, which goes on with those of a training; "
        "say one of them");
  const at::Device device = torch_device(options.device);
  std::optional<fs::path> checkpoint;
  Json identity = Json::object();  // of the checkpoint
  int threads = options.threads > 0 ? options.threads : available_processors();
  if (communicator.rank() == 0) {
    refuse_folder(out, options.resume);
    if (const auto checkpoints = list_checkpoints(out / "checkpoints"); !checkpoints.empty())
      checkpoint = checkpoints.back();
    if (checkpoint) identity = read_checkpoint_state(*checkpoint).identity;
    if (options.threads == 0 && checkpoint) {
      if (identity.contains("threads") && identity["threads"].is_number_integer())
        threads = std::clamp(identity["threads"].get<int>(), 1, 1024);
    }
  }
  threads = static_cast<int>(shared_number(communicator, threads));
  const ArithmeticSettings settings(threads, options.deterministic);
  const c10::DeviceGuard guard(device);
  const fs::path folder = shared_text(communicator, out.string());  // for parts of checkpoints
  const bool goes_on = shared_number(communicator, checkpoint.has_value()) != 0;
  std::optional<std::set<std::string>> left_out;
  if (goes_on) {
    const Json names = Json::parse(
        shared_text(communicator, canonical_json(identity.value("undecodable", Json::array()))));
    if (!names.is_array() ||
        !std::ranges::all_of(names, [](const Json& n) { return n.is_string(); }))
      fail(checkpoint ? checkpoint->string() : "rank 0", "the checkpoint's state is incomplete");
    left_out = names.get<std::set<std::string>>();
  }
  Job checking = job;
  checking.threads = threads;
  const DecodableImages images(data, folder / "images.txt", left_out, checking, communicator);
  if (const std::string differences = images.differences();
      checkpoint && !differences.empty() &&
      identity.value("data", Json()) != training_set_hash(images.set()))
    fail(checkpoint->string(), "it belongs to other data: " + differences,
         "Put these images back as they were, or train into another folder");
  std::optional<FinishedTraining> extended;
  if (!options.extend.empty() && (communicator.rank() == 0 || recipe.training.split_classes))
    extended.emplace(options.extend);
  Trainer trainer(recipe, images, folder, options, callbacks, communicator, threads, device,
                  extended);
  trainer.resume_from(checkpoint);
  return trainer.run(job);
}

}  // namespace facebench

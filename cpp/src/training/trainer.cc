#include "facebench/training/trainer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/io/manifest.h"
#include "facebench/io/sha256.h"
#include "facebench/nn/head.h"
#include "facebench/training/batch_loader.h"
#include "facebench/training/checkpoint.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// torch's number of threads while a training runs.
class ComputeThreads {
 public:
  explicit ComputeThreads(int threads) : before_(at::get_num_threads()) {
    at::set_num_threads(threads);
  }
  ~ComputeThreads() { at::set_num_threads(before_); }
  ComputeThreads(const ComputeThreads&) = delete;
  ComputeThreads& operator=(const ComputeThreads&) = delete;

 private:
  int before_;
};

// What is reported is summed up over images.
struct Sums {
  double loss = 0;
  std::int64_t correct = 0;
  std::int64_t images = 0;

  double mean_loss() const { return images ? loss / static_cast<double>(images) : 0; }
  double accuracy() const {
    return images ? static_cast<double>(correct) / static_cast<double>(images) : 0;
  }
  void add(double mean, std::int64_t hits, std::int64_t n) {
    loss += mean * static_cast<double>(n);
    correct += hits;
    images += n;
  }
  Json json() const { return {{"loss", loss}, {"correct", correct}, {"images", images}}; }
  void set(const Json& json) {
    loss = json.at("loss").get<double>();
    correct = json.at("correct").get<std::int64_t>();
    images = json.at("images").get<std::int64_t>();
  }
};

ModelOptions trained_model_options(const Recipe& recipe, const TrainingSet& data) {
  ModelOptions options;
  set_model_input(recipe.input, data.images->shape(), options);
  for (const char* key : {"detector", "detector_mode", "selection", "crop"})
    if (data.preparation.contains(key))
      set_option(options, key, option_of_json(key, data.preparation.at(key)));
  return options;
}

NetworkOptions trained_network_options(const Recipe& recipe, const ImageShape& shape) {
  NetworkOptions options = recipe.network_options;
  const ImageShape input = trained_input(recipe.input, options, shape);
  options.height = input.height;
  options.width = input.width;
  options.classes = 0;  // the classifier belongs to the loss
  return options;
}

std::int64_t classifier_features(const Graph& graph) {
  return element_count(graph.shape({graph.tap_node(graph.classifier_input())}));
}

// One training: what goes on from step to step, and its files.
class Trainer {
 public:
  Trainer(const Recipe& recipe, const TrainingSet& data, const fs::path& out,
          const TrainOptions& options, const TrainCallbacks& callbacks, Communicator& communicator,
          int threads)
      : recipe_(recipe),
        data_(data),
        out_(out),
        options_(options),
        callbacks_(callbacks),
        communicator_(communicator),
        classes_(training_classes(data)),
        sampler_(classes_.samples, recipe.training.seed, recipe.training.batch,
                 parse_last_batch(recipe.training.last_batch)),
        model_(make_model(recipe.network, trained_network_options(recipe, data.images->shape()),
                          trained_model_options(recipe, data), recipe.training.initializer,
                          recipe.training.seed)),
        dtype_(recipe.training.dtype == "float64" ? at::kDouble : at::kFloat),
        head_(make_head(recipe.loss, recipe.loss_options,
                        {classifier_features(model_.weights.graph()), classes_.count,
                         recipe.training.seed, dtype_})) {
    total_ = recipe.training.iterations > 0 ? recipe.training.iterations
                                            : sampler_.iterations(recipe.training.epochs);
    const std::int64_t left = sampler_.samples() % recipe.training.batch;
    if (recipe.training.last_batch == "keep" && left == 1)
      throw std::invalid_argument(
          "the last batch of an epoch would hold one image, of which batch norm has no variance; "
          "use another batch size, or wrap or drop the last batch");
    if (recipe.training.batch % communicator.size() != 0)
      throw std::invalid_argument(fmt::format("a batch of {} cannot be shared by {} processes",
                                              recipe.training.batch, communicator.size()));
    identity_ = {{"recipe", recipe_to_json(recipe)},
                 {"data", training_set_hash(data)},
                 {"images", sampler_.samples()},
                 {"classes", classes_.count},
                 {"threads", threads},
                 {"processes", communicator.size()},
                 {"torch", TORCH_VERSION}};
    identity_.update(content_basics());
    model_.options.training_run = sha256_hex(canonical_json(identity_));

    model_.weights.to(at::kCPU, dtype_);
    model_.weights.channels_last(recipe.training.channels_last);
    for (const NamedTensor& t : model_.weights.parameters())
      parameters_.push_back({"network." + t.name, t.tensor});
    for (const NamedTensor& t : head_->parameters())
      parameters_.push_back({"head." + t.name, t.tensor});
    optimizer_.emplace(parameters_, recipe.optimizer);
  }

  fs::path checkpoints() const { return out_ / "checkpoints"; }
  bool writes() const { return communicator_.rank() == 0; }

  void resume(const fs::path& checkpoint) {
    const TrainingState state = read_checkpoint(checkpoint, identity_, state_tensors());
    try {
      epoch_sums_.set(state.progress.at("epoch"));
      log_sums_.set(state.progress.at("log"));
      last_epoch_.set(state.progress.at("last_epoch"));
      reported_ = state.progress.at("epochs_reported").get<std::int64_t>();
      if (!state.progress.at("best").is_null()) best_ = state.progress.at("best").get<double>();
    } catch (const Json::exception& error) {
      fail(checkpoint.string(),
           std::string("the checkpoint's state is incomplete: ") + error.what());
    }
    iteration_ = state.iteration;
    saved_ = iteration_;
  }

  TrainResult run(const Job& job) {
    const at::AutoGradMode gradients(true);
    if (writes()) cut_log();
    const std::int64_t started_at = iteration_;
    const Clock::time_point start = Clock::now();
    {
      BatchLoader loader(
          *data_.images, classes_.labels, sampler_,
          {recipe_.augmentation, model_.input_view(), make_pixel_input(recipe_.input),
           recipe_.training.seed, recipe_.training.channels_last, communicator_.rank(),
           communicator_.size(), options_.data_threads},
          iteration_, total_);
      Stage stage(job, "training", total_, "steps");
      log_time_ = start;
      try {
        stage.update(iteration_);
        // The last run may have been stopped while it reported an epoch.
        if (epochs_done() > reported_) end_epoch();
        while (iteration_ < total_) {
          step(loader.next());
          if (epochs_done() > reported_) end_epoch();
          if (options_.checkpoint_every > 0 && iteration_ % options_.checkpoint_every == 0) save();
          stage.update(iteration_, note_);
        }
      } catch (const NotFinite&) {
        fail(out_.string(), fmt::format("the loss is not finite at iteration {}", iteration_),
             "A lower learning rate, a warm-up, or clip_norm usually helps");
      } catch (...) {
        // Between two steps everything is whole: nothing done so far is lost. (Within a step only
        // running out of memory or an unreadable image can end here; the tensors may then be
        // ahead of the counter, and the last checkpoint stands.)
        if (!in_step_) save();
        throw;
      }
    }
    save();

    TrainResult result;
    result.model = out_ / "model.safetensors";
    result.iterations = iteration_;
    result.epochs = reported_;
    result.classes = classes_.count;
    result.images = sampler_.samples();
    result.loss = last_epoch_.mean_loss();
    result.accuracy = last_epoch_.accuracy();
    result.best_score = best_;
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    result.images_per_second =
        static_cast<double>((iteration_ - started_at) * recipe_.training.batch) / seconds;
    if (writes()) finish(result);
    communicator_.barrier();
    return result;
  }

 private:
  struct NotFinite {};

  // Every tensor that goes on from step to step.
  std::vector<NamedTensor> state_tensors() const {
    std::vector<NamedTensor> tensors = parameters_;
    for (const NamedTensor& t : model_.weights.buffers())
      tensors.push_back({"network." + t.name, t.tensor});
    for (const NamedTensor& t : head_->buffers()) tensors.push_back({"head." + t.name, t.tensor});
    for (const NamedTensor& t : optimizer_->momentum())
      tensors.push_back({"momentum." + t.name, t.tensor});
    return tensors;
  }

  std::int64_t epochs_done() const {
    return iteration_ == total_ ? sampler_.epoch(total_ - 1) + 1 : sampler_.epoch(iteration_);
  }

  double lr() const {
    return learning_rate(recipe_.optimizer.lr, recipe_.schedule,
                         {iteration_, total_, sampler_.iterations_per_epoch()});
  }

  void step(const Batch& batch) {
    in_step_ = true;
    lr_ = lr();
    const auto n = batch.images.size(0);
    model_.weights.set_dropout(recipe_.training.seed, static_cast<std::uint64_t>(iteration_));
    const at::Tensor features =
        model_.weights.forward(batch.images.to(dtype_), model_.weights.graph().classifier_input())
            .flatten(1);
    const Head::Output output = head_->loss(features, batch.labels);
    const double loss = output.loss.item<double>();
    if (!std::isfinite(loss)) throw NotFinite{};
    optimizer_->zero_grad();
    output.loss.backward();
    average_gradients();
    optimizer_->clip();
    optimizer_->step(lr_);
    const auto hits = output.predicted.eq(batch.labels).sum().item<std::int64_t>();
    epoch_sums_.add(loss, hits, n);
    log_sums_.add(loss, hits, n);
    ++iteration_;
    in_step_ = false;
    if (iteration_ % options_.log_every == 0 || iteration_ == total_) log();
  }

  void average_gradients() {
    if (communicator_.size() == 1) return;
    std::vector<at::Tensor> gradients;
    for (const NamedTensor& p : parameters_)
      if (p.tensor.grad().defined()) gradients.push_back(p.tensor.grad());
    communicator_.all_reduce(gradients);
    for (at::Tensor& g : gradients) g.div_(communicator_.size());
  }

  // The model as it stands, a copy in float32 and evaluation mode.
  Model snapshot() const {
    Model model{model_.network, model_.network_options, model_.options, model_.weights.clone(), {}};
    model.weights.to(at::kCPU, at::kFloat);
    model.weights.train(false);
    return model;
  }

  void end_epoch() {
    const std::int64_t done = epochs_done();
    if (callbacks_.on_epoch && writes()) {
      const EpochReport report{done,
                               sampler_.epoch(total_ - 1) + 1,
                               iteration_,
                               epoch_sums_.mean_loss(),
                               epoch_sums_.accuracy(),
                               lr_};
      const Model model = snapshot();
      const std::optional<double> score = callbacks_.on_epoch(report, model);
      if (score && (!best_ || *score > *best_)) {
        best_ = score;
        save_model(model, out_ / "best.safetensors");
      }
    }
    last_epoch_ = epoch_sums_;
    epoch_sums_ = {};
    reported_ = done;
    if (options_.checkpoint_every == 0) save();
  }

  void save() {
    if (!writes() || saved_ == iteration_) return;
    const TrainingState state{iteration_,
                              identity_,
                              {{"epoch", epoch_sums_.json()},
                               {"log", log_sums_.json()},
                               {"last_epoch", last_epoch_.json()},
                               {"epochs_reported", reported_},
                               {"best", best_ ? Json(*best_) : Json()}}};
    write_checkpoint(checkpoint_path(checkpoints(), iteration_), state, state_tensors());
    saved_ = iteration_;
    std::vector<fs::path> all = list_checkpoints(checkpoints());
    for (std::size_t i = 0; i + static_cast<std::size_t>(options_.keep) < all.size(); ++i)
      fs::remove(all[i]);
  }

  // Lines of steps that a resume makes again, or cut off by a kill, go.
  void cut_log() {
    const fs::path path = out_ / "log.jsonl";
    std::string kept;
    if (fs::exists(path)) {
      const std::string text = read_file(path);
      for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos;
           at = end + 1) {
        const Json line =
            Json::parse(text.substr(at, end - at), nullptr, /*allow_exceptions=*/false);
        if (!line.is_object() || !line.contains("iteration") ||
            !line["iteration"].is_number_integer() || line["iteration"] > iteration_)
          break;
        kept += text.substr(at, end - at + 1);
      }
    }
    write_file(path, kept);
    log_file_.reset(std::fopen(path.c_str(), "ab"));
    if (!log_file_) fail(path.string(), "cannot be written");
  }

  void log() {
    const Clock::time_point now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - log_time_).count();
    const double rate = static_cast<double>(log_sums_.images) / std::max(seconds, 1e-9);
    note_ = fmt::format("loss {:.3f}, accuracy {:.3f}, {:.0f} images/s", log_sums_.mean_loss(),
                        log_sums_.accuracy(), rate);
    if (log_file_) {
      const Json line = {
          {"iteration", iteration_},
          {"epoch", static_cast<double>(iteration_) / sampler_.iterations_per_epoch()},
          {"loss", log_sums_.mean_loss()},
          {"accuracy", log_sums_.accuracy()},
          {"lr", lr_},
          {"images_per_second", rate}};
      const std::string text = canonical_json(line) + "\n";
      if (std::fwrite(text.data(), 1, text.size(), log_file_.get()) != text.size() ||
          std::fflush(log_file_.get()) != 0)
        fail((out_ / "log.jsonl").string(), "cannot be written", "Is the disk full?");
    }
    log_sums_ = {};
    log_time_ = now;
  }

  void finish(const TrainResult& result) {
    save_model(snapshot(), result.model);
    Manifest manifest;
    manifest.content = identity_;
    manifest.content["kind"] = "training";
    manifest.content["recipe_id"] = recipe_.id;
    manifest.content["preparation"] = data_.preparation;
    manifest.content["result"] = {{"model_sha256", sha256_file(result.model)},
                                  {"iterations", result.iterations},
                                  {"epochs", result.epochs},
                                  {"loss", result.loss},
                                  {"accuracy", result.accuracy},
                                  {"best_score", best_ ? Json(*best_) : Json()}};
    manifest.circumstance = circumstance_of_this_process();
    manifest.circumstance["data_threads"] = options_.data_threads;
    manifest.circumstance["images_per_second"] = result.images_per_second;
    write_manifest(out_ / "run.json", manifest);
  }

  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  const Recipe& recipe_;
  const TrainingSet& data_;
  fs::path out_;
  const TrainOptions& options_;
  const TrainCallbacks& callbacks_;
  Communicator& communicator_;
  TrainingClasses classes_;
  Sampler sampler_;
  Model model_;
  at::ScalarType dtype_;
  std::unique_ptr<Head> head_;
  std::vector<NamedTensor> parameters_;
  std::optional<Sgd> optimizer_;
  Json identity_;

  std::int64_t total_ = 0;
  std::int64_t iteration_ = 0;  // steps done
  std::int64_t reported_ = 0;   // epochs that on_epoch has been told of
  std::int64_t saved_ = -1;     // iteration of the newest checkpoint
  bool in_step_ = false;
  double lr_ = 0;
  Sums epoch_sums_, last_epoch_, log_sums_;
  std::optional<double> best_;
  Clock::time_point log_time_;
  std::string note_;
  std::unique_ptr<std::FILE, CloseFile> log_file_;
};

bool holds_a_training(const fs::path& out) {
  return fs::exists(out / "model.safetensors") || fs::exists(out / "log.jsonl") ||
         !list_checkpoints(out / "checkpoints").empty();
}

}  // namespace

void TrainOptions::describe(OptionsBuilder<TrainOptions>& o) {
  o.name("TrainOptions", "How a training is run.");
  o.field("resume", &TrainOptions::resume, "go on from the newest checkpoint");
  o.field("threads", &TrainOptions::threads,
          "threads of the arithmetic, they decide the last bits; 0: the checkpoint's in a resume, "
          "otherwise one for each processor",
          0, 1024);
  o.field("data_threads", &TrainOptions::data_threads, "threads that make batches", 0, 1024);
  o.field("checkpoint_every", &TrainOptions::checkpoint_every,
          "steps between checkpoints; 0: at the end of each epoch", 0, 1e12);
  o.field("keep", &TrainOptions::keep, "checkpoints kept, the newest", 1, 1e6);
  o.field("log_every", &TrainOptions::log_every, "steps between lines of the log", 1, 1e9);
}

TrainResult train(const Recipe& recipe, const TrainingSet& data, const fs::path& out,
                  const TrainOptions& options, const Job& job, const TrainCallbacks& callbacks) {
  SingleProcess alone;
  return train(recipe, data, out, options, job, callbacks, alone);
}

TrainResult train(const Recipe& recipe, const TrainingSet& data, const fs::path& out,
                  const TrainOptions& options, const Job& job, const TrainCallbacks& callbacks,
                  Communicator& communicator) {
  check_options(options);
  if (!options.resume && holds_a_training(out))
    fail(out.string(), "the folder holds a training already",
         "Resume it (resume, --resume), or choose another folder");
  const std::vector<fs::path> checkpoints =
      options.resume ? list_checkpoints(out / "checkpoints") : std::vector<fs::path>();
  int threads = options.threads > 0 ? options.threads : available_processors();
  if (options.threads == 0 && !checkpoints.empty()) {
    const Json identity = read_checkpoint_state(checkpoints.back()).identity;
    if (identity.contains("threads") && identity["threads"].is_number_integer())
      threads = std::clamp(identity["threads"].get<int>(), 1, 1024);
  }
  const ComputeThreads compute_threads(threads);
  Trainer trainer(recipe, data, out, options, callbacks, communicator, threads);
  if (communicator.rank() == 0) {
    remove_unfinished_files(out);
    remove_unfinished_files(out / "checkpoints");
  }
  if (!checkpoints.empty()) trainer.resume(checkpoints.back());
  return trainer.run(job);
}

}  // namespace facebench

#include "facebench/pipeline/demo.h"

#include <fmt/format.h>

#include <chrono>

#include "facebench/core/error.h"
#include "facebench/datasets/pack.h"
#include "facebench/datasets/synthetic/writer.h"
#include "facebench/embedding/extractor.h"
#include "facebench/images/encode.h"
#include "facebench/io/file.h"
#include "facebench/io/sha256.h"
#include "facebench/pipeline/preparation.h"
#include "facebench/pipeline/run.h"
#include "facebench/reports/save.h"
#include "facebench/training/trainer.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr int kCropSize = 64;

// Steps with their times.
class Steps {
 public:
  explicit Steps(DemoResult& result) : result_(result) {}
  void done(std::string name, std::string detail) {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    result_.steps.push_back({std::move(name), std::move(detail), seconds});
  }

 private:
  DemoResult& result_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The baseline that any network should beat: the crop's own pixels, their mean taken off so that
// cosine is correlation.
EmbeddingSet raw_pixels(const Pack& pack) {
  EmbeddingSet set;
  set.dim = pack.shape().bytes();
  set.names = pack.names();
  set.values.assign(static_cast<std::size_t>(pack.size() * set.dim), 0.0f);
  for (std::int64_t i = 0; i < pack.size(); ++i) {
    set.status.push_back(pack.status(i));
    if (pack.status(i) != SampleStatus::ok) continue;
    const std::uint8_t* pixels = pack.pixels(i);
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < set.dim; ++k) sum += pixels[k];
    const double mean = static_cast<double>(sum) / static_cast<double>(set.dim);
    float* row = set.values.data() + i * set.dim;
    for (std::int64_t k = 0; k < set.dim; ++k) row[k] = static_cast<float>(pixels[k] - mean);
  }
  set.manifest = {{"embedder", "raw pixels, mean taken off"}};
  return set;
}

SyntheticOptions faces(const DemoOptions& o, bool train) {
  SyntheticOptions s;
  s.people = train ? o.train_people : o.test_people;
  s.images = train ? o.train_images : o.test_images;
  s.seed = o.seed;
  // Different numbers are different people.
  s.first_person = train ? 0 : o.train_people;
  s.pairs_per_fold = o.test_people;
  return s;
}

bool is_demo(const fs::path& folder) { return fs::is_regular_file(folder / "demo.json"); }

}  // namespace

DemoResult demo(const DemoOptions& options, const fs::path& out, const Job& job,
                const std::function<void(const DemoResult&)>& finish) {
  check_options(options);
  std::error_code ignored;
  if (fs::exists(out, ignored) && !fs::is_empty(out, ignored) && !is_demo(out))
    fail(out.string(), "exists and is not an earlier demo, so it is not replaced",
         "Choose another folder.");
  const Recipe recipe = [&] {
    Recipe r = load_recipe(options.recipe);
    r.training.seed = static_cast<std::uint32_t>(options.seed);
    return r;
  }();
  AtomicFolder folder(out, true);
  const fs::path& at = folder.temporary();
  DemoResult result;
  result.folder = at;
  Steps steps(result);

  const SyntheticSummary train_faces =
      write_synthetic_dataset(faces(options, true), at / "data" / "train", job);
  const SyntheticSummary test_faces =
      write_synthetic_dataset(faces(options, false), at / "data" / "test", job);
  SheetOptions sheet;
  sheet.seed = static_cast<std::int64_t>(options.seed);
  write_image(at / "sheet.png", render_sheet(sheet, job));
  steps.done(
      "synthetic faces",
      fmt::format("{} images of {} people to train on, {} of {} others to test on",
                  train_faces.images, train_faces.people, test_faces.images, test_faces.people));

  PreparationOptions wanted;
  wanted.crop_width = wanted.crop_height = kCropSize;
  const PreparationSource sources[] = {{"caller", wanted}};
  const Preparation preparation = resolve_preparation(sources);
  const ProtocolSpec spec = load_protocol("lfw");
  const DataPlaces places{.root = at / "data" / "test", .images = {}, .lists = {}};
  const TrialSet trials = read_trials(spec, places);
  const fs::path images = find_images(spec, trials, places);
  const auto pack = [&](const Dataset& dataset, const char* name) {
    return pack_dataset(dataset, preparation.detector.get(), preparation.selection,
                        preparation.crop, {}, at / name, job);
  };
  const PackSummary train_pack = pack(read_lfw_folder(at / "data" / "train"), "train.h5");
  const PackSummary test_pack = pack(protocol_dataset(spec, trials, images), "test.h5");
  steps.done("detect and crop",
             fmt::format("{} images, {} without a face", train_pack.images + test_pack.images,
                         train_pack.failures.size() + test_pack.failures.size()));

  const Pack train_images(at / "train.h5");
  TrainOptions train_options;
  // One thread: the same bits on a machine of any size, and no loss of time on a busy one. The
  // network is too small to gain from more.
  train_options.threads = 1;
  const TrainResult trained =
      train(recipe, training_set(train_images), at / "training", train_options, job);
  steps.done("train", fmt::format("{}: {} epochs, loss {:.3f}, accuracy {:.3f}, {:.0f} images/s",
                                  recipe.id, trained.epochs, trained.loss, trained.accuracy,
                                  trained.images_per_second));

  const Pack test_images(at / "test.h5");
  const Model model = load_model(trained.model);
  const Model untrained = make_model(model.network, model.network_options, model.options,
                                     recipe.training.initializer, recipe.training.seed);
  struct Competitor {
    std::string name, title;
    EmbeddingSet embeddings;
  };
  std::vector<Competitor> competitors;
  competitors.push_back({"trained", "trained network", extract(model, test_images, {}, job)});
  competitors.push_back(
      {"untrained", "untrained network", extract(untrained, test_images, {}, job)});
  competitors.push_back({"raw_pixels", "raw pixels", raw_pixels(test_images)});
  steps.done("embed", fmt::format("{} images, three ways", test_images.size()));

  EvaluationOptions evaluation;
  evaluation.replicates = options.replicates;
  evaluation.seed = options.seed;
  for (const Competitor& c : competitors) {
    EvaluationResult r = evaluate(spec, trials, c.embeddings, evaluation, job);
    r.embeddings = {{"manifest", c.embeddings.manifest}};
    // The folder still has its temporary name; what is recorded is where things will lie.
    for (RunInput& input : r.inputs) input.path = out / input.path.lexically_relative(at);
    RunInfo info;
    info.threads = job.threads;
    info.root = out / "data" / "test";
    info.content = {{"images_sha256", test_pack.tree_sha256}, {"synthetic", true}};
    info.circumstance = {
        {"images", fs::absolute(out / images.lexically_relative(at)).generic_string()}};
    save_run(at / c.name, r, info);
    result.runs.push_back(c.name);
    result.titles.push_back(c.title);
  }
  steps.done("evaluate", fmt::format("{}, {} comparisons, {} replicates", spec.title,
                                     track_counts(trials.tracks.at(0), trials).front().second,
                                     options.replicates));

  Json summary = {{"options", options_to_json(options)}, {"runs", result.runs}};
  for (const DemoStep& s : result.steps)
    summary["steps"].push_back({{"name", s.name}, {"detail", s.detail}, {"seconds", s.seconds}});
  write_file(at / "demo.json", pretty_json(summary));
  if (finish) finish(result);
  folder.commit();
  result.folder = out;
  return result;
}

}  // namespace facebench

#include "facebench/synthetic/demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/datasets/pack.h"
#include "facebench/embedding/extractor.h"
#include "facebench/images/encode.h"
#include "facebench/io/file.h"
#include "facebench/io/replaced_folder.h"
#include "facebench/io/sha256.h"
#include "facebench/pipeline/preparation.h"
#include "facebench/pipeline/run.h"
#include "facebench/runs/save.h"
#include "facebench/synthetic/writer.h"
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

// The baseline that any network should beat: the pixels of the crop minus their mean, so that the
// cosine is a correlation.
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

// A data set to test on, and the protocols that it serves.
struct TestSet {
  std::string layout;  // synthetic_layouts()
  std::vector<std::string> protocols;
  std::int64_t people_part;  // one person for so many of DemoOptions::test_people
  std::int64_t images;       // of each; 0 = DemoOptions::test_images
};

// Sizes: each set takes seconds, and the numbers still say which system is the better one.
const std::vector<TestSet>& test_sets() {
  static const std::vector<TestSet> sets = {{"lfw", {"lfw"}, 1, 0},
                                            {"vggface2", {"vggface2_pose", "vggface2_age"}, 5, 50},
                                            {"ijba_quality", {"ijba_quality"}, 2, 9},
                                            {"dfw", {"dfw"}, 2, 8},
                                            {"umdfaces", {"umdfaces"}, 2, 12}};
  return sets;
}

// The sets that serve any of the wanted protocols, with these alone.
std::vector<TestSet> wanted_sets(const DemoOptions& o) {
  std::vector<std::string> known;
  std::vector<TestSet> result;
  for (TestSet set : test_sets()) {
    known.insert(known.end(), set.protocols.begin(), set.protocols.end());
    std::erase_if(set.protocols, [&](const std::string& p) {
      return std::ranges::find(o.protocols, p) == o.protocols.end();
    });
    if (!set.protocols.empty()) result.push_back(std::move(set));
  }
  for (const std::string& p : o.protocols)
    if (std::ranges::find(known, p) == known.end())
      throw std::invalid_argument(unknown_name_message("protocol of the demo", p, known));
  if (result.empty()) throw std::invalid_argument("the demo needs a protocol");
  return result;
}

SyntheticOptions train_faces_of(const DemoOptions& o) {
  SyntheticOptions s;
  s.people = o.train_people;
  s.images = o.train_images;
  s.seed = o.seed;
  return s;
}

// `first_person` is moved behind the set's people, impersonators among them: other numbers are
// other people.
SyntheticOptions test_faces_of(const DemoOptions& o, const TestSet& set,
                               std::int64_t& first_person) {
  SyntheticOptions s;
  s.protocol = set.layout;
  s.people = o.test_people / set.people_part;
  s.images = set.images > 0 ? set.images : o.test_images;
  s.seed = o.seed;
  s.first_person = first_person;
  s.pairs_per_fold = o.test_people;
  first_person += 2 * s.people;
  return s;
}

// What is compared with each other, on every protocol.
struct Competitor {
  std::string name, title;
  std::function<EmbeddingSet(const Pack&, const Job&)> embed;
};

// A protocol with its data.
struct Test {
  ProtocolSpec spec;
  TrialSet trials;
  fs::path root, images;
  PackSummary pack;
};

bool is_demo(const fs::path& folder) { return fs::is_regular_file(folder / "demo.json"); }

}  // namespace

void DemoOptions::describe(OptionsBuilder<DemoOptions>& o) {
  o.name("DemoOptions", "The main job on synthetic faces.");
  o.field("train_people", &DemoOptions::train_people, "people to train on", 20, 1e6);
  o.field("train_images", &DemoOptions::train_images, "images of each of them", 2, 1e4);
  o.field("test_people", &DemoOptions::test_people,
          "other people, to test on; the protocols beside lfw take a part as many", 20, 1e6);
  o.field("test_images", &DemoOptions::test_images, "images of each of them, for lfw", 2, 1e4);
  o.field("protocols", &DemoOptions::protocols, "protocols to evaluate, of those of the paper");
  o.field("recipe", &DemoOptions::recipe, "training recipe: a name or a TOML file");
  o.field("replicates", &DemoOptions::replicates, "bootstrap replicates", 20, 1e6);
  o.field("seed", &DemoOptions::seed, "of faces, training and resampling", 0, 4294967295.0);
}

DemoResult demo(const DemoOptions& options, const fs::path& out, const Job& job) {
  check_options(options);
  std::error_code ignored;
  if (fs::exists(out, ignored) && !fs::is_empty(out, ignored) && !is_demo(out))
    fail(out.string(), "exists and is not an earlier demo, so it is not replaced",
         "Choose another folder.");
  std::vector<std::string> folders;
  for (const TestSet& set : test_sets())
    for (const std::string& protocol : set.protocols) folders.push_back(protocol + "/");
  std::vector<std::string_view> own = {"demo.json", "report.html", "sheet.png",
                                       "data/",     "packs/",      "training/"};
  own.insert(own.end(), folders.begin(), folders.end());
  refuse_to_lose(out, own);
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

  const std::vector<TestSet> sets = wanted_sets(options);

  const SyntheticSummary train_faces =
      write_synthetic_dataset(train_faces_of(options), at / "data" / "train", job);
  std::int64_t first_person = options.train_people, test_images = 0, test_people = 0;
  for (const TestSet& set : sets) {
    const SyntheticSummary s = write_synthetic_dataset(test_faces_of(options, set, first_person),
                                                       at / "data" / set.layout, job);
    test_images += s.images;
    test_people += s.people;
  }
  SheetOptions sheet;
  sheet.seed = static_cast<std::int64_t>(options.seed);
  write_image(at / "sheet.png", render_sheet(sheet, job));
  steps.done("synthetic faces",
             fmt::format("{} images of {} people to train on, {} of {} others to test on",
                         train_faces.images, train_faces.people, test_images, test_people));

  PreparationOptions preparation_options;
  preparation_options.crop_size = std::vector<std::int64_t>{kCropSize};
  const PreparationSource sources[] = {{"caller", preparation_options}};
  const Preparation preparation = resolve_preparation(sources);
  const auto pack = [&](const Dataset& dataset, const std::string& name) {
    return pack_dataset(dataset, preparation.detector.get(), preparation.selection,
                        preparation.crop, {}, at / "packs" / (name + ".h5"), job);
  };
  const PackSummary train_pack = pack(read_lfw_folder(at / "data" / "train"), "train");
  std::size_t faceless = train_pack.failures.size();
  std::int64_t images = train_pack.images;
  std::vector<Test> tests;
  for (const TestSet& set : sets)
    for (const std::string& protocol : set.protocols) {
      Test test{load_protocol(protocol), {}, at / "data" / set.layout, {}, {}};
      test.trials = read_trials(test.spec, {.root = test.root, .images = {}, .lists = {}});
      test.images = find_images(test.spec, test.trials, {.root = test.root});
      test.pack = pack(protocol_dataset(test.spec, test.trials, test.images), protocol);
      faceless += test.pack.failures.size();
      images += test.pack.images;
      tests.push_back(std::move(test));
    }
  steps.done("detect and crop", fmt::format("{} images, {} without a face", images, faceless));

  const Pack train_images(at / "packs" / "train.h5");
  TrainOptions train_options;
  // One thread: the same bits on a machine of any size, and no loss of time on a busy one. The
  // network is too small to gain from more.
  train_options.threads = 1;
  const TrainResult trained =
      train(recipe, training_set(train_images), at / "training", train_options, job);
  steps.done("train", fmt::format("{}: {} epochs, loss {:.3f}, accuracy {:.3f}, {:.0f} images/s",
                                  recipe.id, trained.epochs, trained.loss, trained.accuracy,
                                  trained.images_per_second));

  const Model model = load_model(trained.model);
  const Model untrained = make_model(model.network, model.network_options, model.options,
                                     recipe.training.initializer, recipe.training.seed);
  const std::vector<Competitor> competitors = {
      {"trained", "trained network",
       [&](const Pack& p, const Job& j) { return extract(model, p, {}, j); }},
      {"untrained", "untrained network",
       [&](const Pack& p, const Job& j) { return extract(untrained, p, {}, j); }},
      {"raw_pixels", "raw pixels", [](const Pack& p, const Job&) { return raw_pixels(p); }}};

  EvaluationOptions evaluation;
  evaluation.replicates = options.replicates;
  evaluation.seed = options.seed;
  for (const Test& test : tests) {
    const Pack test_pack(at / "packs" / (test.spec.id + ".h5"));
    for (const Competitor& c : competitors) {
      const EmbeddingSet embeddings = c.embed(test_pack, job);
      Result r = evaluate(test.trials, embeddings, evaluation, job);
      r.embeddings = {{"manifest", embeddings.manifest}};
      // The folder still has its temporary name; what is recorded is where things will lie.
      for (RunInput& input : r.inputs) input.path = out / input.path.lexically_relative(at);
      RunInfo info;
      info.threads = job.threads;
      info.root = out / test.root.lexically_relative(at);
      info.content = {{"images_sha256", test.pack.tree_sha256}, {"synthetic", true}};
      info.circumstance = {
          {"images", fs::absolute(out / test.images.lexically_relative(at)).generic_string()}};
      const std::string run = test.spec.id + "/" + c.name;
      save_run(at / run, r, info);
      result.runs.push_back({run, test.spec.id, c.title});
    }
    steps.done(fmt::format("evaluate {}", test.spec.id),
               fmt::format("{} images, {} systems, {} replicates", test.pack.images,
                           competitors.size(), options.replicates));
  }

  Json summary = {{"options", options_to_json(options)}, {"runs", Json::array()}};
  for (const DemoRun& r : result.runs)
    summary["runs"].push_back({{"folder", r.folder}, {"protocol", r.protocol}, {"title", r.title}});
  for (const DemoStep& s : result.steps)
    summary["steps"].push_back({{"name", s.name}, {"detail", s.detail}, {"seconds", s.seconds}});
  write_file(at / "demo.json", pretty_json(summary));
  folder.commit();
  result.folder = out;
  return result;
}

}  // namespace facebench

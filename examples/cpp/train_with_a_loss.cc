// Trains a network with a loss of your choice and tests it on people it has never seen.
//
//   train_with_a_loss [LOSS] [PACK.h5]     LOSS: softmax, cosface, arcface, ... (default cosface)
#include <facebench/datasets/pack.h>
#include <facebench/embedding/extractor.h>
#include <facebench/evaluation/evaluate.h>
#include <facebench/pipeline/preparation.h>
#include <facebench/synthetic/writer.h>
#include <facebench/training/trainer.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

namespace fs = std::filesystem;

namespace {

// Synthetic faces, detected and cut out; `first_person`: other numbers are other people.
fs::path pack_faces(const fs::path& folder, std::int64_t people, std::int64_t first_person) {
  facebench::SyntheticOptions faces;
  faces.people = people;
  faces.images = 4;
  faces.pairs_per_fold = 2;
  faces.first_person = first_person;
  if (!fs::exists(folder)) facebench::write_synthetic_dataset(faces, folder);
  facebench::PreparationOptions wanted;
  wanted.crop_size = std::vector<std::int64_t>{64};
  const facebench::PreparationSource sources[] = {{"caller", wanted}};
  const auto preparation = facebench::resolve_preparation(sources);
  const fs::path out = folder.string() + ".h5";
  facebench::pack_dataset(facebench::read_lfw_folder(folder), preparation.detector.get(),
                          preparation.selection, preparation.crop, {}, out);
  return out;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string loss = argc > 1 ? argv[1] : "cosface";
  const fs::path work = "train-with-a-loss-example";
  fs::create_directories(work);
  const facebench::Pack faces(argc > 2 ? fs::path(argv[2]) : pack_faces(work / "train", 24, 0));

  // Any key of a recipe can be changed; the loss comes first, since its options follow from it.
  facebench::Recipe recipe = facebench::find_recipe("demo");
  facebench::set_recipe(recipe, "loss", loss);
  facebench::set_recipe(recipe, "network.channel_multiplier", "0.25");
  facebench::set_recipe(recipe, "training.epochs", "2");

  facebench::TrainCallbacks callbacks;
  callbacks.on_epoch = [](const facebench::EpochReport& report, const facebench::TrainedModel&) {
    std::cout << "epoch " << report.epoch << ": loss " << report.loss << ", accuracy "
              << report.accuracy << "\n";
    return std::optional<double>();  // a number here would be a validation score
  };
  facebench::TrainOptions options;
  options.threads = 1;  // the same bits on machines of any size
  fs::remove_all(work / loss);
  const auto trained =
      facebench::train(recipe, facebench::training_set(faces), work / loss, options, {}, callbacks);

  const facebench::Pack unseen(pack_faces(work / "lfw", 20, 24));
  const auto embeddings = facebench::extract(facebench::load_model(trained.model), unseen);
  const auto spec = facebench::load_protocol("lfw");
  const auto trials =
      facebench::read_trials(spec, {.root = work / "lfw", .images = {}, .lists = {}});
  const auto result = facebench::evaluate(trials, embeddings, {.replicates = 200});
  std::cout << loss << ", unseen people: AUC " << result.track("view2").number("auc").value << "\n"
            << "model: " << trained.model.string() << "\n";
  return EXIT_SUCCESS;
} catch (const std::exception& e) {
  std::cerr << "train_with_a_loss: " << e.what() << "\n";
  return EXIT_FAILURE;
}

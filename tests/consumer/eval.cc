// Evaluates embeddings from anywhere under a protocol, with protocols and metrics alone.
//
//   consumer EMBEDDINGS.h5 PROTOCOL ROOT    prints metrics.json
//   consumer                                the same on a data set of its own, and checks it
#include <facebench/eval.h>

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

namespace fs = std::filesystem;

namespace {

facebench::Json evaluate_folder(const fs::path& embeddings, const std::string& protocol,
                                const fs::path& root) {
  const auto spec = facebench::load_protocol(protocol);
  const auto trials = facebench::read_trials(spec, {root, {}, {}});
  const auto result =
      facebench::evaluate(trials, facebench::read_embeddings(embeddings), {.replicates = 50});
  return facebench::metrics_json(result);
}

// Forty people with two images each; the two lie close together, so that every comparison is right.
void write_data(const fs::path& root) {
  constexpr int kPeople = 40, kFolds = 10, kDim = 64;
  facebench::EmbeddingSet set;
  set.dim = kDim;
  const auto person = [](int i) { return "Person_" + std::to_string(100 + i); };
  for (int i = 0; i < kPeople; ++i) {
    for (int k = 1; k <= 2; ++k) {
      set.names.push_back(person(i) + "/" + person(i) + "_000" + std::to_string(k) + ".jpg");
      set.status.push_back(facebench::SampleStatus::ok);
      facebench::Random direction(7, "direction", {std::uint64_t(i)});
      facebench::Random noise(7, "noise", {std::uint64_t(i), std::uint64_t(k)});
      for (int d = 0; d < kDim; ++d)
        set.values.push_back(static_cast<float>(direction.normal() + 0.1 * noise.normal()));
    }
  }
  fs::create_directories(root);
  facebench::write_embeddings(root / "embeddings.h5", set);
  constexpr int kPairs = kPeople / kFolds;
  std::string pairs = std::to_string(kFolds) + "\t" + std::to_string(kPairs) + "\n";
  for (int fold = 0; fold < kFolds; ++fold) {
    for (int i = 0; i < kPairs; ++i) pairs += person(fold * kPairs + i) + "\t1\t2\n";
    for (int i = 0; i < kPairs; ++i)
      pairs +=
          person(fold * kPairs + i) + "\t1\t" + person(fold * kPairs + (i + 1) % kPairs) + "\t2\n";
  }
  facebench::write_file(root / "pairs.txt", pairs);
}

}  // namespace

int main(int argc, char** argv) try {
  if (facebench::version() != FACEBENCH_VERSION) return EXIT_FAILURE;
  if (argc == 4) {
    std::cout << evaluate_folder(argv[1], argv[2], argv[3]).dump(2) << "\n";
    return EXIT_SUCCESS;
  }
  const fs::path root =
      fs::temp_directory_path() / ("facebench-consumer-" + std::to_string(::getpid()));
  write_data(root);
  const facebench::Json metrics = evaluate_folder(root / "embeddings.h5", "lfw", root);
  fs::remove_all(root);
  for (const auto& [name, track] : metrics.at("tracks").items()) {
    const double accuracy = track.at("metrics").at("accuracy").at("value").get<double>();
    std::cout << "facebench " << facebench::version() << ", track " << name << ": accuracy "
              << accuracy << "\n";
    if (accuracy != 1.0) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
} catch (const facebench::Error& e) {
  std::cerr << e.what() << "\n";
  return EXIT_FAILURE;
}

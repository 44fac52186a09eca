// Takes a model of any engine through a protocol: photographs in, a run folder out. The engine is a
// function from a pack of face crops to embeddings; facebench detects, crops, scores and measures.
// Here it is a few lines of arithmetic; a session of ONNX Runtime, TensorRT or of your own stands
// in the same place. (From Python an .onnx file is taken as it is: examples/python.)
//
//   evaluate_own_model PROTOCOL ROOT OUT
//   evaluate_own_model                     on synthetic faces
#include <facebench/datasets/synthetic/writer.h>
#include <facebench/pipeline/run.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>

namespace fs = std::filesystem;

namespace {

// Your engine: one image (height x width x 3, RGB) to one vector. This one averages 8 x 8 blocks of
// grey and takes off their mean.
void embed_image(const std::uint8_t* pixels, const facebench::ImageShape& shape, float* out) {
  constexpr int kBlock = 8;
  const int rows = shape.height / kBlock, columns = shape.width / kBlock;
  float mean = 0;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      float sum = 0;
      for (int y = r * kBlock; y < (r + 1) * kBlock; ++y)
        for (int x = 3 * c * kBlock; x < 3 * (c + 1) * kBlock; ++x)
          sum += pixels[3 * y * shape.width + x];
      out[r * columns + c] = sum;
      mean += sum / static_cast<float>(rows * columns);
    }
  for (int i = 0; i < rows * columns; ++i) out[i] -= mean;
}

facebench::EmbeddingSet embed_pack(const facebench::Pack& pack, const facebench::Job& job) {
  const auto shape = pack.shape();
  facebench::EmbeddingSet set;
  set.dim = (shape.height / 8) * (shape.width / 8);
  set.values.assign(static_cast<std::size_t>(pack.size() * set.dim), 0);
  set.names = pack.names();
  for (std::int64_t i = 0; i < pack.size(); ++i) set.status.push_back(pack.status(i));
  facebench::parallel_for(pack.size(), job, [&](std::int64_t i, int) {
    if (pack.status(i) == facebench::SampleStatus::ok)  // no face: a row of zeros with its status
      embed_image(pack.pixels(i), shape, set.values.data() + i * set.dim);
  });
  set.manifest = {{"model", {{"engine", "example"}, {"blocks", 8}}}};
  return set;
}

}  // namespace

int main(int argc, char** argv) try {
  const bool own = argc != 4;
  const fs::path root = own ? fs::path("evaluate-own-model-example/lfw") : fs::path(argv[2]);
  const fs::path out = own ? root.parent_path() / "run" : fs::path(argv[3]);
  if (own && !fs::exists(root)) {
    facebench::SyntheticOptions faces;
    faces.people = 30;
    faces.images = 2;
    faces.pairs_per_fold = 3;
    facebench::write_synthetic_dataset(faces, root);
  }
  facebench::RunRequest request;
  request.protocol = own ? "lfw" : argv[1];
  request.places.root = root;
  request.evaluation.replicates = 200;
  request.overwrite = true;
  facebench::Embedder embedder;
  embedder.description = "averages of 8 x 8 blocks";
  embedder.preparation.crop = "arcface112";  // what the model was made for
  embedder.embed = embed_pack;

  const auto result = facebench::run(request, embedder, out);
  for (const auto& track : result.tracks) {
    std::cout << track.name << ": " << track.comparisons << " comparisons, " << track.failed.size()
              << " failed enrolments\n";
    for (const auto& cell : track.cells)
      std::cout << "  " << cell.name << ": " << cell.value << "\n";
  }
  std::cout << "written: " << out.string() << "\n";
  return EXIT_SUCCESS;
} catch (const std::exception& e) {
  std::cerr << "evaluate_own_model: " << e.what() << "\n";
  return EXIT_FAILURE;
}

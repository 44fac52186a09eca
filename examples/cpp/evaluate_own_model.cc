// Takes a model of any engine through a protocol: photographs in, a run folder out. The engine
// turns a batch of face crops into embeddings; facebench detects, crops, scores and measures. Here
// it is a few lines of arithmetic; a session of ONNX Runtime, TensorRT or of your own stands in the
// same place. (From Python an .onnx file is taken as it is: examples/python.)
//
//   evaluate_own_model PROTOCOL ROOT OUT
//   evaluate_own_model                     on synthetic faces
#include <ATen/ATen.h>
#include <facebench/pipeline/run.h>
#include <facebench/synthetic/writer.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>

namespace fs = std::filesystem;

namespace {

constexpr int kBlock = 8;

// Your engine: one image (height x width x 3, RGB) to one vector. This one averages 8 x 8 blocks of
// grey and takes off their mean.
void embed_image(const std::uint8_t* pixels, int rows, int columns, float* out) {
  float mean = 0;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      float sum = 0;
      for (int y = r * kBlock; y < (r + 1) * kBlock; ++y)
        for (int x = 3 * c * kBlock; x < 3 * (c + 1) * kBlock; ++x)
          sum += pixels[3 * y * columns * kBlock + x];
      out[r * columns + c] = sum;
      mean += sum / static_cast<float>(rows * columns);
    }
  for (int i = 0; i < rows * columns; ++i) out[i] -= mean;
}

facebench::BatchModelInfo engine_info() {
  facebench::BatchModelInfo info;
  info.name = "averages of 8 x 8 blocks";
  info.input = {112, 112};
  info.options.crop = "arcface112";  // what the model was made for
  info.raw_bytes = true;             // or floats, with options.color, mean and std
  info.thread_safe = true;
  info.embedding_size = (112 / kBlock) * (112 / kBlock);
  info.description = {{"engine", "example"}, {"blocks", kBlock}};
  return info;
}

class Engine : public facebench::BatchModel {
 public:
  Engine() : BatchModel(engine_info()) {}

  at::Tensor embed(const at::Tensor& images) const override {
    const std::int64_t count = images.size(0), pixels = images.size(1) * images.size(2) * 3;
    at::Tensor rows = at::empty({count, info().embedding_size}, at::kFloat);
    for (std::int64_t i = 0; i < count; ++i)
      embed_image(images.const_data_ptr<std::uint8_t>() + i * pixels, 112 / kBlock, 112 / kBlock,
                  rows.data_ptr<float>() + i * info().embedding_size);
    return rows;
  }
};

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
  const auto result = facebench::run(request, Engine(), out);
  for (const auto& track : result.tracks) {
    std::cout << track.name << ": " << track.comparisons << " comparisons, " << track.failed.size()
              << " failed enrolments\n";
    for (const auto& number : track.numbers)
      std::cout << "  " << number.name << ": " << number.value << "\n";
  }
  std::cout << "written: " << out.string() << "\n";
  return EXIT_SUCCESS;
} catch (const std::exception& e) {
  std::cerr << "evaluate_own_model: " << e.what() << "\n";
  return EXIT_FAILURE;
}

// Two photographs to a score: image, face, crop, embedding, similarity.
//
//   compare_two_photographs A.jpg B.jpg MODEL.safetensors
//   compare_two_photographs             two synthetic photographs of one person, untrained weights
#include <facebench/crops/crop.h>
#include <facebench/detection/detector.h>
#include <facebench/detection/selection.h>
#include <facebench/embedding/extractor.h>
#include <facebench/images/decode.h>
#include <facebench/synthetic/writer.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <stdexcept>

namespace fs = std::filesystem;

namespace {

// The embedding of the face in a photograph, of unit length.
facebench::EmbeddingSet embed_photograph(const fs::path& path, const facebench::Detector& detector,
                                         const facebench::Model& model) {
  const facebench::Image photo = facebench::read_image(path);
  const auto faces = detector.detect(photo);
  const auto face = facebench::select_face(faces, photo.width, photo.height, "nearest_center");
  if (!face) throw std::runtime_error(path.string() + ": no face");
  const facebench::Crop crop = facebench::crop_face(photo, faces[*face], {.name = "arcface112"});
  if (crop.image.empty()) throw std::runtime_error(path.string() + ": " + crop.reason);
  return facebench::extract(
      model,
      facebench::ImageArray(crop.image.data.data(), 1, {crop.image.height, crop.image.width}),
      {.flip = "none", .normalization = "unit"});
}

fs::path synthetic_photographs() {
  const fs::path folder = "compare-two-photographs-example";
  facebench::SyntheticOptions faces;
  faces.people = 20;
  faces.images = 2;
  faces.pairs_per_fold = 2;
  if (!fs::exists(folder)) facebench::write_synthetic_dataset(faces, folder);
  return *fs::directory_iterator(folder / "images");  // the folder of a person
}

}  // namespace

int main(int argc, char** argv) try {
  const bool own = argc != 4;
  fs::path a, b;
  if (own)
    for (const auto& file : fs::directory_iterator(synthetic_photographs()))
      (a.empty() ? a : b) = file.path();
  else
    a = argv[1], b = argv[2];
  const auto detector = facebench::make_detector("mtcnn");
  const facebench::Model model =
      own ? facebench::make_model("mobilefacenet", {}, {}) : facebench::load_model(argv[3]);
  const auto first = embed_photograph(a, *detector, model);
  const auto second = embed_photograph(b, *detector, model);
  const double score =
      std::inner_product(first.values.begin(), first.values.end(), second.values.begin(), 0.0);
  std::cout << a.filename().string() << " and " << b.filename().string() << ": " << score << "\n";
  return EXIT_SUCCESS;
} catch (const std::exception& e) {
  std::cerr << "compare_two_photographs: " << e.what() << "\n";
  return EXIT_FAILURE;
}

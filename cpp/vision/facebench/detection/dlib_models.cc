#include "facebench/detection/dlib_models.h"

#include <fmt/format.h>

#include <cstdlib>

#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/io/sha256.h"

namespace facebench {
namespace {

constexpr std::string_view kGetDlibModels =
    "Get them with: pip install face_recognition_models; or name the folder that holds "
    "them in FACEBENCH_DLIB_MODELS";

}  // namespace

const Table<DlibModel>& dlib_models() {
  static const Table<DlibModel> table(
      "model of dlib", {{"face_network", "29 layers, 150x150 pixels, 128 values",
                         "dlib_face_recognition_resnet_model_v1.dat",
                         "55533b28a95800a551ba546ba62fe69625c7e95a7061c338adffead08719da30"},
                        {"five_points", "corners of the eyes and base of the nose, in a box",
                         "shape_predictor_5_face_landmarks.dat",
                         "c4b1e9804792707d3a405c2c16a80a20269e6675021f64a41d30fffafbc41888"},
                        {"cnn_detector", "seven convolutions over a pyramid of the image",
                         "mmod_human_face_detector.dat",
                         "4cb19393e2fbaf2b1609a9319ad5386618c886a6234ec1b971f3e87c85d87fe6"}});
  return table;
}

std::filesystem::path find_dlib_model(std::string_view name) {
  const std::string& file = dlib_models().at(name).file;
  const char* folder = std::getenv("FACEBENCH_DLIB_MODELS");
  if (!folder || !*folder) fail(file, "dlib's models are not installed", kGetDlibModels);
  const std::filesystem::path path = std::filesystem::path(folder) / file;
  if (!std::filesystem::is_regular_file(path)) fail(path.string(), "is not there", kGetDlibModels);
  return path;
}

std::string read_dlib_model(std::string_view name, const std::filesystem::path& path) {
  const DlibModel& model = dlib_models().at(name);
  std::string bytes = read_file(path);
  if (const std::string sha256 = sha256_hex(bytes); sha256 != model.sha256)
    fail(
        path.string(),
        fmt::format("is not {} as published: SHA-256 {}, not {}", model.file, sha256, model.sha256),
        kGetDlibModels);
  return bytes;
}

}  // namespace facebench

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "facebench/core/registry.h"

namespace facebench {

// A file that dlib's author publishes for any use (CC0), as the package face_recognition_models
// 0.3.0 carries it. Source: github.com/davisking/dlib-models.
struct DlibModel {
  std::string name;
  std::string doc;
  std::string file;
  std::string sha256;
};
// face_network, five_points, cnn_detector. (Its 68-point predictor has conditions and is not used.)
const Table<DlibModel>& dlib_models();

// Where the file lies: in the folder that the environment variable FACEBENCH_DLIB_MODELS names. In
// Python that is the package's, unless it is set. Throws Error saying how to get it.
std::filesystem::path find_dlib_model(std::string_view name);

// The bytes of such a file. Throws Error where its SHA-256 is another: what reads them trusts them.
std::string read_dlib_model(std::string_view name, const std::filesystem::path& path);

}  // namespace facebench

#pragma once

#include <filesystem>

#include "facebench/embedding/model.h"

namespace facebench {

// dlib's face network as a model of ours (network dlib_resnet29), with dlib's detector, landmarks
// and crop; the embedding as dlib gives it, not of unit length. `path`: a file that is
// dlib_face_recognition_resnet_model_v1.dat; empty: where find_dlib_model finds it. Throws Error
// where it is missing, or another file (detection/dlib_models.h).
Model dlib_model(const std::filesystem::path& path = {});

}  // namespace facebench

#pragma once

#include <filesystem>
#include <memory>

#include "facebench/detection/detector.h"
#include "facebench/detection/mtcnn_options.h"

namespace facebench {

// Throws std::invalid_argument for options out of range or that the device lacks, Error where the
// weights are missing or damaged, or where there is no CUDA library, driver or device.
std::unique_ptr<Detector> make_mtcnn(const MtcnnOptions& options);

// mtcnn.safetensors as named by the environment variable FACEBENCH_MTCNN_WEIGHTS, else beside the
// loaded library, else in ../share/facebench. Throws Error saying how to make it.
std::filesystem::path default_mtcnn_weights();

}  // namespace facebench

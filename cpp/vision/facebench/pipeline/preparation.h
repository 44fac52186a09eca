#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/options_fwd.h"
#include "facebench/crops/crop.h"
#include "facebench/detection/detector.h"
#include "facebench/embedding/batch_model.h"
#include "facebench/evaluation/spec.h"
#include "facebench/io/json.h"

namespace facebench {

// How a photograph becomes a crop, as far as one source states it. What is unset is
// left to the next source: first the caller, then the data set, then the model file.
struct PreparationOptions {
  std::optional<std::string> detector;
  std::optional<std::vector<std::string>> detector_options;
  std::optional<std::string> selection;
  std::optional<std::string> crop;
  std::optional<std::vector<std::int64_t>> crop_size;  // width and height, or one number for both
  std::optional<std::string> warp;

  static void describe(OptionsBuilder<PreparationOptions>& o);
};

// What a model says: nothing where its info says that it was not `prepared`. The detector's mode
// goes into detector_options.
PreparationOptions preparation_of(const BatchModelInfo& model);

// One source of settings, and its name in the manifest: "caller", "data set", "model".
struct PreparationSource {
  std::string who;
  PreparationOptions options;
};

// The settings of a protocol's data set: no detector where the lists hold the images, which are
// crops then (TrialReader::images); detector `given` with the faces of the data set, if their
// file is in the folder of the lists and has what the chosen crop needs; otherwise empty.
PreparationOptions preparation_of(const ProtocolSpec& spec, const std::filesystem::path& lists,
                                  std::span<const PreparationSource> others);

// The settings that were chosen. `detector` is null for 'none'.
struct Preparation {
  std::shared_ptr<const Detector> detector;
  std::string selection;
  CropOptions crop;
  // {"detector": "model", ...}: who decided each part, for manifests.
  Json decided_by;
};

// Takes each part from the first source that sets it, else the library's default (mtcnn,
// nearest_center, arcface112). Options of a detector count only if they are of the source that
// names the detector, or of one before it. Throws std::invalid_argument for an unknown name or
// option (did you mean), Error where a file that the detector needs is missing.
Preparation resolve_preparation(std::span<const PreparationSource> sources);

}  // namespace facebench

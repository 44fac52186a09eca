#pragma once

#include <c10/core/Device.h>

#include "facebench/training/trainer.h"

namespace facebench {

// What decides a training's numbers: only a checkpoint of the same identity is resumed.
Json training_identity(const Recipe& recipe, const TrainingSet& data,
                       const TrainingClasses& classes, const TrainOptions& options,
                       const TrainCallbacks& callbacks, int processes, int threads,
                       at::Device device);

// What the model file says of a training. `trained_by`: {"engine", "device" ("cpu", "cuda"), the
// engine's versions}.
Json training_record(const Recipe& recipe, const TrainingSet& data, const TrainingClasses& classes,
                     const TrainCallbacks& callbacks, const std::string& data_sha256,
                     const Json& trained_by);

// What the manifest says of the images and people of a pack that were trained on, so that a run can
// tell whether it tests on them; nothing of another source.
//   "trained_images": {"images": how many, "sha256": the first 16 digits of the hashes of their
//                     files, sorted; of more than 2,048 the lowest}; only where the pack has hashes
//   "trained_people": {"people": how many, "names": those that are names and no identifiers,
//   sorted}
Json trained_content(const TrainingSet& data);

}  // namespace facebench

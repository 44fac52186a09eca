#include "facebench/training/internal/finished_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/io/sha256.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// What must agree, and how people call it.
struct Shared {
  const char* pointer;
  const char* name;
};
constexpr Shared kShared[] = {{"/data", "images"},
                              {"/excluded", "exclusions"},
                              {"/classes", "people"},
                              {"/recipe/network", "network"},
                              {"/recipe/loss/name", "loss"},
                              {"/recipe/training/dtype", "dtype"},
                              {"/recipe/training/split_classes", "split_classes"}};

Json value_at(const Json& json, const char* pointer) {
  const Json::json_pointer place(pointer);
  return json.contains(place) ? json.at(place) : Json();
}

}  // namespace

FinishedTraining::FinishedTraining(const fs::path& folder) {
  const std::vector<fs::path> checkpoints = list_checkpoints(folder / "checkpoints");
  if (!fs::exists(folder / "model.safetensors") || checkpoints.empty())
    fail(folder.string(), "holds no finished training with its last checkpoint",
         fs::exists(folder / "log.jsonl")
             ? "Finish it first (resume, --resume)"
             : "Name the folder that a training wrote (extend, --extend)");
  checkpoint_ = checkpoints.back();
  state_ = read_checkpoint_state(checkpoint_);
  record_ = {{"training_run", sha256_hex(canonical_json(state_.identity))},
             {"iterations", state_.iteration},
             {"checkpoint_sha256", sha256_file(checkpoint_)}};
}

std::string FinishedTraining::load(const Json& identity,
                                   std::span<const PartialTensor> tensors) const {
  const std::string where = checkpoint_.string();
  for (const Shared& s : kShared)
    if (const Json there = value_at(state_.identity, s.pointer),
        here = value_at(identity, s.pointer);
        there != here)
      fail(where,
           fmt::format("that training has another {}: {} there and {} here", s.name, there.dump(),
                       here.dump()),
           "Go on with the same images, network and loss (extend); for other people begin with its "
           "weights (init, --init)");
  const std::vector<std::string> others = read_checkpoint_tensors(checkpoint_, tensors);
  std::size_t anew = 0;
  for (const std::string& name : others) {
    if (name.starts_with("network.") || name.starts_with("head.") || name.starts_with("aux"))
      fail(where, fmt::format("has no tensor {} of this type and shape", name),
           "Go on with the options of network and loss that it had");
    // An average begins with the weights after the first step anyhow.
    anew += !name.starts_with("average.");
  }
  if (std::ranges::any_of(tensors, &PartialTensor::split))
    read_checkpoint_parts(checkpoint_.parent_path(), state_.parts, tensors);
  if (anew == 0) return {};
  return fmt::format(
      "{}: the optimizer keeps something else of {} tensors, or they were frozen there: their "
      "momentum begins at 0.",
      where, anew);
}

}  // namespace facebench

#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "facebench/io/json.h"
#include "facebench/nn/network.h"

namespace facebench {

// Checkpoints of a training: one safetensors file each, `step-000000120.safetensors`, with all
// tensors of the state and, in the metadata, the rest of it as JSON and a SHA-256 over both.
// Written atomically, so that a file that is there is whole.

// Where a training stands.
struct TrainingState {
  std::int64_t iteration = 0;  // steps done
  // What a resume must agree with: recipe, data, threads, torch, ... Compared key by key.
  Json identity = Json::object();
  // Other values that are needed to continue (best score, sums for the log).
  Json progress = Json::object();
};

std::filesystem::path checkpoint_path(const std::filesystem::path& folder, std::int64_t iteration);
// Those in a folder, by rising iteration; files of other names are passed over.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& folder);

void write_checkpoint(const std::filesystem::path& path, const TrainingState& state,
                      std::span<const NamedTensor> tensors);

// Copies the file's numbers into `tensors` and returns the rest. Throws Error, with `tensors` as
// they were, where the file is not a checkpoint of ours, is damaged (its checksum differs), belongs
// to another training (`identity` differs: the message names what), or has other tensors.
TrainingState read_checkpoint(const std::filesystem::path& path, const Json& identity,
                              std::span<const NamedTensor> tensors);

// The state alone, the checksum verified. Throws Error as read_checkpoint does.
TrainingState read_checkpoint_state(const std::filesystem::path& path);

}  // namespace facebench

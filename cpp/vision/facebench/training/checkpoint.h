#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "facebench/io/json.h"
#include "facebench/nn/head.h"

namespace facebench {

// Checkpoints of a training: one safetensors file each, `step-000000120.safetensors`, with all
// tensors of the state and, in the metadata, the rest of it as JSON and a SHA-256 over both.
// Written atomically, so that a file that is there is whole.
//
// Where tensors are split over processes, each writes its rows to a file of its own beside it,
// `part-000000120-0-of-2.safetensors`. These are written first; the checkpoint names them with
// their SHA-256. Any number of processes can read them, each its rows.

// Where a training stands.
struct TrainingState {
  std::int64_t iteration = 0;  // steps done
  // What a resume must agree with: recipe, data, threads, torch, ... Compared key by key.
  Json identity = Json::object();
  // Other values that are needed to continue (best score, sums for the log).
  Json progress = Json::object();
  // What write_checkpoint_part returned in each process, by rank; none where nothing is split.
  Json parts = Json::array();
};

std::filesystem::path checkpoint_path(const std::filesystem::path& folder, std::int64_t iteration);
// Those in a folder, by rising iteration; files of other names are passed over.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& folder);

// Removes all but the `keep` newest, and parts of checkpoints that are not there.
void remove_old_checkpoints(const std::filesystem::path& folder, int keep);

// Of `tensors` those that are not split.
void write_checkpoint(const std::filesystem::path& path, const TrainingState& state,
                      std::span<const PartialTensor> tensors);
// Of `tensors` those that are split: this process's rows. Returns the file's name and checksum.
Json write_checkpoint_part(const std::filesystem::path& folder, std::int64_t iteration, int rank,
                           int processes, std::span<const PartialTensor> tensors);

// Copies the file's numbers into those of `tensors` that are not split, and returns the rest.
// Throws Error, with `tensors` as they were, where the file is not a checkpoint of ours, is damaged
// (its checksum differs), belongs to another training (`identity` differs other than in the keys
// `may_differ`: the message names what), or has other tensors.
TrainingState read_checkpoint(const std::filesystem::path& path, const Json& identity,
                              std::span<const PartialTensor> tensors,
                              std::span<const std::string> may_differ = {});
// Copies into those of `tensors` that are split their rows of the `parts` of a checkpoint in that
// folder, however many processes wrote them. Throws Error as above.
void read_checkpoint_parts(const std::filesystem::path& folder, const Json& parts,
                           std::span<const PartialTensor> tensors);

// Copies of the file's numbers what has the name, type and shape of one of `tensors` that are not
// split, whatever training it belongs to. Returns the names of the others. Throws Error where the
// file is damaged, or not a checkpoint of ours.
std::vector<std::string> read_checkpoint_tensors(const std::filesystem::path& path,
                                                 std::span<const PartialTensor> tensors);

// The state alone, the checksum verified. Throws Error as read_checkpoint does.
TrainingState read_checkpoint_state(const std::filesystem::path& path);

}  // namespace facebench

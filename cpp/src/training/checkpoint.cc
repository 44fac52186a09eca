#include "facebench/training/checkpoint.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/io/confine.h"
#include "facebench/io/safetensors.h"
#include "facebench/io/sha256.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view checkpoint_format = "facebench-checkpoint";
constexpr std::string_view checkpoint_prefix = "step-", checkpoint_suffix = ".safetensors";

using TensorMap = std::map<std::string, TensorInfo, std::less<>>;

DType checkpoint_dtype(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return DType::f32;
    case at::kDouble:
      return DType::f64;
    case at::kLong:
      return DType::i64;
    case at::kBFloat16:
      return DType::bf16;
    default:
      throw std::invalid_argument("checkpoint: tensors of this type are not stored");
  }
}

std::string state_checksum(const TensorMap& tensors, std::string_view state) {
  Sha256 hash;
  for (const auto& [name, info] : tensors) {
    hash.update(
        fmt::format("{} {} {}\n", name, dtype_name(info.dtype), fmt::join(info.shape, " ")));
    hash.update(info.bytes);
  }
  hash.update(state);
  return hash.hex();
}

std::string metadata_value(const SafetensorsFile& file, const std::string& key) {
  const auto it = file.metadata().find(key);
  return it == file.metadata().end() ? std::string() : it->second;
}

TrainingState verified_state(const SafetensorsFile& file, const std::string& where) {
  if (metadata_value(file, "format") != checkpoint_format)
    fail(where, "this is not a checkpoint of facebench");
  if (metadata_value(file, "version") != "1")
    fail(where, "a checkpoint of version '" + metadata_value(file, "version") + "'",
         "This library reads version 1");
  const std::string text = metadata_value(file, "state");
  if (metadata_value(file, "sha256") != state_checksum(file.tensors(), text))
    fail(where, "the checksum differs: the file is damaged",
         "Delete it; the training then resumes from the checkpoint before");

  const Json json = parse_file_json(text, where);
  TrainingState state;
  if (!json.is_object() || !json.contains("iteration") || !json["iteration"].is_number_integer() ||
      !json.contains("identity") || !json["identity"].is_object() || !json.contains("progress"))
    fail(where, "the checkpoint's state is incomplete");
  state.iteration = json["iteration"].get<std::int64_t>();
  state.identity = json["identity"];
  state.progress = json["progress"];
  if (state.iteration < 0) fail(where, "the iteration is negative");
  return state;
}

}  // namespace

fs::path checkpoint_path(const fs::path& folder, std::int64_t iteration) {
  return folder / fmt::format("{}{:09}{}", checkpoint_prefix, iteration, checkpoint_suffix);
}

std::vector<fs::path> list_checkpoints(const fs::path& folder) {
  std::vector<fs::path> found;
  if (!fs::is_directory(folder)) return found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(checkpoint_prefix) && name.ends_with(checkpoint_suffix))
      found.push_back(entry.path());
  }
  // Nine digits and more: first by length, so that 10^9 stands after 999999999.
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    const std::string x = a.filename().string(), y = b.filename().string();
    return x.size() != y.size() ? x.size() < y.size() : x < y;
  });
  return found;
}

void write_checkpoint(const fs::path& path, const TrainingState& state,
                      std::span<const NamedTensor> tensors) {
  TensorMap map;
  std::vector<at::Tensor> alive;
  for (const NamedTensor& t : tensors) {
    // Row-major on disk whatever the layout in memory.
    at::Tensor plain = t.tensor.detach().cpu().contiguous();
    TensorInfo info;
    info.dtype = checkpoint_dtype(plain.scalar_type());
    info.shape = plain.sizes().vec();
    info.bytes = {static_cast<const std::byte*>(plain.const_data_ptr()), plain.nbytes()};
    if (!map.emplace(t.name, info).second)
      throw std::invalid_argument("checkpoint: two tensors are called " + t.name);
    alive.push_back(std::move(plain));
  }
  const std::string json = canonical_json(
      {{"iteration", state.iteration}, {"identity", state.identity}, {"progress", state.progress}});
  write_safetensors(path, map,
                    {{"format", std::string(checkpoint_format)},
                     {"version", "1"},
                     {"state", json},
                     {"sha256", state_checksum(map, json)}});
}

TrainingState read_checkpoint_state(const fs::path& path) {
  return verified_state(SafetensorsFile(path), path.string());
}

TrainingState read_checkpoint(const fs::path& path, const Json& identity,
                              std::span<const NamedTensor> tensors) {
  const SafetensorsFile file(path);
  const std::string where = path.string();
  TrainingState state = verified_state(file, where);
  // Flattened, so that the message names the one option that differs.
  const Json expected = identity.flatten(), found = state.identity.flatten();
  if (expected != found) {
    for (const auto& [key, value] : expected.items())
      if (!found.contains(key) || found[key] != value)
        fail(where,
             fmt::format("it belongs to another training: {} is {} there and {} here", key,
                         found.contains(key) ? found[key].dump() : "absent", value.dump()),
             "Resume with the same recipe, data and threads, or train into another folder");
    fail(where, "it belongs to another training, whose settings this one does not have");
  }

  if (file.tensors().size() != tensors.size())
    fail(where,
         fmt::format("{} tensors; this training has {}", file.tensors().size(), tensors.size()));
  for (const NamedTensor& t : tensors) {
    const TensorInfo& info = file.at(t.name);
    if (info.dtype != checkpoint_dtype(t.tensor.scalar_type()) ||
        info.shape != t.tensor.sizes().vec())
      fail(where, "tensor " + t.name + " has another type or shape");
  }
  const at::NoGradGuard no_grad;
  for (const NamedTensor& t : tensors) {
    const TensorInfo& info = file.at(t.name);
    at::Tensor plain = at::empty(info.shape, at::TensorOptions(t.tensor.scalar_type()));
    std::memcpy(plain.data_ptr(), info.bytes.data(), info.bytes.size());
    t.tensor.copy_(plain);
  }
  return state;
}

}  // namespace facebench

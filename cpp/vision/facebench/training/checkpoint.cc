#include "facebench/training/checkpoint.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/io/confine.h"
#include "facebench/io/safetensors.h"
#include "facebench/io/sha256.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view checkpoint_format = "facebench-checkpoint";
constexpr std::string_view part_format = "facebench-checkpoint-part";
constexpr std::string_view checkpoint_prefix = "step-", part_prefix = "part-",
                           checkpoint_suffix = ".safetensors";

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

// What stands beside the tensors.
std::string verified_text(const SafetensorsFile& file, const std::string& where,
                          std::string_view format) {
  if (metadata_value(file, "format") != format)
    fail(where, "this is not a checkpoint of facebench");
  if (metadata_value(file, "version") != "1")
    fail(where, "a checkpoint of version '" + metadata_value(file, "version") + "'",
         "This library reads version 1");
  const std::string text = metadata_value(file, "state");
  if (metadata_value(file, "sha256") != state_checksum(file.tensors(), text))
    fail(where, "the checksum differs: the file is damaged",
         "Delete it; the training then resumes from the checkpoint before");
  return text;
}

TrainingState verified_state(const SafetensorsFile& file, const std::string& where) {
  const Json json = parse_file_json(verified_text(file, where, checkpoint_format), where);
  TrainingState state;
  if (!json.is_object() || !json.contains("iteration") || !json["iteration"].is_number_integer() ||
      !json.contains("identity") || !json["identity"].is_object() || !json.contains("progress"))
    fail(where, "the checkpoint's state is incomplete");
  state.iteration = json["iteration"].get<std::int64_t>();
  state.identity = json["identity"];
  state.progress = json["progress"];
  if (json.contains("parts")) state.parts = json["parts"];
  if (state.iteration < 0) fail(where, "the iteration is negative");
  return state;
}

// The tensors that are split, or those that are not, as a file holds them.
class Packed {
 public:
  Packed(std::span<const PartialTensor> tensors, bool split) {
    for (const PartialTensor& t : tensors) {
      if (t.split() != split) continue;
      // Row-major on disk whatever the layout in memory.
      at::Tensor plain = t.tensor.detach().cpu().contiguous();
      TensorInfo info;
      info.dtype = checkpoint_dtype(plain.scalar_type());
      info.shape = plain.sizes().vec();
      info.bytes = {static_cast<const std::byte*>(plain.const_data_ptr()), plain.nbytes()};
      if (!map_.emplace(t.name, info).second)
        throw std::invalid_argument("checkpoint: two tensors are called " + t.name);
      alive_.push_back(std::move(plain));
    }
  }

  // Returns the checksum.
  std::string write(const fs::path& path, std::string_view format, const std::string& text) const {
    std::string checksum = state_checksum(map_, text);
    write_safetensors(
        path, map_,
        {{"format", std::string(format)}, {"version", "1"}, {"state", text}, {"sha256", checksum}});
    return checksum;
  }

 private:
  TensorMap map_;
  std::vector<at::Tensor> alive_;
};

void copy_rows(std::span<const std::byte> from, const at::Tensor& to) {
  const at::NoGradGuard no_grad;
  at::Tensor plain = at::empty(to.sizes(), at::TensorOptions(to.scalar_type()));
  std::memcpy(plain.data_ptr(), from.data(), from.size());
  to.copy_(plain);
}

// The number in a name that this library gives, PREFIX0000.safetensors or, of a part,
// PREFIX0000-RANK-of-COUNT.safetensors; empty for any other: a user's copy beside them stays.
std::string number_of(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(checkpoint_suffix)) return {};
  name.remove_prefix(prefix.size());
  name.remove_suffix(std::min(name.size(), checkpoint_suffix.size()));
  const auto take_digits = [&] {
    const std::size_t end = std::min(name.find_first_not_of("0123456789"), name.size());
    const std::string_view digits = name.substr(0, end);
    name.remove_prefix(end);
    return digits;
  };
  const auto take = [&](std::string_view text) {
    const bool there = name.starts_with(text);
    if (there) name.remove_prefix(text.size());
    return there;
  };
  const std::string number(take_digits());
  const bool whole = prefix != part_prefix || (take("-") && !take_digits().empty() &&
                                               take("-of-") && !take_digits().empty());
  return whole && name.empty() ? number : std::string();
}

}  // namespace

fs::path checkpoint_path(const fs::path& folder, std::int64_t iteration) {
  return folder / fmt::format("{}{:09}{}", checkpoint_prefix, iteration, checkpoint_suffix);
}

std::vector<fs::path> list_checkpoints(const fs::path& folder) {
  std::vector<fs::path> checkpoints;
  if (!fs::is_directory(folder)) return checkpoints;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!number_of(entry.path().filename().string(), checkpoint_prefix).empty())
      checkpoints.push_back(entry.path());
  }
  // Nine digits and more: first by length, so that 10^9 stands after 999999999.
  std::sort(checkpoints.begin(), checkpoints.end(), [](const fs::path& a, const fs::path& b) {
    const std::string x = a.filename().string(), y = b.filename().string();
    return x.size() != y.size() ? x.size() < y.size() : x < y;
  });
  return checkpoints;
}

void remove_old_checkpoints(const fs::path& folder, int keep) {
  const std::vector<fs::path> all = list_checkpoints(folder);
  const std::size_t old = all.size() - std::min(all.size(), static_cast<std::size_t>(keep));
  for (std::size_t i = 0; i < old; ++i) fs::remove(all[i]);
  std::set<std::string> kept;  // their numbers
  for (std::size_t i = old; i < all.size(); ++i)
    kept.insert(number_of(all[i].filename().string(), checkpoint_prefix));
  std::vector<fs::path> parts;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string number = number_of(entry.path().filename().string(), part_prefix);
    if (!number.empty() && !kept.contains(number)) parts.push_back(entry.path());
  }
  for (const fs::path& part : parts) fs::remove(part);
}

void write_checkpoint(const fs::path& path, const TrainingState& state,
                      std::span<const PartialTensor> tensors) {
  const Packed packed(tensors, /*split=*/false);
  Json json = {
      {"iteration", state.iteration}, {"identity", state.identity}, {"progress", state.progress}};
  if (!state.parts.empty()) json["parts"] = state.parts;
  packed.write(path, checkpoint_format, canonical_json(json));
}

Json write_checkpoint_part(const fs::path& folder, std::int64_t iteration, int rank, int processes,
                           std::span<const PartialTensor> tensors) {
  Json rows = Json::object();
  for (const PartialTensor& t : tensors)
    if (t.split()) rows[t.name] = {{"first", t.first}, {"total", t.total}};
  const std::string name =
      fmt::format("{}{:09}-{}-of-{}{}", part_prefix, iteration, rank, processes, checkpoint_suffix);
  const std::string checksum =
      Packed(tensors, /*split=*/true).write(folder / name, part_format, canonical_json(rows));
  return {{"file", name}, {"sha256", checksum}};
}

TrainingState read_checkpoint_state(const fs::path& path) {
  return verified_state(SafetensorsFile(path), path.string());
}

TrainingState read_checkpoint(const fs::path& path, const Json& identity,
                              std::span<const PartialTensor> tensors,
                              std::span<const std::string> may_differ) {
  const SafetensorsFile file(path);
  const std::string where = path.string();
  TrainingState state = verified_state(file, where);
  // Flattened, so that the message names the one option that differs.
  Json expected = identity.flatten(), saved = state.identity.flatten();
  for (const std::string& key : may_differ) {
    expected.erase("/" + key);
    saved.erase("/" + key);
  }
  if (expected != saved) {
    for (const auto& [key, value] : expected.items())
      if (!saved.contains(key) || saved[key] != value)
        fail(where,
             fmt::format("it belongs to another training: {} is {} there and {} here", key,
                         saved.contains(key) ? saved[key].dump() : "absent", value.dump()),
             "Resume with the same recipe, data and threads, or train into another folder");
    fail(where, "it belongs to another training, whose settings this one does not have");
  }

  const auto whole = std::count_if(tensors.begin(), tensors.end(),
                                   [](const PartialTensor& t) { return !t.split(); });
  if (static_cast<std::ptrdiff_t>(file.tensors().size()) != whole)
    fail(where, fmt::format("{} tensors; this training has {}", file.tensors().size(), whole));
  for (const PartialTensor& t : tensors) {
    if (t.split()) continue;
    const TensorInfo& info = file.at(t.name);
    if (info.dtype != checkpoint_dtype(t.tensor.scalar_type()) ||
        info.shape != t.tensor.sizes().vec())
      fail(where, "tensor " + t.name + " has another type or shape");
  }
  for (const PartialTensor& t : tensors)
    if (!t.split()) copy_rows(file.at(t.name).bytes, t.tensor);
  return state;
}

std::vector<std::string> read_checkpoint_tensors(const fs::path& path,
                                                 std::span<const PartialTensor> tensors) {
  const SafetensorsFile file(path);
  verified_state(file, path.string());
  std::vector<std::string> others;
  for (const PartialTensor& t : tensors) {
    if (t.split()) continue;
    const auto found = file.tensors().find(t.name);
    if (found != file.tensors().end() &&
        found->second.dtype == checkpoint_dtype(t.tensor.scalar_type()) &&
        found->second.shape == t.tensor.sizes().vec())
      copy_rows(found->second.bytes, t.tensor);
    else
      others.push_back(t.name);
  }
  return others;
}

void read_checkpoint_parts(const fs::path& folder, const Json& parts,
                           std::span<const PartialTensor> tensors) {
  std::map<std::string, std::int64_t> filled;  // rows of each
  for (const Json& part : parts) {
    const std::string name = part.at("file").get<std::string>();
    const fs::path path = folder / name;
    const std::string where = path.string();
    if (number_of(name, part_prefix).empty())
      fail(where, "is not the name of a part of a checkpoint", "Resume from the one before");
    const SafetensorsFile file(path);
    const Json rows = parse_file_json(verified_text(file, where, part_format), where);
    if (metadata_value(file, "sha256") != part.at("sha256"))
      fail(where, "it is not the part that the checkpoint names", "Resume from the one before");
    for (const PartialTensor& t : tensors) {
      if (!t.split()) continue;
      const TensorInfo& info = file.at(t.name);
      const Json& its = rows.at(t.name);
      std::vector<std::int64_t> row = t.tensor.sizes().vec(), stored = info.shape;
      row[0] = stored[0] = 0;
      if (info.dtype != checkpoint_dtype(t.tensor.scalar_type()) || row != stored ||
          its.at("total") != t.total)
        fail(where, "tensor " + t.name + " has another type or shape");
      const std::int64_t there = its.at("first").get<std::int64_t>(), count = info.shape[0];
      const std::int64_t first = std::max(there, t.first);
      const std::int64_t last = std::min(there + count, t.first + t.tensor.size(0));
      if (first >= last) continue;
      const std::size_t bytes = info.bytes.size() / static_cast<std::size_t>(count);
      copy_rows(info.bytes.subspan(static_cast<std::size_t>(first - there) * bytes,
                                   static_cast<std::size_t>(last - first) * bytes),
                t.tensor.detach().narrow(0, first - t.first, last - first));
      filled[t.name] += last - first;
    }
  }
  for (const PartialTensor& t : tensors)
    if (t.split() && filled[t.name] != t.tensor.size(0))
      fail(folder.string(), "the checkpoint's parts do not hold all rows of " + t.name);
}

}  // namespace facebench

#include "facebench/pipeline/content_cache.h"

#include <dlfcn.h>
#include <torch/version.h>

#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/images/resize.h"
#include "facebench/io/file.h"
#include "facebench/io/file_lock.h"
#include "facebench/io/machine_error.h"
#include "facebench/io/manifest.h"
#include "facebench/io/sha256.h"
#include "facebench/io/tree_hash.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// Linked where both lie on one file system. Files of ours are replaced and never written to, so two
// names for one file are safe.
void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (!error || fs::exists(to)) return;
  const MappedFile mapped(from);
  const auto bytes = mapped.bytes();
  write_file(to, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string data_hash_of(const fs::path& file, const std::string& key_hash) {
  const std::string stem = file.stem().string();
  return stem.starts_with(key_hash + "-") ? stem.substr(key_hash.size() + 1) : std::string();
}

// The file of the key, whole; what is damaged is removed.
std::optional<fs::path> find_entry(const fs::path& folder, const std::string& key_hash,
                                   const Job& job) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string recorded = data_hash_of(entry.path(), key_hash);
    if (recorded.empty() || !entry.is_regular_file()) continue;
    if (sha256_file(entry.path(), job) == recorded) return entry.path();
    fs::remove(entry.path(), error);
    if (error) fail(entry.path().string(), "is damaged and cannot be removed: " + error.message());
  }
  return std::nullopt;
}

// SHA-256 of the library that holds this address: another build may give other bytes.
std::string library_hash(const void* address) {
  Dl_info info;
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr)
    fail("this program", "does not say where the facebench library lies");
  return sha256_file(info.dli_fname);
}

const Json& build() {
  static const Json basics = [] {
    Json b = content_basics();
    b["opencv"] = opencv_version();
    b["libraries"] = {library_hash(reinterpret_cast<const void*>(&pack_key)),
                      library_hash(reinterpret_cast<const void*>(&content_basics))};
    return b;
  }();
  return basics;
}

std::string hash_of_images(const Dataset& dataset, const Job& job) {
  const std::size_t n = dataset.samples.size();
  std::vector<std::string> hashes(n, std::string(kNoFile)), names(n);
  Stage stage(job, "hash", static_cast<std::int64_t>(n), "images");
  parallel_for(
      static_cast<std::int64_t>(n), job,
      [&](std::int64_t i, int) {
        const Sample& sample = dataset.samples[static_cast<std::size_t>(i)];
        names[static_cast<std::size_t>(i)] = sample.id;
        if (!sample.image.exists()) return;
        std::string bytes;
        // Of a faulty file the pack has an unreadable row, with this reason.
        const auto fault = fault_in_file([&] { bytes = sample.image.read(); });
        hashes[static_cast<std::size_t>(i)] = sha256_hex(fault.value_or(bytes));
      },
      &stage);
  return tree_sha256(hashes, names);
}

}  // namespace

ContentCache::Entry ContentCache::take_or_make(std::string_view kind, const Json& key,
                                               const fs::path& out,
                                               const std::function<void(const fs::path&)>& make,
                                               const Job& job) const {
  if (folder_.empty() || key.is_null()) {
    make({});
    return {false, sha256_file(out, job)};
  }
  const fs::path folder = folder_ / kind;
  const std::string key_hash = sha256_hex(canonical_json(key));
  const FileLock lock(folder_ / "locks" / (std::string(kind) + "-" + key_hash), job);
  if (const auto found = find_entry(folder, key_hash, job)) {
    fs::remove(out);
    link_or_copy(*found, out);
    return {true, data_hash_of(*found, key_hash)};
  }
  const fs::path unfinished = folder_ / "unfinished" / (std::string(kind) + "-" + key_hash);
  make(unfinished);
  const std::string hash = sha256_file(out, job);
  fs::create_directories(folder);
  link_or_copy(out, folder / (key_hash + "-" + hash + ".h5"));
  fs::remove(unfinished);
  return {false, hash};
}

Json pack_key(const Dataset& dataset, const Preparation& preparation, const PackOptions& options,
              const Job& job) {
  const Detector* detector = preparation.detector.get();
  if (detector && !detector->is_described()) return nullptr;
  std::vector<std::int32_t> labels;
  for (const Sample& sample : dataset.samples) labels.push_back(sample.label);
  return {{"build", build()},
          {"dataset", dataset.name},
          {"people", dataset.label_names},
          {"labels", labels},
          {"excluded", dataset.excluded},
          {"damaged", dataset.damaged},
          {"images", hash_of_images(dataset, job)},
          {"detector", detector ? detector->description() : Json()},
          {"selection", preparation.selection},
          {"crop", options_to_json(resolve_crop(preparation.crop))},
          {"options", options_to_json(options)}};
}

Json embeddings_key(const BatchModelInfo& model, const std::string& pack_sha256,
                    const ExtractOptions& options) {
  if (model.sha256.empty()) return nullptr;
  return {{"build", build()},
          {"torch", TORCH_VERSION},
          {"model", model.sha256},
          {"description", model.description},
          {"images", options_to_json(model.options)},
          {"input", {model.input.height, model.input.width}},
          {"pack", pack_sha256},
          {"device", model.device_facts},
          {"options", options_to_json(resolved_options(options, model))}};
}

}  // namespace facebench

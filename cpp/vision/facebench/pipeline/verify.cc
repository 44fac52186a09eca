#include "facebench/pipeline/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "facebench/core/error.h"
#include "facebench/io/confine.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/sha256.h"
#include "facebench/io/tree_hash.h"
#include "facebench/pipeline/run.h"
#include "facebench/protocols/run_folder.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// A file that the run may have kept, against the hash in the manifest.
void check_kept_file(std::vector<Check>& checks, const Run& run, const char* name,
                     const Json& expected, const Job& job) {
  const fs::path path = run.folder / name;
  if (!fs::exists(path)) return;
  if (!expected.is_string()) {
    checks.push_back({name, false, "run.json says nothing of this file"});
    return;
  }
  const bool same = sha256_file(path, job) == expected.get<std::string>();
  checks.push_back({name, same, same ? "same bytes" : "the file is not the one that was written"});
}

// The hash over all images, as the pack computed it (datasets/pack.h).
void check_images(std::vector<Check>& checks, const Run& run, const fs::path& root,
                  const RunScores& scores, const Job& job) {
  const Json expected = run.manifest.content.value("images_sha256", Json());
  if (!expected.is_string()) return;
  fs::path folder = run.manifest.circumstance.value("images", "");
  if (!root.empty()) folder = find_images(scores.spec, scores.trials, {.root = root});
  const auto reachable = [&](const fs::path& path) { return may_open(path, {run.folder, root}); };
  if (!reachable(folder)) {
    checks.push_back({"images", false,
                      fmt::format("not read: under --untrusted only the run folder and --root are, "
                                  "and they lay in {}",
                                  folder.string())});
    return;
  }
  const std::vector<std::string>& names = scores.trials.names;
  const Dataset dataset = protocol_dataset(scores.spec, scores.trials, folder);
  std::vector<std::string> hashes(names.size(), std::string(kNoFile));
  {
    Stage stage(job, "hash images", static_cast<std::int64_t>(names.size()), "images");
    parallel_for(
        static_cast<std::int64_t>(names.size()), job,
        [&](std::int64_t i, int) {
          const auto k = static_cast<std::size_t>(i);
          const ImageLocation& image = dataset.samples[k].image;
          if (!reachable(image.path())) return;  // a link out of the root: as if it were not there
          if (image.archive())
            hashes[k] = sha256_hex(image.read());
          else if (fs::is_regular_file(image.path()))
            hashes[k] = sha256_file(image.path());
        },
        &stage);
  }
  const auto missing = std::count(hashes.begin(), hashes.end(), kNoFile);
  const bool same = tree_sha256(hashes, names) == expected.get<std::string>();
  checks.push_back(
      {"images", same,
       same ? fmt::format("{} images, same bytes", names.size())
            : fmt::format("the images in {} differ from those of the run ({} of {} not there)",
                          folder.string(), missing, names.size())});
}

// What run.json says of the pack and the embeddings against what these files say.
void check_kept_manifests(std::vector<Check>& checks, const Run& run) {
  const Json& content = run.manifest.content;
  Json recorded = Json::object(), wanted = Json::object();
  try {
    if (const fs::path pack = run.folder / "pack.h5"; fs::exists(pack)) {
      recorded["preparation"] = content.value("preparation", Json());
      recorded["images_sha256"] = content.value("images_sha256", Json());
      wanted = recorded;
      const Json manifest = H5Reader(pack).read_json("/manifest");
      for (const char* key : {"detector", "selection", "crop", "decode", "failures"})
        wanted["preparation"][key] = manifest.at(key);
      wanted["images_sha256"] = manifest.at("tree_sha256");
    }
    if (const fs::path kept = run.folder / "embeddings.h5"; fs::exists(kept)) {
      recorded["embeddings"] = content.value(Json::json_pointer("/embeddings/manifest"), Json());
      wanted["embeddings"] = H5Reader(kept).read_json("/manifest");
    }
    if (wanted.empty()) return;
    std::string found;
    for (const Json& change : Json::diff(recorded, wanted))
      found += " " + change["path"].get<std::string>();
    checks.push_back({"run.json against pack.h5 and embeddings.h5", found.empty(),
                      found.empty() ? "says what these files say" : "differs at" + found});
  } catch (const std::exception& e) {  // damaged, or values of other types
    checks.push_back({"run.json against pack.h5 and embeddings.h5", false, e.what()});
  }
}

}  // namespace

std::vector<Check> verify(const fs::path& folder, const fs::path& root, const Job& job) {
  std::vector<Check> checks = verify_scores(folder, job);
  for (Check& check : verify_inputs(folder, root, job)) checks.push_back(std::move(check));
  const Run run = read_changed_run(folder);
  const Json& content = run.manifest.content;
  check_kept_file(checks, run, "pack.h5", content.value("pack_sha256", Json()), job);
  check_kept_file(checks, run, "embeddings.h5",
                  content.value(Json::json_pointer("/embeddings/sha256"), Json()), job);
  check_kept_manifests(checks, run);
  try {
    const RunScores scores = read_scores(folder / "scores.h5");
    check_images(checks, run, root, scores, job);
  } catch (const Error& e) {
    checks.push_back({"scores.h5", false, e.what()});
  }
  return checks;
}

}  // namespace facebench

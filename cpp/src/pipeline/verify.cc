#include "facebench/pipeline/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "facebench/core/error.h"
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
  if (!expected.is_string() || !fs::exists(path)) return;
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

}  // namespace

std::vector<Check> verify(const fs::path& folder, const fs::path& root, const Job& job) {
  std::vector<Check> checks = verify_scores(folder, job);
  for (Check& check : verify_inputs(folder, root, job)) checks.push_back(std::move(check));
  const Run run = read_run(folder);
  check_kept_file(checks, run, "pack.h5", run.manifest.content.value("pack_sha256", Json()), job);
  const Json embeddings = run.manifest.content.value("embeddings", Json());
  if (embeddings.is_object())
    check_kept_file(checks, run, "embeddings.h5", embeddings.value("sha256", Json()), job);
  try {
    const RunScores scores = read_scores(folder / "scores.h5");
    check_images(checks, run, root, scores, job);
  } catch (const Error& e) {
    checks.push_back({"scores.h5", false, e.what()});
  }
  return checks;
}

}  // namespace facebench

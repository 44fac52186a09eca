#include "facebench/pipeline/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "facebench/core/error.h"
#include "facebench/io/confine.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/sha256.h"
#include "facebench/io/tree_hash.h"
#include "facebench/pipeline/run.h"
#include "facebench/runs/run_folder.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// The hash of each image as the run's pack has it, where that is there and of these samples.
std::vector<std::string> packed_hashes(const Run& run, std::span<const std::string> names) {
  const fs::path path = run.folder / "pack.h5";
  std::vector<std::string> hashes;
  if (!fs::exists(path)) return hashes;
  const H5Reader pack(path);
  if (!std::ranges::equal(pack.read_texts("/name"), names)) return hashes;
  const auto bytes = pack.read<std::uint8_t>("/file_sha256", 2);
  for (std::size_t i = 0; i < bytes.size() / 32; ++i)
    hashes.push_back(fmt::format("{:02x}", fmt::join(std::span(bytes).subspan(32 * i, 32), "")));
  return hashes;
}

// How the images differ from those of the run: the first ten that do, by name.
std::string changed_images(const Run& run, std::span<const std::string> names,
                           std::span<const std::string> hashes, const fs::path& folder) {
  std::vector<std::string> then;
  try {
    then = packed_hashes(run, names);
  } catch (const Error&) {  // a damaged pack has a check of its own
  }
  const auto missing = std::ranges::count(hashes, kNoFile);
  if (then.size() != names.size())
    return fmt::format(
        "the images in {} differ from those of the run ({} of {} not there); which of them, the "
        "run's pack.h5 would say",
        folder.string(), missing, names.size());
  constexpr std::size_t kNamed = 10;
  std::vector<std::string> changed;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (hashes[i] != then[i])
      changed.push_back(names[i] + (hashes[i] == kNoFile ? " (not there)"
                                    : then[i] == kNoFile ? " (was not there)"
                                                         : ""));
  const std::size_t unnamed = changed.size() - std::min(changed.size(), kNamed);
  changed.resize(changed.size() - unnamed);
  return fmt::format("{} of {} images in {} differ from those of the run: {}{}",
                     changed.size() + unnamed, names.size(), folder.string(),
                     fmt::join(changed, ", "), unnamed ? fmt::format(" and {} more", unnamed) : "");
}

// The hash over all images, as the pack computed it (datasets/pack.h).
void check_images(std::vector<Check>& checks, const Run& run, const fs::path& root,
                  const RunScores& scores, const Job& job) {
  const Json expected = run.manifest.content.value("images_sha256", Json());
  if (!expected.is_string()) return;
  std::optional<TrialSet> named;
  if (is_anonymous(run)) {
    if (!root.empty()) named = lists_of(run, scores, root);
    if (!named || named->names.size() != scores.trials.names.size()) {
      checks.push_back({"images", false,
                        "their names are hashes, and --root does not have the lists that say them",
                        false});
      return;
    }
  }
  const TrialSet& trials = named ? *named : scores.trials;
  const Json recorded = run.manifest.circumstance.value("images", Json());
  fs::path folder = recorded.is_string() ? recorded.get<std::string>() : std::string();
  if (!root.empty()) folder = find_images(scores.spec, trials, {.root = root});
  const auto reachable = [&](const fs::path& path) { return may_open(path, {run.folder, root}); };
  if (!reachable(folder)) {
    checks.push_back({"images", false,
                      fmt::format("not read: under --untrusted only the run folder and --root are, "
                                  "and they lay in {}",
                                  folder.string())});
    return;
  }
  const std::vector<std::string>& names = trials.names;
  const Dataset dataset = protocol_dataset(scores.spec, trials, folder);
  std::vector<std::string> hashes(names.size(), std::string(kNoFile));
  {
    Stage stage(job, "hash images", static_cast<std::int64_t>(names.size()), "images");
    parallel_for(
        static_cast<std::int64_t>(names.size()), job,
        [&](std::int64_t i, int) {
          const auto k = static_cast<std::size_t>(i);
          const ImageLocation& image = dataset.samples[k].image;
          if (!reachable(image.path())) return;  // a link out of the root: as if it were not there
          std::error_code ignored;               // a loop of links
          if (image.archive())
            hashes[k] = sha256_hex(image.read());
          else if (fs::is_regular_file(image.path(), ignored))
            hashes[k] = sha256_file(image.path());
        },
        &stage);
  }
  const bool same = tree_sha256(hashes, names) == expected.get<std::string>();
  checks.push_back({"images", same,
                    same ? fmt::format("{} images, same bytes", names.size())
                         : changed_images(run, names, hashes, folder)});
}

}  // namespace

std::vector<Check> verify(const fs::path& folder, const fs::path& root, const Job& job) {
  std::vector<Check> checks = verify_scores(folder, job);
  for (Check& check : verify_inputs(folder, root, job)) checks.push_back(std::move(check));
  const Run run = read_changed_run(folder);
  std::string checked = "scores.h5";
  try {
    const RunScores scores = read_scores(folder / "scores.h5");
    checked = "images";
    check_images(checks, run, root, scores, job);
  } catch (const Error& e) {
    checks.push_back({checked, false, e.what()});
  }
  return checks;
}

}  // namespace facebench

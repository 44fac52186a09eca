#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <span>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/sha256.h"
#include "facebench/io/tree_hash.h"
#include "facebench/runs/internal/checks.h"
#include "facebench/runs/own_protocol.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// A file that the run may have kept, against the hash in the manifest.
void check_kept_file(std::vector<Check>& checks, const Run& run, const char* name,
                     const Json& expected, const Job& job) {
  const fs::path path = run.folder / name;
  if (!fs::exists(path)) {
    if (expected.is_string()) checks.push_back(not_checked(name, "is not in the run folder"));
    return;
  }
  if (!expected.is_string()) {
    checks.push_back({name, false, "run.json says nothing of this file"});
    return;
  }
  const bool same = sha256_file(path, job) == expected.get<std::string>();
  checks.push_back({name, same, same ? "same bytes" : "the file is not the one that was written"});
}

// Hexadecimal hashes of the images of a pack.
std::vector<std::string> image_hashes(const H5Reader& pack) {
  const auto bytes = pack.read<std::uint8_t>("/file_sha256", 2);
  std::vector<std::string> hashes;
  for (std::size_t i = 0; i < bytes.size() / 32; ++i)
    hashes.push_back(fmt::format("{:02x}", fmt::join(std::span(bytes).subspan(32 * i, 32), "")));
  return hashes;
}

// What the manifest of a run's pack may say.
constexpr const char* kPackParts[] = {"archive",
                                      "counts",
                                      "crop",
                                      "crop_sized",
                                      "damaged",
                                      "dataset",
                                      "decode",
                                      "detector",
                                      "excluded",
                                      "exif_tagged",
                                      "doubtful_landmarks",
                                      "failures",
                                      "format",
                                      "image",
                                      "kind",
                                      "label_names",
                                      "opencv",
                                      "outside",
                                      "selection",
                                      "tree_sha256",
                                      "unlabelled"};

// The data sets of a file that a run keeps; another is nothing that a reader looks at.
std::string another_member(const H5Reader& file, std::initializer_list<const char*> known) {
  for (const std::string& name : file.names())
    if (std::ranges::find(known, name) == known.end())
      return fmt::format("holds /{}, which no run has", printable(name));
  return {};
}

// What a pack says of all its images together, against the samples of scores.h5. `ours`: whether
// the protocol is one of facebench's, whose name the data set then has.
std::string difference_of_sums(const Json& manifest, const RunScores& s, bool ours) {
  for (const auto& [key, value] : manifest.items())
    if (std::ranges::find(kPackParts, key) == std::end(kPackParts))
      return fmt::format("says '{}', which no pack of a run does", printable(key));
  std::map<std::string, std::int64_t> counts;
  for (const SampleStatus status : s.status) ++counts[std::string(sample_status_name(status))];
  const Json counted = manifest.value("counts", Json::object());
  for (const auto& [status, count] : counted.items())
    if (count != counts[status]) return "counts other images than scores.h5";
  Json expected = {{"name", s.spec.id},
                   {"images", s.trials.names.size()},
                   {"people", s.trials.identity_names.size()}};
  const Json dataset = manifest.value("dataset", Json::object());
  if (!ours && dataset.is_object()) expected["name"] = dataset.value("name", Json());
  return dataset == expected ? "" : "is of another data set than scores.h5";
}

// What differs of a pack's people, status and failures from the samples of scores.h5; empty: none.
std::string difference_of_pack(const H5Reader& pack, const RunScores& s, bool ours) {
  const Json manifest = pack.read_json("/manifest");
  if (std::string other = another_member(pack, {"images", "label", "name", "box", "landmarks",
                                                "status", "file_sha256", "manifest"});
      !other.empty())
    return other;
  if (std::string other = difference_of_sums(manifest, s, ours); !other.empty()) return other;
  if (pack.read<std::int32_t>("/label", 1) != s.trials.identity ||
      manifest.value("label_names", Json()) != Json(s.trials.identity_names))
    return "shows other people than scores.h5";
  const auto status = pack.read<std::uint8_t>("/status", 1);
  if (!std::ranges::equal(status, s.status, {}, {},
                          [](SampleStatus x) { return static_cast<std::uint8_t>(x); }))
    return "has another status of images than scores.h5";
  std::vector<std::string> failed, listed;
  for (std::size_t i = 0; i < s.status.size(); ++i)
    if (s.status[i] != SampleStatus::ok)
      failed.push_back(fmt::format("{} {}", s.trials.names[i], sample_status_name(s.status[i])));
  for (const Json& failure : manifest.value("failures", Json::array()))
    listed.push_back(fmt::format("{} {}", text_at(failure, "/id"), text_at(failure, "/status")));
  return failed == listed ? "" : "lists other failures than its images have";
}

// The images of pack.h5 and embeddings.h5 have to be the samples of scores.h5, one by one, and the
// hash over all images that of the images which the pack names.
std::optional<Check> compared_names(const Run& run, const RunScores& s) {
  const char* name = "images of pack.h5 and embeddings.h5";
  std::string compared;
  if (!run.manifest.content.contains("pack_sha256")) return std::nullopt;
  try {
    for (const char* file : {"pack.h5", "embeddings.h5"}) {
      if (!fs::exists(run.folder / file)) continue;
      const H5Reader kept(run.folder / file);
      const std::vector<std::string> names = kept.read_texts("/name");
      const std::vector<std::string>& samples = s.trials.names;
      if (names != samples) {
        const auto at =
            static_cast<std::size_t>(std::ranges::mismatch(names, samples).in1 - names.begin());
        return Check{name, false,
                     fmt::format("{} has {} images, scores.h5 {} samples; image {} is {} where "
                                 "scores.h5 has {}",
                                 file, names.size(), samples.size(), at,
                                 at < names.size() ? printable(names[at]) : "none",
                                 at < samples.size() ? printable(samples[at]) : "none")};
      }
      if (kept.has("/file_sha256") &&
          tree_sha256(image_hashes(kept), names) != text_at(run.manifest.content, "/images_sha256"))
        return Check{name, false,
                     fmt::format("{}: the hashes of its images are not those of images_sha256 in "
                                 "run.json",
                                 file)};
      if (std::string other = kept.has("/label") ? difference_of_pack(kept, s, !own_protocol(run))
                                                 : another_member(kept, {"embedding", "name",
                                                                         "status", "manifest"});
          !other.empty())
        return Check{name, false, fmt::format("{} {}", file, other)};
      compared += fmt::format("{}{}", compared.empty() ? "" : " and ", file);
    }
  } catch (const Error& e) {
    return Check{name, false, e.what()};
  }
  if (compared.empty()) return std::nullopt;
  return Check{name, true,
               fmt::format("{}: {} names as in scores.h5", compared, s.trials.names.size())};
}

// What run.json says of the pack and the embeddings against what these files say.
void check_kept_manifests(std::vector<Check>& checks, const Run& run) {
  const Json& content = run.manifest.content;
  Json recorded = Json::object(), expected = Json::object();
  try {
    if (const fs::path pack = run.folder / "pack.h5"; fs::exists(pack)) {
      recorded["preparation"] = content.value("preparation", Json());
      recorded["images_sha256"] = content.value("images_sha256", Json());
      const Json manifest = H5Reader(pack).read_json("/manifest");
      if (recorded["preparation"].is_object() && recorded["preparation"].contains("decided_by"))
        expected["preparation"]["decided_by"] = recorded["preparation"]["decided_by"];
      for (const char* key : {"detector", "selection", "crop", "decode", "failures"})
        expected["preparation"][key] = manifest.at(key);
      for (const char* key : {"outside", "exif_tagged", "opencv"})
        if (manifest.contains(key)) expected["preparation"][key] = manifest[key];
      expected["images_sha256"] = manifest.at("tree_sha256");
    }
    if (const fs::path kept = run.folder / "embeddings.h5"; fs::exists(kept)) {
      recorded["embeddings"] = content.value(Json::json_pointer("/embeddings/manifest"), Json());
      expected["embeddings"] = H5Reader(kept).read_json("/manifest");
      if (content.contains("pack_sha256")) {
        if (const Json images = content.value("images_sha256", Json()); images.is_string())
          expected["embeddings"]["images_sha256"] = images;
        const Json said = content.value("embeddings", Json::object());
        for (const auto& [key, value] : said.items())
          if (key != "manifest" && key != "sha256") recorded["of embeddings"][key] = value;
      }
      // Where the embeddings say which network made them.
      if (const Json::json_pointer name("/model/network"); expected["embeddings"].contains(name)) {
        recorded["embedder"] = content.value("embedder", Json());
        expected["embedder"] = expected["embeddings"][name];
      }
    }
    // Which model made them.
    if (const auto made = expected.find("embeddings");
        made != expected.end() && made->contains("model_sha256"))
      for (const Json& input : content.at("inputs"))
        if (text_at(input, "/role") == "model" &&
            Json(text_at(input, "/sha256")) != (*made)["model_sha256"]) {
          recorded["inputs"]["model"] = text_at(input, "/sha256");
          expected["inputs"]["model"] = (*made)["model_sha256"];
        }
    // Only what makes embeddings of photographs knows a model.
    if (content.contains("embedder") && !content.contains("pack_sha256")) {
      recorded["embedder"] = content["embedder"];
      expected["embedder"] = nullptr;
    }
    if (expected.empty()) return;
    std::string paths;
    for (const Json& change : Json::diff(recorded, expected))
      paths += " " + change["path"].get<std::string>();
    checks.push_back({"run.json against pack.h5 and embeddings.h5", paths.empty(),
                      paths.empty() ? "says what these files say" : "differs at" + paths});
  } catch (const std::exception& e) {  // damaged, or values of other types
    checks.push_back({"run.json against pack.h5 and embeddings.h5", false, e.what()});
  }
}

}  // namespace

std::string stated_beside(const Json& sentences, const std::vector<std::string>& follow) {
  std::vector<std::string> others;
  for (const Json& sentence : sentences)
    if (sentence.is_string() &&
        std::ranges::find(follow, sentence.get<std::string>()) == follow.end())
      others.push_back(fmt::format("'{}'", printable(sentence.get<std::string>())));
  if (others.empty()) return {};
  return fmt::format("; {} more stated, not checked: {}", others.size(), fmt::join(others, ", "));
}

void check_kept_names(std::vector<Check>& checks, const Run& run, const RunScores& scores) {
  if (auto check = compared_names(run, scores)) checks.push_back(*std::move(check));
}

void check_kept(std::vector<Check>& checks, const Run& run, const Job& job) {
  const Json& content = run.manifest.content;
  check_kept_file(checks, run, "pack.h5", content.value("pack_sha256", Json()), job);
  if (content.contains("pack_sha256"))
    check_kept_file(checks, run, "embeddings.h5",
                    content.value(Json::json_pointer("/embeddings/sha256"), Json()), job);
  else if (fs::exists(run.folder / "embeddings.h5"))  // of an evaluation, that keeps none
    checks.push_back(not_checked("embeddings.h5", "run.json says nothing of this file"));
  check_kept_manifests(checks, run);
}

}  // namespace facebench

#include "facebench/embedding/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/nfc.h"
#include "facebench/datasets/image_rows.h"
#include "facebench/embedding/odd_rows.h"
#include "facebench/io/embedding_file.h"
#include "facebench/io/hdf5.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// Rows [first, second) of a shard. Only images with a face are computed, and batches are theirs.
std::pair<std::int64_t, std::int64_t> rows_of(const ImageSource& images, const Shard& shard,
                                              std::int64_t batch) {
  std::vector<std::int64_t> faces;
  for (std::int64_t i = 0; i < images.size(); ++i)
    if (images.status(i) == SampleStatus::ok) faces.push_back(i);
  const auto batches = (static_cast<std::int64_t>(faces.size()) + batch - 1) / batch;
  const auto row = [&](std::int64_t of_batch) {
    return of_batch == 0 ? 0 : faces[static_cast<std::size_t>(of_batch * batch)];
  };
  const auto [first, end] = range_of(shard, batches);
  return {row(first), shard.number == shard.count ? images.size() : row(end)};
}

const Json& place_of(const Json& manifest) {
  const auto it = manifest.find("shard");
  if (it == manifest.end() || !it->is_object())
    throw std::invalid_argument(
        "these embeddings are not a shard: they are whole, or not facebench's");
  for (const char* key : {"number", "count", "first", "rows", "of"})
    if (!it->contains(key) || !(*it)[key].is_number_integer())
      throw std::invalid_argument(fmt::format("the manifest of a shard does not say its {}", key));
  return *it;
}

// Of the whole: what is only of a shard is left out.
Json without_shard(Json manifest) {
  manifest.erase("shard");
  manifest.erase("odd_rows");
  return manifest;
}

int number_of(const Json& manifest) { return place_of(manifest)["number"].get<int>(); }
Shard shard_of(const Json& manifest) {
  return {number_of(manifest), place_of(manifest)["count"].get<int>()};
}

constexpr const char* kMerged = "the merged shards";

// That a shard of `rows` rows follows `before` rows of the whole.
void require_next(const Json& manifest, std::int64_t rows, std::int64_t dim, const Json& of_whole,
                  std::int64_t before, std::int64_t of_dim) {
  const Json& place = place_of(manifest);
  if (without_shard(manifest) != of_whole || dim != of_dim || place["first"] != before ||
      place["rows"] != rows)
    throw std::invalid_argument(
        fmt::format("shard {} was computed by another model, version or processor, or with other "
                    "options, than shard 1, or is of another source",
                    place["number"].dump()));
}

constexpr std::int64_t kBlockNumbers = 4 << 20;  // 16 MB of them at a time

// What is kept of a shard's file while all are read.
struct PartFile {
  fs::path path;
  Json manifest;
  std::int64_t rows = 0, dim = 0;
};

std::uint64_t hash_of_name(const std::string& name) {
  return std::hash<std::string>()(may_change_in_nfc(name) ? nfc(name) : name);
}

struct Parts {
  std::vector<PartFile> files;        // in their order
  std::vector<std::uint64_t> hashes;  // of all names, in NFC
  std::size_t width = 1;              // bytes of the longest name
};

Parts parts_of(std::span<const fs::path> shards) {
  Parts parts;
  std::vector<Shard> places;
  for (const fs::path& path : shards) {
    const EmbeddingFile file(path);
    const PartFile& part =
        parts.files.emplace_back(PartFile{path, file.manifest(), file.size(), file.dim()});
    places.push_back(shard_of(part.manifest));
    for (const std::string& name : file.names()) {
      parts.width = std::max(parts.width, name.size());
      parts.hashes.push_back(hash_of_name(name));
    }
  }
  check_all_shards(places);
  std::ranges::sort(parts.files, {}, [](const PartFile& part) { return number_of(part.manifest); });
  return parts;
}

// Names are read again only where their hashes are equal.
void refuse_repeated_names(Parts& parts) {
  std::ranges::sort(parts.hashes);
  std::set<std::uint64_t> repeated;
  for (std::size_t i = 1; i < parts.hashes.size(); ++i)
    if (parts.hashes[i] == parts.hashes[i - 1]) repeated.insert(parts.hashes[i]);
  parts.hashes = {};
  if (repeated.empty()) return;
  std::vector<std::string> names;
  std::vector<std::size_t> numbers;
  std::size_t before = 0;
  for (const PartFile& part : parts.files) {
    const EmbeddingFile file(part.path);
    for (std::size_t i = 0; i < file.names().size(); ++i)
      if (repeated.contains(hash_of_name(file.names()[i]))) {
        names.push_back(file.names()[i]);
        numbers.push_back(before + i);
      }
    before += file.names().size();
  }
  check_names(names, numbers, kMerged);
}

}  // namespace

EmbeddingSet extract_shard(const BatchModel& model, const ImageSource& images, const Shard& shard,
                           const ExtractOptions& options, const Job& job) {
  check_shard(shard);
  const auto [first, end] =
      rows_of(images, shard, *resolved_options(options, model.info()).micro_batch);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(end - first));
  std::iota(rows.begin(), rows.end(), first);
  EmbeddingSet set = extract(model, ImageRows(images, std::move(rows)), options, job);
  set.manifest["shard"] = {{"number", shard.number},
                           {"count", shard.count},
                           {"first", first},
                           {"rows", end - first},
                           {"of", images.size()}};
  return set;
}

EmbeddingSet extract_shard(const Model& model, const ImageSource& images, const Shard& shard,
                           const ExtractOptions& options, const Job& job) {
  return extract_shard(*make_batch_model(model, options), images, shard, options, job);
}

EmbeddingSet merge_shards(std::vector<EmbeddingSet> shards) {
  std::vector<Shard> places;
  for (const EmbeddingSet& set : shards) places.push_back(shard_of(set.manifest));
  check_all_shards(places);
  std::ranges::sort(shards, {}, [](const EmbeddingSet& set) { return number_of(set.manifest); });
  EmbeddingSet whole;
  whole.dim = shards[0].dim;
  whole.manifest = without_shard(shards[0].manifest);
  for (EmbeddingSet& set : shards) {
    require_next(set.manifest, static_cast<std::int64_t>(set.size()), set.dim, whole.manifest,
                 static_cast<std::int64_t>(whole.size()), whole.dim);
    whole.values.insert(whole.values.end(), set.values.begin(), set.values.end());
    whole.names.insert(whole.names.end(), set.names.begin(), set.names.end());
    whole.status.insert(whole.status.end(), set.status.begin(), set.status.end());
    set = {};
  }
  check_embeddings(whole, kMerged);
  if (const std::string odd = odd_rows(whole, /*images_differ=*/true); !odd.empty())
    whole.manifest["odd_rows"] = odd;
  return whole;
}

MergedShards merge_shard_files(std::span<const fs::path> shards, const fs::path& out,
                               const Job& job) {
  Parts parts = parts_of(shards);
  MergedShards merged{0, parts.files[0].dim};
  Json manifest = without_shard(parts.files[0].manifest);
  for (const PartFile& part : parts.files) {
    require_next(part.manifest, part.rows, part.dim, manifest, merged.rows, merged.dim);
    merged.rows += part.rows;
  }
  refuse_repeated_names(parts);

  H5Writer writer(out);
  writer.create_dataset("/embedding", H5Type::float32, {merged.rows, merged.dim});
  writer.create_texts("/name", merged.rows, parts.width);
  writer.create_dataset("/status", H5Type::uint8, {merged.rows});
  Stage stage(job, "merge", merged.rows, "rows");
  OddRows odd;
  const std::int64_t block = std::max<std::int64_t>(1, kBlockNumbers / merged.dim);
  std::int64_t row = 0;
  for (const PartFile& part : parts.files) {
    EmbeddingFile file(part.path);
    if (file.size() != part.rows || file.dim() != merged.dim)
      fail(part.path.string(), "the file has changed since it was opened");
    for (std::int64_t first = 0; first < file.size(); first += block) {
      const EmbeddingSet rows = file.rows(first, std::min(block, file.size() - first));
      odd.add(rows);
      std::vector<std::uint8_t> status;
      for (const SampleStatus s : rows.status) status.push_back(static_cast<std::uint8_t>(s));
      writer.write_rows<float>("/embedding", row, rows.values);
      writer.write_text_rows("/name", row, rows.names);
      writer.write_rows<std::uint8_t>("/status", row, status);
      stage.update(row += static_cast<std::int64_t>(rows.size()));
    }
  }
  if (std::string text = odd.text(/*images_differ=*/true); !text.empty())
    manifest["odd_rows"] = std::move(text);
  writer.write_json("/manifest", manifest);
  writer.commit();
  return merged;
}

}  // namespace facebench

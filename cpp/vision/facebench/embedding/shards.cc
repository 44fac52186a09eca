#include "facebench/embedding/shards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>

#include "facebench/datasets/image_rows.h"

namespace facebench {
namespace {

constexpr int kMostShards = 1'000'000;

// Rows [first, second) of a shard. Only images with a face are computed, and batches are theirs.
std::pair<std::int64_t, std::int64_t> rows_of(const ImageSource& images, const Shard& shard,
                                              std::int64_t batch) {
  std::vector<std::int64_t> faces;
  for (std::int64_t i = 0; i < images.size(); ++i)
    if (images.status(i) == SampleStatus::ok) faces.push_back(i);
  const auto batches = (static_cast<std::int64_t>(faces.size()) + batch - 1) / batch;
  const auto begin = [&](std::int64_t number) {
    if (number == 0) return std::int64_t{0};
    const std::int64_t face = batches * number / shard.count * batch;
    const auto there = static_cast<std::int64_t>(faces.size());
    return number == shard.count || face >= there ? images.size()
                                                  : faces[static_cast<std::size_t>(face)];
  };
  return {begin(shard.number - 1), begin(shard.number)};
}

const Json& shard_of(const EmbeddingSet& set) {
  const auto it = set.manifest.find("shard");
  if (it == set.manifest.end() || !it->is_object())
    throw std::invalid_argument(
        "these embeddings are no shard: they are whole, or not facebench's");
  for (const char* key : {"number", "count", "first", "rows", "of"})
    if (!it->contains(key) || !(*it)[key].is_number_integer())
      throw std::invalid_argument(fmt::format("the manifest of a shard does not say its {}", key));
  if ((*it)["count"] < 1 || (*it)["count"] > kMostShards)
    throw std::invalid_argument(
        fmt::format("a shard of {}: at most {} are merged", (*it)["count"].dump(), kMostShards));
  return *it;
}

Json without_shard(Json manifest) {
  manifest.erase("shard");
  return manifest;
}

}  // namespace

EmbeddingSet extract_shard(const BatchModel& model, const ImageSource& images, const Shard& shard,
                           const ExtractOptions& options, const Job& job) {
  if (shard.count < 1 || shard.number < 1 || shard.number > shard.count)
    throw std::invalid_argument(fmt::format(
        "shard {}/{}: expected a number from 1 to the count of shards", shard.number, shard.count));
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
  if (shards.empty()) throw std::invalid_argument("no shards to merge");
  const auto number = [](const EmbeddingSet& set) { return shard_of(set)["number"].get<int>(); };
  const Json first = shard_of(shards[0]);
  std::set<int> missing;
  for (int i = 1; i <= first["count"].get<int>(); ++i) missing.insert(i);
  for (const EmbeddingSet& set : shards) {
    const Json& shard = shard_of(set);
    if (shard["count"] != first["count"] || shard["of"] != first["of"])
      throw std::invalid_argument(fmt::format(
          "shards of different sources: one of {} shards of {} images, one of {} of {}",
          first["count"].dump(), first["of"].dump(), shard["count"].dump(), shard["of"].dump()));
    if (missing.erase(number(set)) == 0)
      throw std::invalid_argument(fmt::format("shard {} of {} is there twice, or is none",
                                              number(set), first["count"].dump()));
  }
  if (!missing.empty())
    throw std::invalid_argument(fmt::format("shards are missing: {} of {}",
                                            fmt::join(missing, ", "), first["count"].dump()));
  std::sort(shards.begin(), shards.end(),
            [&](const EmbeddingSet& a, const EmbeddingSet& b) { return number(a) < number(b); });
  EmbeddingSet whole;
  whole.dim = shards[0].dim;
  whole.manifest = without_shard(shards[0].manifest);
  for (EmbeddingSet& set : shards) {
    const Json& shard = shard_of(set);
    if (without_shard(set.manifest) != whole.manifest || set.dim != whole.dim ||
        shard["first"] != whole.size() || shard["rows"] != set.size())
      throw std::invalid_argument(
          fmt::format("shard {} was computed by another model, version or processor, or with other "
                      "options, than shard 1",
                      number(set)));
    whole.values.insert(whole.values.end(), set.values.begin(), set.values.end());
    whole.names.insert(whole.names.end(), set.names.begin(), set.names.end());
    whole.status.insert(whole.status.end(), set.status.begin(), set.status.end());
    set = {};
  }
  check_embeddings(whole, "the merged shards");
  return whole;
}

}  // namespace facebench

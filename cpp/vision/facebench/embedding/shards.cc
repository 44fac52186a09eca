#include "facebench/embedding/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "facebench/datasets/image_rows.h"
#include "facebench/embedding/odd_rows.h"

namespace facebench {
namespace {

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

const Json& place_of(const EmbeddingSet& set) {
  const auto it = set.manifest.find("shard");
  if (it == set.manifest.end() || !it->is_object())
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
  for (const EmbeddingSet& set : shards)
    places.push_back({place_of(set)["number"].get<int>(), place_of(set)["count"].get<int>()});
  check_all_shards(places);
  std::ranges::sort(shards, {},
                    [](const EmbeddingSet& set) { return place_of(set)["number"].get<int>(); });
  EmbeddingSet whole;
  whole.dim = shards[0].dim;
  whole.manifest = without_shard(shards[0].manifest);
  for (EmbeddingSet& set : shards) {
    const Json& place = place_of(set);
    if (without_shard(set.manifest) != whole.manifest || set.dim != whole.dim ||
        place["first"] != whole.size() || place["rows"] != set.size())
      throw std::invalid_argument(
          fmt::format("shard {} was computed by another model, version or processor, or with other "
                      "options, than shard 1, or is of another source",
                      place["number"].dump()));
    whole.values.insert(whole.values.end(), set.values.begin(), set.values.end());
    whole.names.insert(whole.names.end(), set.names.begin(), set.names.end());
    whole.status.insert(whole.status.end(), set.status.begin(), set.status.end());
    set = {};
  }
  check_embeddings(whole, "the merged shards");
  if (const std::string odd = odd_rows(whole, /*images_differ=*/true); !odd.empty())
    whole.manifest["odd_rows"] = odd;
  return whole;
}

}  // namespace facebench

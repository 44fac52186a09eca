#include "facebench/training/internal/training_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <set>
#include <span>

#include "facebench/datasets/pack.h"
#include "facebench/core/person_names.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/manifest.h"

namespace facebench {
namespace {

bool trained_on(const TrainingSet& set, std::int64_t i) {
  return set.labels[static_cast<std::size_t>(i)] >= 0 && set.images->status(i) == SampleStatus::ok;
}

// Null where the pack does not know the files.
Json trained_images(const TrainingSet& set, const Pack& pack) {
  constexpr std::size_t named = 2048;
  const H5Reader file(pack.path());
  if (!file.has("/file_sha256")) return nullptr;
  const auto hashes = file.read<std::uint8_t>("/file_sha256", 2);
  if (static_cast<std::int64_t>(hashes.size()) != 32 * pack.size()) return nullptr;
  std::set<std::string> lowest;
  std::int64_t images = 0;
  for (std::int64_t i = 0; i < pack.size(); ++i) {
    if (!trained_on(set, i)) continue;
    ++images;
    lowest.insert(fmt::format(
        "{:02x}", fmt::join(std::span(hashes).subspan(32 * static_cast<std::size_t>(i), 8), "")));
    if (lowest.size() > named) lowest.erase(std::prev(lowest.end()));
  }
  return {{"images", images}, {"sha256", lowest}};
}

Json trained_people(const TrainingSet& set, const Pack& pack) {
  std::set<std::int32_t> people;
  for (std::int64_t i = 0; i < pack.size(); ++i)
    if (trained_on(set, i)) people.insert(pack.label(i));
  std::set<std::string> names;
  for (const std::int32_t person : people)
    if (const std::string& name = pack.label_names().at(static_cast<std::size_t>(person));
        !normalized_name(name).empty())
      names.insert(name);
  return {{"people", people.size()}, {"names", names}};
}

}  // namespace

Json training_identity(const Recipe& recipe, const TrainingSet& data,
                       const TrainingClasses& classes, const TrainOptions& options,
                       const TrainCallbacks& callbacks, int processes, int threads,
                       at::Device device) {
  Json identity = {{"recipe", recipe_to_json(recipe)},
                   {"data", training_set_hash(data)},
                   {"images", classes.samples.size()},
                   {"classes", classes.count},
                   {"threads", threads},
                   {"processes", processes},
                   {"device", device.is_cuda() ? "cuda" : "cpu"},
                   {"deterministic", options.deterministic || device.is_cpu()},
                   {"torch", TORCH_VERSION}};
  if (callbacks.network) identity["recipe"]["network"] = callbacks.network->description;
  if (callbacks.loss) identity["recipe"]["loss"] = callbacks.loss->description;
  if (callbacks.validation) identity["validation"] = callbacks.validation->description();
  if (!data.excluded.is_null()) identity["excluded"] = data.excluded;
  identity.update(content_basics());
  return identity;
}

Json training_record(const Recipe& recipe, const TrainingSet& data, const TrainingClasses& classes,
                     const TrainCallbacks& callbacks, const std::string& data_sha256,
                     const Json& trained_by) {
  Json set = {{"images", classes.samples.size()},
              {"people", classes.count},
              {"sha256", data_sha256},
              {"content", data.content_hash}};
  if (!data.name.empty()) set["name"] = data.name;
  if (!data.excluded.is_null()) set["removed"] = data.excluded;
  if (!data.archive.is_null()) set["archive"] = data.archive;
  Json record = {{"recipe", recipe.id},
                 {"changed", changed_settings(recipe)},
                 {"loss", callbacks.loss ? callbacks.loss->description : Json(recipe.loss)},
                 {"training_set", std::move(set)}};
  if (!recipe.training.freeze.empty()) record["frozen"] = recipe.training.freeze;
  if (!recipe.batch_scaling.is_null()) record["batch_scaling"] = recipe.batch_scaling;
  record.update(trained_by);
  return record;
}

Json trained_content(const TrainingSet& data) {
  Json content = Json::object();
  const auto* pack = dynamic_cast<const Pack*>(data.images);
  if (!pack) return content;
  if (Json images = trained_images(data, *pack); !images.is_null())
    content["trained_images"] = std::move(images);
  content["trained_people"] = trained_people(data, *pack);
  return content;
}

}  // namespace facebench

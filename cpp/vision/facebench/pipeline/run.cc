#include "facebench/pipeline/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include "facebench/archives/archive.h"
#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/core/person_names.h"
#include "facebench/crops/crop.h"
#include "facebench/datasets/pack_writer.h"
#include "facebench/embedding/extractor.h"
#include "facebench/images/resize.h"
#include "facebench/io/exclusion.h"
#include "facebench/io/file.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/manifest.h"
#include "facebench/io/presence.h"
#include "facebench/io/sha256.h"
#include "facebench/pipeline/content_cache.h"
#include "facebench/pipeline/internal/kept_faces.h"
#include "facebench/runs/save.h"
#include "facebench/trials/anonymous.h"
#include "facebench/trials/without.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// The faces outside of their images, as a pack's manifest has them.
OutsideFaces outside_faces(const Json& manifest) {
  OutsideFaces outside;
  if (const auto found = manifest.find("outside"); found != manifest.end()) {
    outside.faces = manifest.at("counts").at("ok");
    outside.boxes = found->at("boxes");
    outside.landmarks = found->at("landmarks");
    outside.names = found->at("names").get<std::vector<std::string>>();
  }
  return outside;
}

// The images that seem to be crops already, as a pack's manifest has them.
CropSizedImages crop_sized_images(const Json& manifest) {
  const auto found = manifest.find("crop_sized");
  if (found == manifest.end()) return {};
  return {found->at("images"),
          found->at("decoded"),
          {manifest.at("image").at("height"), manifest.at("image").at("width")}};
}

// The images that ask to be turned, as a pack's manifest has them.
TaggedImages tagged_images(const Json& manifest) {
  const auto found = manifest.find("exif_tagged");
  if (found == manifest.end()) return {};
  return {found->at("images"), found->at("decoded"), manifest.at("decode").at("exif_orientation")};
}

// The landmarks that are not those of a face, as a pack's manifest has them.
DoubtfulLandmarks doubtful_landmarks(const Json& manifest) {
  const auto found = manifest.find("doubtful_landmarks");
  if (found == manifest.end()) return {};
  return {manifest.at("counts").at("ok"),
          found->at("causes").get<std::map<std::string, std::int64_t>>(),
          found->at("names").get<std::vector<std::string>>()};
}

// The manifest of the model's training, beside its file; null where none is there, or where it is
// of another training.
Json training_of(const BatchModelInfo& model) {
  const fs::path path = model.file.parent_path() / "run.json";
  if (model.file.empty() || model.options.training_run.empty() || !is_file(path)) return nullptr;
  Json training;
  try {
    training = read_manifest(path).content;
  } catch (const Error&) {
    return nullptr;  // of something else, or damaged: it says nothing of this model
  }
  return training.value("training_run", Json()) == model.options.training_run ? training
                                                                              : Json(nullptr);
}

std::vector<std::string> texts_at(const Json& object, const char* pointer) {
  std::vector<std::string> texts;
  if (const Json::json_pointer at(pointer); object.contains(at) && object[at].is_array())
    for (const Json& one : object[at])
      if (one.is_string()) texts.push_back(one.get<std::string>());
  return texts;
}

// A warning where the training of the model says that it saw images or people of the pack; empty
// where it did not, or where nothing is known of it. Of a large training its manifest names a part
// of the images, so this counts those that are sure. People are those of such images, and those of
// the same names.
std::string trained_on_warning(const BatchModelInfo& model, const Pack& pack) {
  const Json training = training_of(model);
  if (training.is_null()) return {};
  const std::vector<std::string> images = texts_at(training, "/trained_images/sha256");
  const std::vector<std::string> names = texts_at(training, "/trained_people/names");
  const std::set<std::string> trained(images.begin(), images.end());
  const std::set<std::int32_t> tested(pack.labels().begin(), pack.labels().end());
  std::set<std::int32_t> people;
  for (const NameMatch& match : match_names(names, pack.label_names()).matches)
    if (tested.contains(match.second)) people.insert(match.second);
  const auto hashes = H5Reader(pack.path()).read<std::uint8_t>("/file_sha256", 2);
  std::int64_t both = 0;
  for (std::int64_t i = 0; i < pack.size(); ++i) {
    const auto hash = std::span(hashes).subspan(32 * static_cast<std::size_t>(i), 8);
    if (!trained.contains(fmt::format("{:02x}", fmt::join(hash, "")))) continue;
    ++both;
    people.insert(pack.label(i));
  }
  if (people.empty()) return {};
  std::string text = fmt::format(
      "The model was trained on people that it is tested on: {} of the {}, by their names and "
      "images.",
      people.size(), tested.size());
  if (!trained.empty())
    text +=
        fmt::format(" It was trained on {} of the {} images, going by {} of its training images.",
                    both, pack.size(), trained.size());
  return text;
}

Preparation preparation_for(const RunRequest& request, const ProtocolSpec& spec,
                            const PreparationOptions& model) {
  std::vector<PreparationSource> sources = {{"caller", request.preparation}, {"model", model}};
  sources.insert(sources.begin() + 1,
                 {"data set", preparation_of(spec, find_lists(spec, request.places), sources)});
  return resolve_preparation(sources);
}

}  // namespace

void RunRequest::describe(OptionsBuilder<RunRequest>& o) {
  o.name("RunRequest", "From photographs to a run folder.");
  o.fields_of(&RunRequest::places);
  o.fields_of(&RunRequest::preparation);
  o.fields_of(&RunRequest::pack);
  o.fields_of(&RunRequest::extract);
  o.fields_of(&RunRequest::evaluation);
  o.field("exclude", &RunRequest::exclude,
          "a list of people and samples to leave out (data overlap, inspect)");
  o.field("only", &RunRequest::only,
          "a list of people and samples that alone stay: one person a line");
  o.field("limit", &RunRequest::limit,
          "a quick look: at most so many comparisons of a list, or images of another protocol; the "
          "result says so",
          1, 9e15);
  o.field("discard", &RunRequest::discard, "do not keep pack.h5 and embeddings.h5");
  o.field("anonymous", &RunRequest::anonymous,
          "write names as hashes, no paths and no faces: for lists that are secret");
  o.field("overwrite", &RunRequest::overwrite, "replace an existing result");
  o.field("cache", &RunRequest::cache,
          "where packs and embeddings are kept, and taken from when the same are needed again");
}

Dataset protocol_dataset(const ProtocolSpec& spec, const TrialSet& trials, const fs::path& images) {
  Dataset dataset;
  dataset.name = spec.id;
  dataset.root = images;
  dataset.label_names = trials.identity_names;
  dataset.samples.reserve(trials.names.size());
  if (is_file(images)) {
    const auto archive = open_image_archive(images);
    std::unordered_map<std::string, std::int64_t> entries;
    for (std::int64_t i = 0; i < archive->size(); ++i) entries.emplace(archive->name(i), i);
    for (std::size_t i = 0; i < trials.names.size(); ++i) {
      const auto entry = entries.find(trials.names[i]);
      const ImageLocation image = entry == entries.end()
                                      ? ImageLocation(images / trials.names[i])
                                      : ImageLocation(images, archive, entry->second);
      dataset.samples.push_back({trials.names[i], image, trials.identity[i]});
    }
    return dataset;
  }
  const std::vector<fs::path> paths = image_paths(spec, trials, images);
  for (std::size_t i = 0; i < trials.names.size(); ++i)
    dataset.samples.push_back({trials.names[i], paths[i], trials.identity[i]});
  return dataset;
}

Result run(const RunRequest& request, const fs::path& model_path, const fs::path& out,
           const Job& job) {
  return run(request, load_model(model_path), out, job);
}

Result run(const RunRequest& request, const Model& model, const fs::path& out, const Job& job) {
  return run(request, *make_batch_model(model, request.extract), out, job);
}

Result run(const RunRequest& request, const BatchModel& model, const fs::path& out,
           const Job& job) {
  // All that can be wrong with the request is found before the first image is opened.
  const ProtocolSpec spec = load_protocol(request.protocol);
  resolve_options(spec, request.evaluation);
  if (request.anonymous && request.evaluation.has_backend())
    throw std::invalid_argument(
        "anonymous: does not go with a back end, whose people are compared with those tested by "
        "their names");
  refuse_taken(out, request.overwrite);
  const Preparation preparation = preparation_for(request, spec, preparation_of(model.info()));
  TrialSet trials = read_trials(spec, request.places);
  if (request.evaluation.strict) refuse_blemishes(trials, spec.id);
  trials = without(trials, read_exclusions(request.exclude, request.only));
  if (request.limit) trials = limited(trials, *request.limit);
  const fs::path images = find_images(spec, trials, request.places);
  const Dataset dataset = protocol_dataset(spec, trials, images);

  // Large files are made beside the result and moved into it; they go away when anything fails.
  const AtomicFolder work(fs::path(out).concat(".work"), true);
  const fs::path pack_path = work.temporary() / "pack.h5";
  const ContentCache cache(request.cache);
  const bool caching = !request.cache.empty();
  // Embeds crops while others are cut out.
  std::unique_ptr<CropExtractor> extractor;
  const auto pack_entry = cache.take_or_make(
      "pack", caching ? pack_key(dataset, preparation, request.pack, job) : Json(), pack_path,
      [&](const fs::path& unfinished) {
        const Detector* detector = preparation.detector.get();
        std::optional<KeptFaces> kept;
        if (detector && !unfinished.empty()) detector = &kept.emplace(*detector, unfinished);
        const CropOptions crop = resolve_crop(preparation.crop);
        extractor = std::make_unique<CropExtractor>(
            model, ImageShape{static_cast<int>(*crop.height), static_cast<int>(*crop.width)},
            static_cast<std::int64_t>(dataset.samples.size()), request.extract,
            pack_workers(detector, job));
        pack_dataset(dataset, detector, preparation.selection, preparation.crop, request.pack,
                     pack_path, job,
                     {.stage = "pack and embed",
                      .take = [&](std::int64_t i, const Image& image, int worker) {
                        extractor->add(i, image.data.data(), worker);
                      }});
      },
      job);
  const Pack pack(pack_path);
  const Json& packed = pack.manifest();
  const std::string images_sha256 = packed.at("tree_sha256");
  Json preparation_json = {{"detector", packed.at("detector")},
                           {"selection", packed.at("selection")},
                           {"crop", packed.at("crop")},
                           {"decode", packed.at("decode")},
                           {"decided_by", preparation.decided_by},
                           {"failures", packed.at("failures")}};
  for (const char* oddity : {"outside", "exif_tagged", "opencv"})
    if (packed.contains(oddity)) preparation_json[oddity] = packed.at(oddity);
  const fs::path embeddings_path = work.temporary() / "embeddings.h5";
  const auto embeddings_entry = cache.take_or_make(
      "embeddings",
      caching ? embeddings_key(model.info(), pack_entry.sha256, request.extract) : Json(),
      embeddings_path,
      [&](const fs::path&) {
        EmbeddingSet embeddings =
            extractor ? extractor->finish(pack, job) : extract(model, pack, request.extract, job);
        embeddings.manifest["images_sha256"] = images_sha256;
        write_embeddings(embeddings_path, embeddings);
      },
      job);
  EmbeddingSet embeddings = read_embeddings(embeddings_path);
  std::string embeddings_sha256 = embeddings_entry.sha256;
  std::optional<HashedNames> hashed;
  if (request.anonymous) {
    hashed.emplace(trials);
    trials = hashed->of(std::move(trials));
    for (std::string& name : embeddings.names) name = hashed->of(name);
    // The file may be the cache's: another takes its place.
    fs::remove(embeddings_path);
    write_embeddings(embeddings_path, embeddings);
    embeddings_sha256 = sha256_file(embeddings_path, job);
    preparation_json.erase("outside");
  }

  const std::pair<const char*, bool> taken[] = {{"pack", pack_entry.taken},
                                                {"embeddings", embeddings_entry.taken}};
  for (const auto& [what, from_cache] : taken)
    if (from_cache && request.reused) request.reused(what);

  Result result = evaluate(trials, embeddings, request.evaluation, job);
  if (std::string warning = trained_on_warning(model.info(), pack); !warning.empty())
    result.warnings.insert(result.warnings.begin(), std::move(warning));
  std::vector<std::string> absent;
  for (std::size_t i = 0; i < dataset.samples.size(); ++i)
    if (result.status[i] == SampleStatus::missing) absent.push_back(dataset.samples[i].id);
  if (std::string advice = absent_images_advice(absent, images); !advice.empty())
    result.warnings.push_back(std::move(advice));
  if (std::string warning = outside_warning(outside_faces(packed)); !warning.empty())
    result.notes.push_back(std::move(warning));
  if (std::string warning = crop_sized_warning(crop_sized_images(packed)); !warning.empty())
    result.warnings.push_back(std::move(warning));
  if (std::string warning = tagged_warning(tagged_images(packed)); !warning.empty())
    result.warnings.push_back(std::move(warning));
  if (std::string warning = doubtful_landmarks_warning(doubtful_landmarks(packed));
      !warning.empty())
    result.warnings.push_back(std::move(warning));
  if (!model.info().file.empty())
    result.inputs.push_back({"model", model.info().file, model.info().sha256});
  result.embeddings = {{"manifest", embeddings.manifest}, {"sha256", embeddings_sha256}};
  if (hashed)
    for (auto* texts : {&result.notes, &result.warnings})
      for (std::string& text : *texts) text = hashed->without_names(text);

  RunInfo info;
  info.anonymous = request.anonymous;
  info.command = request.command;
  info.threads = job.threads;
  info.root = request.places.root;
  info.content = {{"preparation", preparation_json},
                  {"embedder", model.info().name},
                  {"images_sha256", images_sha256},
                  {"pack_sha256", pack_entry.sha256}};
  info.circumstance = {
      {"images", request.anonymous ? Json() : Json(fs::absolute(images).generic_string())},
      {"opencv", opencv_version()},
      {"cache", {{"pack", pack_entry.taken}, {"embeddings", embeddings_entry.taken}}}};
  if (!caching) info.circumstance.erase("cache");
  save_run(out, result, info, request.overwrite, [&](const fs::path& folder) {
    if (request.pages) request.pages(folder);
    if (!request.discard) {
      if (!request.anonymous) fs::rename(pack_path, folder / "pack.h5");
      fs::rename(embeddings_path, folder / "embeddings.h5");
    }
    // Whoever is killed when the run is there leaves nothing beside it.
    std::error_code ignored;
    fs::remove_all(work.temporary(), ignored);
  });
  return result;
}

void pack_protocol(const RunRequest& request, const PreparationOptions& model,
                   std::span<const std::string> names, const fs::path& out, const Job& job) {
  const ProtocolSpec spec = load_protocol(request.protocol);
  const Preparation preparation = preparation_for(request, spec, model);
  const TrialSet trials = read_trials(spec, request.places);
  const Dataset dataset = select_samples(
      protocol_dataset(spec, trials, find_images(spec, trials, request.places)), names);
  const ContentCache cache(request.cache);
  cache.take_or_make(
      "pack", request.cache.empty() ? Json() : pack_key(dataset, preparation, request.pack, job),
      out,
      [&](const fs::path&) {
        pack_dataset(dataset, preparation.detector.get(), preparation.selection, preparation.crop,
                     request.pack, out, job);
      },
      job);
}

}  // namespace facebench

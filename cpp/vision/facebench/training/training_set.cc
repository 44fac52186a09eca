#include "facebench/training/training_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "facebench/archives/archive.h"
#include "facebench/core/error.h"
#include "facebench/io/presence.h"
#include "facebench/io/sha256.h"

namespace facebench {
namespace {

// Images whose bytes are hashed: all of a small set, of a large one some that are spread evenly, so
// that a set of millions begins to train within seconds.
constexpr std::size_t kHashedImages = 4096;

std::string hash_of_images(const Dataset& dataset) {
  const std::size_t n = dataset.samples.size(), hashed = std::min(n, kHashedImages);
  Sha256 all;
  for (std::size_t k = 0; k < hashed; ++k)
    all.update(sha256_hex(dataset.samples[k * n / hashed].image.read()) + "\n");
  return fmt::format("{} of {} images: {}", hashed, n, all.hex());
}

std::int64_t count_at(const Json& object, const char* pointer) {
  const Json::json_pointer at(pointer);
  return object.contains(at) && object[at].is_number_integer() ? object[at].get<std::int64_t>() : 0;
}

void refuse_unlabelled(const std::filesystem::path& path, std::int64_t unlabelled,
                       std::int64_t images) {
  if (unlabelled == 0) return;
  fail(path.string(),
       fmt::format("{} of {} images have no label: each would be trained as a person of its own",
                   unlabelled, images),
       "Name the column or key that says who it is: the option label (--label). 'data scan' names "
       "those that are there.");
}

void leave_out(TrainingSet& set, const ExcludedImages& excluded) {
  for (std::size_t i = 0; i < set.labels.size(); ++i)
    if (excluded.out[i]) set.labels[i] = -1;
  set.excluded = excluded.json;
  set.notes.insert(set.notes.end(), excluded.notes.begin(), excluded.notes.end());
}

}  // namespace

TrainingSet training_set(const Pack& pack, const Exclusions& lists) {
  TrainingSet set;
  set.images = &pack;
  set.labels.assign(pack.labels().begin(), pack.labels().end());
  if (!lists.empty())
    leave_out(set, excluded_images(lists, pack.label_names(), pack.names(), pack.labels()));
  // A pack made by hand may say less than ours do; what it does not say stays at its default.
  const Json& manifest = pack.manifest();
  refuse_unlabelled(pack.path(), count_at(manifest, "/unlabelled"), pack.size());
  set.content_hash = text_at(manifest, "/tree_sha256");
  if (manifest.is_object()) set.archive = manifest.value("archive", Json());
  if (const std::string name = text_at(manifest, "/detector/detector"); !name.empty()) {
    set.preparation["detector"] = name;
    set.preparation["detector_mode"] = text_at(manifest, "/detector/options/mode");
  }
  if (const std::string selection = text_at(manifest, "/selection"); !selection.empty())
    set.preparation["selection"] = selection;
  if (const std::string crop = text_at(manifest, "/crop/name"); !crop.empty())
    set.preparation["crop"] = crop;
  return set;
}

TrainingSet training_set(const DecodedImages& images, const Exclusions& lists) {
  const Dataset& dataset = images.dataset();
  TrainingSet set;
  set.images = &images;
  std::vector<std::string> names;
  std::vector<std::int32_t> labels;
  for (const Sample& sample : dataset.samples) {
    labels.push_back(sample.label);
    if (!lists.empty()) names.push_back(sample.id);
  }
  set.labels.assign(labels.begin(), labels.end());
  set.notes = dataset.notes;
  if (!lists.empty()) leave_out(set, excluded_images(lists, dataset.label_names, names, labels));
  refuse_unlabelled(dataset.root, dataset.unlabelled, images.size());
  set.content_hash = hash_of_images(dataset);
  set.archive = dataset.archive;
  return set;
}

OpenedTrainingSet open_training_set(const std::filesystem::path& path, const Exclusions& lists,
                                    const std::optional<ImageShape>& shape,
                                    const ArchiveOptions& options) {
  OpenedTrainingSet opened;
  const bool archive = find_image_archive(path) != nullptr;
  const bool folder = !archive && is_folder(path);
  if (!archive && !folder && !(options.label.empty() && options.split.empty()))
    throw std::invalid_argument("label and split are of an archive or a folder: " + path.string() +
                                " is a pack");
  if (archive || folder) {
    auto images = std::make_unique<const DecodedImages>(
        archive ? read_archive(path, 0, {}, options)
                : read_image_folder(path, options.label, options.split),
        shape);
    opened.set = training_set(*images, lists);
    opened.images = std::move(images);
  } else {
    auto pack = std::make_unique<const Pack>(path);
    opened.set = training_set(*pack, lists);
    opened.images = std::move(pack);
  }
  opened.set.name = (path.has_filename() ? path : path.parent_path()).stem().string();
  return opened;
}

TrainingClasses training_classes(const TrainingSet& set) {
  if (!set.images) throw std::invalid_argument("training set: no images");
  const std::int64_t n = set.images->size();
  if (static_cast<std::int64_t>(set.labels.size()) != n)
    throw std::invalid_argument(
        fmt::format("training set: {} labels for {} images", set.labels.size(), n));
  TrainingClasses classes;
  std::map<std::int64_t, std::int64_t> number;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t label = set.labels[static_cast<std::size_t>(i)];
    if (label < 0 || set.images->status(i) != SampleStatus::ok) continue;
    classes.samples.push_back(i);
    number[label] = 0;
  }
  if (number.size() < 2)
    fail("training set",
         fmt::format("{} with a usable image", number.empty() ? "nobody" : "a single person"),
         "Training needs two at least: check labels and statuses of the pack");
  for (auto& [label, index] : number) index = classes.count++;
  classes.labels.assign(static_cast<std::size_t>(n), -1);
  for (const std::int64_t i : classes.samples)
    classes.labels[static_cast<std::size_t>(i)] = number[set.labels[static_cast<std::size_t>(i)]];
  return classes;
}

std::string training_set_hash(const TrainingSet& set) {
  const ImageShape shape = set.images->shape();
  Sha256 hash;
  hash.update(fmt::format("{} {} {} {}\n", set.images->size(), shape.height, shape.width,
                          set.content_hash));
  for (std::int64_t i = 0; i < set.images->size(); ++i)
    hash.update(fmt::format("{} {} {}\n", set.labels[static_cast<std::size_t>(i)],
                            static_cast<int>(set.images->status(i)), set.images->name(i)));
  return hash.hex();
}

}  // namespace facebench

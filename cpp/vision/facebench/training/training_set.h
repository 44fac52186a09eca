#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facebench/datasets/decoded_images.h"
#include "facebench/datasets/exclusion.h"
#include "facebench/datasets/image_source.h"
#include "facebench/datasets/pack.h"
#include "facebench/io/json.h"

namespace facebench {

// What a training reads: images of one size with a person for each.
struct TrainingSet {
  const ImageSource* images = nullptr;  // not owned
  // A person's number for each image; below zero: not trained on. Images without a face (status)
  // are never trained on either.
  std::vector<std::int64_t> labels;
  // Of the images' bytes: as a pack's manifest has it, or of the image files, all up to 4,096, else
  // 4,096 of them, spread evenly ("4096 of 5179510 images: HASH"). Empty where nothing is known; a
  // resume then can tell other data by names, labels and statuses only.
  std::string content_hash;
  // How the crops were made (detector, selection, crop), copied into the model file.
  Json preparation = Json::object();
  // What a list left out (ExcludedImages::json); null without one.
  Json excluded = nullptr;
  // Of an archive what was asked for of ArchiveOptions ({"label", "split"}), here or when its pack
  // was made; null: nothing.
  Json archive = nullptr;
  // What it is called in the model file; of an opened one the name of its file or folder.
  std::string name;
  std::vector<std::string> notes;  // Dataset::notes
};

// All of a pack, which must outlive the result; what lists leave out is not trained on. Throws
// Error where nothing of the list is in the pack, and where images have no label: each would be
// trained as a person of its own.
TrainingSet training_set(const Pack& pack, const Exclusions& lists = {});

// What is trained on without a pack: the images of a data set, decoded on the fly; they must
// outlive the result. Throws as above.
TrainingSet training_set(const DecodedImages& images, const Exclusions& lists = {});

// A training set and the images it reads.
struct OpenedTrainingSet {
  std::unique_ptr<const ImageSource> images;
  TrainingSet set;
};
// Opens a pack (.h5), an archive (io/archive.h) or a folder of people. Images that are decoded on
// the fly have the size of the first one, unless `shape` names one. `options` are of an archive.
// Throws Error as these do.
OpenedTrainingSet open_training_set(const std::filesystem::path& path, const Exclusions& lists = {},
                                    const std::optional<ImageShape>& shape = {},
                                    const ArchiveOptions& options = {});

// The images to train on, with the labels numbered 0, 1, ... in the order of the persons' numbers.
struct TrainingClasses {
  std::vector<std::int64_t> samples;  // indices of the image source
  std::vector<std::int64_t> labels;   // class of each image of the source, -1 where not trained on
  std::int64_t count = 0;
};

// Throws std::invalid_argument where labels and images differ in number, Error where fewer than two
// persons are left.
TrainingClasses training_classes(const TrainingSet& set);

// SHA-256 of size, names, labels, statuses and content_hash.
std::string training_set_hash(const TrainingSet& set);

}  // namespace facebench

#include "facebench/datasets/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "facebench/archives/remote.h"
#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/core/extension.h"
#include "facebench/core/natural_order.h"
#include "facebench/core/nfc.h"
#include "facebench/core/numbers.h"
#include "facebench/core/utf8.h"
#include "facebench/datasets/folder_levels.h"
#include "facebench/io/image_files.h"
#include "facebench/io/presence.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void require_folder(const fs::path& root) {
  if (const auto address = remote_address(root))
    fail(*address, "is not a folder of this machine",
         "On object stores tar, zip, Parquet and Arrow files are read.");
  if (!is_folder(root))
    fail(root.string(), "no such folder", "Give the folder that holds one folder for each person.");
}

Dataset read_people(std::string name, const fs::path& root) {
  require_folder(root);
  Dataset dataset{std::move(name), root, {}, {}};
  std::vector<fs::path> litter;
  std::unordered_map<std::string, std::int32_t> people;  // as names are compared -> label
  std::vector<std::string> twice;
  for (const fs::path& person : list_folder(root, &litter)) {
    if (!is_folder(person)) {
      if (has_image_ending(person))
        dataset.passed_over.push_back(printable(person.filename().string()));
      continue;
    }
    const auto [images, others, litter_below] = list_images(person);
    for (const fs::path& one : litter_below) litter.push_back(person / one);
    for (const fs::path& other : others)
      dataset.passed_over.push_back(printable((person.filename() / other).generic_string()));
    if (images.empty()) continue;
    std::string called = name_of_path(root, person.filename());
    const auto [known, fresh] =
        people.try_emplace(nfc(called), static_cast<std::int32_t>(dataset.label_names.size()));
    const std::int32_t label = known->second;
    if (fresh)
      dataset.label_names.push_back(std::move(called));
    else
      twice.push_back(printable(called));
    for (const fs::path& image : images)
      dataset.samples.push_back(
          {name_of_path(root, person.filename() / image), person / image, label});
  }
  if (dataset.samples.empty())
    fail(root.string(), "no folder with images",
         "Expected one folder for each person, with " + known_image_formats() + " files in it.");
  if (!twice.empty())
    dataset.notes.push_back(
        fmt::format("{} people have two folders, whose names differ in their Unicode form alone: "
                    "each counts as one person ({}).",
                    twice.size(), first_names(twice)));
  for (fs::path& path : litter) path = path.lexically_relative(root);
  if (std::string note = litter_note(litter); !note.empty())
    dataset.notes.push_back(std::move(note));
  return dataset;
}

bool is_below(const Sample& sample) {
  return std::count(sample.id.begin(), sample.id.end(), '/') > 1;
}

// Whether the only person of a set has folders below, which may be the people.
bool one_person_of_folders(const Dataset& dataset) {
  return dataset.label_names.size() == 1 &&
         std::any_of(dataset.samples.begin(), dataset.samples.end(), is_below);
}

// The samples in the outer folders that a split names, "train+val".
Dataset take_split(Dataset dataset, std::string_view split) {
  std::set<std::int32_t> chosen;
  for (std::size_t begin = 0; begin <= split.size();) {
    const std::size_t end = std::min(split.find('+', begin), split.size());
    const std::string name(split.substr(begin, end - begin));
    const auto found = std::ranges::find(dataset.label_names, nfc(name),
                                         [](const std::string& known) { return nfc(known); });
    if (found == dataset.label_names.end()) {
      std::vector<std::string> there;
      for (const std::string& known : dataset.label_names) there.push_back(printable(known));
      fail(dataset.root.string(), fmt::format("no folder '{}' with images", printable(name)),
           fmt::format("There are {}.", first_names(there, 12)));
    }
    chosen.insert(static_cast<std::int32_t>(found - dataset.label_names.begin()));
    begin = end + 1;
  }
  std::erase_if(dataset.samples, [&](const Sample& s) { return !chosen.contains(s.label); });
  std::erase_if(dataset.passed_over, [&](const std::string& file) {
    return std::ranges::none_of(chosen, [&](std::int32_t label) {
      return file.starts_with(printable(dataset.label_names[static_cast<std::size_t>(label)]) +
                              "/");
    });
  });
  return dataset;
}

}  // namespace

Dataset read_image_folder(const fs::path& root, std::string_view level, std::string_view split) {
  if (!level.empty() && level != "1" && level != "2")
    throw std::invalid_argument(
        fmt::format("label: of a folder it is 1 where the people are the folders in it, 2 where "
                    "they are the folders in those; not '{}'",
                    printable(level)));
  if (!split.empty() && level == "1")
    throw std::invalid_argument(
        "split names folders in which the people are, which is label 2, not 1");
  Dataset dataset = read_people("folder", root);
  if (!split.empty()) {
    dataset = people_of_inner_folders(take_split(std::move(dataset), split));
    if (!level.empty()) dataset.archive["label"] = level;
    dataset.archive["split"] = split;
    return dataset;
  }
  if (!level.empty()) {
    if (level == "2") dataset = people_of_inner_folders(std::move(dataset));
    dataset.archive["label"] = level;
    return dataset;
  }
  if (dataset.label_names.size() == 1 && dataset.label_names[0] == "images" &&
      std::all_of(dataset.samples.begin(), dataset.samples.end(), is_below)) {
    dataset = read_people("folder", root / "images");
    dataset.notes.emplace_back("The people are the folders in 'images'.");
  }
  look_for_parts(dataset);
  if (one_person_of_folders(dataset))
    dataset.notes.push_back(fmt::format(
        "All {} images count as one person, '{}', whose folder holds folders. If these are the "
        "people, give that folder.",
        dataset.samples.size(), printable(dataset.label_names[0])));
  return dataset;
}

Dataset read_lfw_folder(const fs::path& root) {
  require_folder(root);
  Dataset dataset = read_people("lfw", is_folder(root / "images") ? root / "images" : root);
  for (const Sample& sample : dataset.samples) {
    const std::string& person = dataset.label_names[sample.label];
    const std::string stem = without_extension(sample.id), start = person + "/" + person + "_";
    const std::string_view number =
        std::string_view(stem).substr(std::min(stem.size(), start.size()));
    if (!stem.starts_with(start) || number.size() != 4 ||
        !std::all_of(number.begin(), number.end(), is_digit))
      fail(sample.image.where(), "not named after its folder",
           fmt::format("Expected {0}/{0}_0001.jpg; use data set 'folder' for any names.", person));
  }
  return dataset;
}

Dataset select_samples(const Dataset& dataset, std::span<const std::string> names, bool by_stem) {
  const auto key = [by_stem](std::string_view id) {
    const std::string name = compared_name(id);
    return by_stem ? without_extension(name) : name;
  };
  std::unordered_map<std::string, std::vector<std::size_t>> known;
  for (std::size_t i = 0; i < dataset.samples.size(); ++i)
    known[key(dataset.samples[i].id)].push_back(i);
  std::map<std::string, std::int32_t> labels;
  for (std::size_t i = 0; i < dataset.label_names.size(); ++i)
    labels.emplace(dataset.label_names[i], static_cast<std::int32_t>(i));

  Dataset result{dataset.name, dataset.root, {}, dataset.label_names};
  std::set<std::string> taken;
  for (const std::string& name : names) {
    if (!taken.insert(key(name)).second) continue;
    if (const auto found = known.find(key(name)); found != known.end()) {
      if (found->second.size() > 1)
        fail(dataset.root.string(),
             fmt::format("'{}' names both {} and {}", name, dataset.samples[found->second[0]].id,
                         dataset.samples[found->second[1]].id),
             "Remove one of the two files.");
      result.samples.push_back(dataset.samples[found->second[0]]);
      continue;
    }
    const std::string person(name.substr(0, std::min(name.size(), name.find('/'))));
    const auto [label, fresh] =
        labels.emplace(person, static_cast<std::int32_t>(result.label_names.size()));
    if (fresh) result.label_names.push_back(person);
    result.samples.push_back({name, dataset.root / fs::path(name), label->second});
  }
  return result;
}

const Table<DatasetReader>& dataset_readers() {
  static const Table<DatasetReader> table("data set", [] {
    std::vector<DatasetReader> rows = {
        {"lfw", "Labeled Faces in the Wild and sets in its layout: NAME/NAME_0001.jpg",
         [](const fs::path& root, std::int64_t, const ArchiveOptions&) {
           return read_lfw_folder(root);
         }},
        {"folder", "any images, one folder for each person",
         [](const fs::path& root, std::int64_t, const ArchiveOptions& options) {
           return read_image_folder(root, options.label, options.split);
         }}};
    for (const ImageArchiveFormat& format : image_archives().entries())
      rows.push_back({format.name, format.doc,
                      [name = format.name](const fs::path& root, std::int64_t skip_damaged,
                                           const ArchiveOptions& options) {
                        return read_archive(root, skip_damaged, name, options);
                      }});
    return rows;
  }());
  return table;
}

Dataset read_dataset(std::string_view name, const fs::path& root, std::int64_t skip_damaged,
                     const ArchiveOptions& options) {
  if (skip_damaged < 0)
    throw std::invalid_argument("the number of damaged entries to skip is below 0");
  const DatasetReader& reader = dataset_readers().at(name);
  if (!(options.label.empty() && options.split.empty()) && name != "folder" &&
      !image_archives().find(name))
    throw std::invalid_argument(fmt::format(
        "label and split are of archives and of 'folder', and '{}' is a folder of people", name));
  return reader.read(root, skip_damaged, options);
}

}  // namespace facebench

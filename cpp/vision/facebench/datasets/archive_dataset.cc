#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "facebench/archives/archive.h"
#include "facebench/core/error.h"
#include "facebench/core/natural_order.h"
#include "facebench/core/nfc.h"
#include "facebench/core/utf8.h"
#include "facebench/datasets/dataset.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

// What an archive says of an entry's person.
struct Whose {
  std::int64_t label = -1;
  std::string person;
};

// Persons by their labels, ascending, called by the names that go with them.
void number_labels(Dataset& dataset, const std::vector<Whose>& whose) {
  std::map<std::int64_t, std::int32_t> numbers;
  std::map<std::int64_t, std::string> names;
  std::map<std::string, std::int64_t> labels;
  std::string clash;
  for (const Whose& one : whose) {
    numbers[one.label] = 0;
    const std::string& name = names.emplace(one.label, one.person).first->second;
    const std::int64_t label = labels.emplace(nfc(one.person), one.label).first->second;
    if (!clash.empty()) continue;
    if (nfc(name) != nfc(one.person))
      clash = fmt::format("label {} is '{}' and '{}'", one.label, printable(name),
                          printable(one.person));
    else if (label != one.label)
      clash = fmt::format("'{}' is label {} and {}", printable(name), label, one.label);
  }
  for (auto& [label, number] : numbers) {
    number = static_cast<std::int32_t>(dataset.label_names.size());
    dataset.label_names.push_back(clash.empty() ? names[label] : fmt::format("{}", label));
  }
  if (!clash.empty())
    dataset.notes.push_back(fmt::format(
        "Names and labels do not fit together ({}): people are told by their labels.", clash));
  for (std::size_t i = 0; i < whose.size(); ++i) dataset.samples[i].label = numbers[whose[i].label];
}

// Persons by what each is called, compared as nfc() has it: in the order in which they come, or
// (`sorted`) in natural order.
void number_names(Dataset& dataset, const std::vector<Whose>& whose, bool sorted) {
  std::unordered_map<std::string, std::int32_t> numbers;  // by name as it is compared
  for (const Whose& one : whose)
    if (numbers.emplace(nfc(one.person), 0).second) dataset.label_names.push_back(one.person);
  if (sorted) std::ranges::sort(dataset.label_names, natural_less);
  for (std::size_t i = 0; i < dataset.label_names.size(); ++i)
    numbers[nfc(dataset.label_names[i])] = static_cast<std::int32_t>(i);
  for (std::size_t i = 0; i < whose.size(); ++i)
    dataset.samples[i].label = numbers[nfc(whose[i].person)];
}

// A note where all images lie in one folder, which is then the person, or where folders of one name
// lie in several: parts of a set (train/ann, val/ann) or of people (ann/video_1, bob/video_1), of
// which each counts as a person.
void note_odd_folders(Dataset& dataset, const std::set<std::string>& people, std::size_t images) {
  if (people.size() == 1 && images == dataset.samples.size() && images > 1)
    dataset.notes.push_back(
        fmt::format("All {} images count as one person, '{}', the folder in which they lie.",
                    images, printable(*people.begin())));
  std::map<std::string, std::vector<std::string>> outer;  // by the inner name
  for (const std::string& person : people) {
    const std::size_t slash = person.rfind('/');
    if (slash != std::string::npos)
      outer[person.substr(slash + 1)].push_back(person.substr(0, slash));
  }
  std::erase_if(outer, [](const auto& one) { return one.second.size() < 2; });
  if (outer.empty()) return;
  std::set<std::string> folders;
  std::vector<std::string> names;
  std::size_t count = 0;
  for (const auto& [name, in] : outer) {
    names.push_back(printable(name));
    for (const std::string& folder : in) folders.insert(printable(folder));
    count += in.size();
  }
  dataset.notes.push_back(fmt::format(
      "{} of {} people are folders of {} names ({}) that lie in several folders ({}): each counts "
      "as a person of its own. If these are parts of one set or of one person, unpack the archive "
      "and read it as a folder, with --label 1 (the outer ones are the people) or --label 2 (the "
      "inner ones are).",
      count, people.size(), names.size(), first_names(names),
      first_names({folders.begin(), folders.end()})));
}

// Of entries without a label the person is the folder in the name, else the entry itself.
void take_folders(Dataset& dataset, std::vector<Whose>& whose, const ImageArchive& archive) {
  std::set<std::string> folders;
  std::size_t in_folders = 0;
  for (std::size_t i = 0; i < whose.size(); ++i) {
    if (!whose[i].person.empty()) continue;
    const std::string& id = dataset.samples[i].id;
    const std::size_t slash = id.rfind('/');
    whose[i].person = id.substr(0, slash);
    if (slash == std::string::npos) {
      ++dataset.unlabelled;
    } else {
      ++in_folders;
      folders.insert(nfc(whose[i].person));
    }
  }
  note_odd_folders(dataset, folders, in_folders);
  if (dataset.unlabelled == 0) return;
  const std::string places = archive.label_places();
  dataset.notes.push_back(fmt::format(
      "No label: {} of {} images count as a person each. {}", dataset.unlabelled, whose.size(),
      places.empty() ? "The archive does not say who they are."
                     : fmt::format("Name what says who it is (--label NAME): {}.", places)));
}

Json given_options(const ArchiveOptions& options) {
  Json given;
  if (!options.label.empty()) given["label"] = options.label;
  if (!options.split.empty()) given["split"] = options.split;
  return given;
}

}  // namespace

Dataset read_archive(const std::filesystem::path& path, std::int64_t skip_damaged,
                     std::string_view format, const ArchiveOptions& options) {
  const auto archive = open_image_archive(path, options, format);
  Dataset dataset;
  dataset.name = format.empty() ? find_image_archive(path)->name : std::string(format);
  dataset.root = path;
  dataset.notes = archive->notes();
  dataset.archive = given_options(options);
  dataset.samples.reserve(static_cast<std::size_t>(archive->size()));
  std::vector<Whose> whose;
  for (std::int64_t i = 0; i < archive->size(); ++i) {
    try {
      Whose one{archive->label(i), archive->person(i)};
      dataset.samples.push_back({archive->name(i), {path, archive, i}, 0});
      whose.push_back(std::move(one));
    } catch (const Error& e) {
      if (static_cast<std::int64_t>(dataset.damaged.size()) >= skip_damaged) throw;
      dataset.damaged.emplace_back(e.what());
    }
  }
  if (dataset.samples.empty()) fail(path.string(), "holds no image");
  if (std::ranges::all_of(whose, [](const Whose& one) { return one.label >= 0; })) {
    number_labels(dataset, whose);
  } else {
    const bool named =
        std::ranges::none_of(whose, [](const Whose& one) { return one.person.empty(); });
    take_folders(dataset, whose, *archive);
    number_names(dataset, whose, named);
  }
  return dataset;
}

}  // namespace facebench

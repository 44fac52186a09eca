#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "facebench/archives/archive.h"
#include "facebench/core/error.h"
#include "facebench/datasets/dataset.h"

namespace facebench {
namespace {

// Persons in the order in which they come; by name.
std::int32_t person_number(std::unordered_map<std::string, std::int32_t>& numbers, Dataset& dataset,
                           const std::string& person) {
  const auto [at, fresh] =
      numbers.emplace(person, static_cast<std::int32_t>(dataset.label_names.size()));
  if (fresh) dataset.label_names.push_back(person);
  return at->second;
}

// Persons by their labels, ascending.
void number_labels(Dataset& dataset, const std::vector<std::int64_t>& labels) {
  std::map<std::int64_t, std::int32_t> numbers;
  for (const std::int64_t label : labels) numbers[label] = 0;
  for (auto& [label, number] : numbers) {
    number = static_cast<std::int32_t>(dataset.label_names.size());
    dataset.label_names.push_back(fmt::format("{}", label));
  }
  for (std::size_t i = 0; i < labels.size(); ++i) dataset.samples[i].label = numbers[labels[i]];
}

// Persons by the folders in the names.
void number_folders(Dataset& dataset) {
  std::unordered_map<std::string, std::int32_t> numbers;
  for (Sample& sample : dataset.samples) {
    const std::size_t slash = sample.id.rfind('/');
    sample.label = person_number(
        numbers, dataset, slash == std::string::npos ? sample.id : sample.id.substr(0, slash));
  }
}

}  // namespace

Dataset read_archive(const std::filesystem::path& path, std::int64_t skip_damaged,
                     std::string_view format) {
  const auto archive =
      format.empty() ? open_image_archive(path) : image_archives().at(format).open(path);
  Dataset dataset;
  dataset.name = format.empty() ? find_image_archive(path)->name : std::string(format);
  dataset.root = path;
  dataset.notes = archive->notes();
  dataset.samples.reserve(static_cast<std::size_t>(archive->size()));
  std::vector<std::int64_t> labels;
  bool labelled = true;
  for (std::int64_t i = 0; i < archive->size(); ++i) {
    try {
      const std::int64_t label = archive->label(i);
      dataset.samples.push_back({archive->name(i), {path, archive, i}, 0});
      labels.push_back(label);
      labelled = labelled && label >= 0;
    } catch (const Error& e) {
      if (static_cast<std::int64_t>(dataset.damaged.size()) >= skip_damaged) throw;
      dataset.damaged.emplace_back(e.what());
    }
  }
  if (dataset.samples.empty()) fail(path.string(), "holds no image");
  if (labelled)
    number_labels(dataset, labels);
  else
    number_folders(dataset);
  return dataset;
}

}  // namespace facebench

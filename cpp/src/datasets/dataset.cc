#include "facebench/datasets/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "facebench/core/error.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool has_image_extension(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  constexpr std::array<std::string_view, 6> known = {".jpg", ".jpeg", ".png",
                                                     ".pnm", ".ppm",  ".pgm"};
  return std::find(known.begin(), known.end(), extension) != known.end();
}

bool has_image_magic(const fs::path& path) {
  std::array<char, 4> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  const std::string_view bytes(head.data(), static_cast<std::size_t>(file.gcount()));
  const bool pnm = bytes.size() >= 3 && bytes[0] == 'P' && bytes[1] >= '2' && bytes[1] <= '6' &&
                   (bytes[2] == '\n' || bytes[2] == ' ' || bytes[2] == '\r' || bytes[2] == '\t');
  return bytes.starts_with("\xff\xd8\xff") || bytes == "\x89PNG" || pnm;
}

bool hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

// The names in a folder, in natural order. Throws Error where it cannot be read.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (!hidden(it->path())) entries.push_back(it->path());
  if (error) fail(folder.string(), "cannot list the folder: " + error.message());
  std::sort(entries.begin(), entries.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().string(), b.filename().string());
  });
  return entries;
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

void require_folder(const fs::path& root) {
  if (!is_folder(root))
    fail(root.string(), "no such folder", "Give the folder that holds one folder for each person.");
}

// Image files below `folder`, at most 16 folders deep, as a loop of links would otherwise never
// end.
void collect_images(const fs::path& folder, int depth, std::vector<fs::path>& images) {
  if (depth > 16) fail(folder.string(), "folders nested deeper than 16");
  for (const fs::path& entry : entries_of(folder)) {
    if (is_folder(entry))
      collect_images(entry, depth + 1, images);
    else if (has_image_extension(entry) || has_image_magic(entry))
      images.push_back(entry);
  }
}

Dataset read_people(std::string name, const fs::path& root) {
  require_folder(root);
  Dataset dataset{std::move(name), root, {}, {}};
  for (const fs::path& person : entries_of(root)) {
    if (!is_folder(person)) continue;
    std::vector<fs::path> images;
    collect_images(person, 0, images);
    if (images.empty()) continue;
    const auto label = static_cast<std::int32_t>(dataset.label_names.size());
    dataset.label_names.push_back(person.filename().string());
    for (const fs::path& image : images)
      dataset.samples.push_back({image.lexically_relative(root).generic_string(), image, label});
  }
  if (dataset.samples.empty())
    fail(root.string(), "no folder with images",
         "Expected one folder for each person, with JPEG, PNG or PNM files in it.");
  return dataset;
}

std::string without_extension(std::string_view id) {
  const std::size_t dot = id.rfind('.'), slash = id.rfind('/');
  if (dot == std::string_view::npos || (slash != std::string_view::npos && dot < slash))
    return std::string(id);
  return std::string(id.substr(0, dot));
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      std::size_t i_end = i, j_end = j;
      while (i_end < a.size() && is_digit(a[i_end])) ++i_end;
      while (j_end < b.size() && is_digit(b[j_end])) ++j_end;
      std::size_t i_start = i, j_start = j;
      while (i_start + 1 < i_end && a[i_start] == '0') ++i_start;
      while (j_start + 1 < j_end && b[j_start] == '0') ++j_start;
      const std::string_view m = a.substr(i_start, i_end - i_start),
                             n = b.substr(j_start, j_end - j_start);
      if (m.size() != n.size()) return m.size() < n.size();
      if (m != n) return m < n;
      i = i_end;
      j = j_end;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
    }
  }
  if ((a.size() - i) != (b.size() - j)) return a.size() - i < b.size() - j;
  return a < b;  // equal but for leading zeros
}

Dataset read_image_folder(const fs::path& root) { return read_people("folder", root); }

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
      fail(sample.path.string(), "not named after its folder",
           fmt::format("Expected {0}/{0}_0001.jpg; use data set 'folder' for any names.", person));
  }
  return dataset;
}

Dataset select_samples(const Dataset& dataset, std::span<const std::string> names, bool by_stem) {
  const auto key = [by_stem](std::string_view id) {
    return by_stem ? without_extension(id) : std::string(id);
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

const Table<DatasetEntry>& datasets() {
  static const Table<DatasetEntry> table(
      "data set", {{"lfw", "Labeled Faces in the Wild and sets in its layout: NAME/NAME_0001.jpg",
                    read_lfw_folder},
                   {"folder", "any images, one folder for each person", read_image_folder}});
  return table;
}

Dataset read_dataset(std::string_view name, const fs::path& root) {
  return datasets().at(name).read(root);
}

}  // namespace facebench

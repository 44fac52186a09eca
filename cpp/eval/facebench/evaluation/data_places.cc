// Where the lists and the images of a data set are.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/core/nfc.h"
#include "facebench/core/numbers.h"
#include "facebench/core/options.h"
#include "facebench/core/utf8.h"
#include "facebench/evaluation/spec.h"
#include "facebench/io/presence.h"
#include "facebench/io/text.h"
#include "facebench/lists/internal/file_listing.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> candidates(const fs::path& folder_given, const fs::path& root,
                                 const std::vector<std::string>& folders, std::string_view what) {
  if (!folder_given.empty()) return {folder_given};
  if (root.empty())
    throw std::invalid_argument(fmt::format("neither a root nor a folder of {} is given", what));
  std::vector<fs::path> result;
  const fs::path base = fs::absolute(root).lexically_normal();
  for (const std::string& f : folders) {
    fs::path folder = f == "." ? root : root / f;
    if (f.starts_with("..")) folder = (base / f).lexically_normal();
    result.push_back(folder.has_filename() ? folder : folder.parent_path());
  }
  return result;
}

// Where something was looked for: "ROOT and, below it, protocol, lfw".
std::string places_text(const fs::path& folder_given, const fs::path& root,
                        const std::vector<std::string>& folders) {
  if (!folder_given.empty()) return folder_given.string();
  std::string others;
  for (const std::string& f : folders)
    if (f != ".") others += (others.empty() ? "" : ", ") + f;
  const bool itself = std::ranges::find(folders, ".") != folders.end();
  if (others.empty()) return root.string();
  return fmt::format("{}{}{}", root.string(), itself ? " and there in " : ": in ", others);
}

// By the stems of the files anywhere below the folder.
std::vector<fs::path> paths_by_stem(const TrialSet& trials, const fs::path& images) {
  std::unordered_map<std::string, fs::path> by_stem;
  std::unordered_set<std::string> twice;
  std::error_code error, unknown;
  for (fs::recursive_directory_iterator it(images, error), end; !error && it != end;
       it.increment(error))
    if (it->is_regular_file(unknown))
      if (std::string stem = nfc(it->path().stem().string());
          !by_stem.try_emplace(stem, it->path()).second)
        twice.insert(std::move(stem));
  check_listed(images, error);  // one that is not there holds nothing
  std::vector<fs::path> paths;
  for (const std::string& name : trials.names) {
    const std::string stem = nfc(fs::path(name).stem().string());
    if (twice.contains(stem))
      fail(images.string(),
           fmt::format("'{}' is the stem of {} and of another file", stem,
                       by_stem.at(stem).string()),
           "Remove one of them, or give the folder of the images.");
    const auto path = by_stem.find(stem);
    paths.push_back(path == by_stem.end() ? images / name : path->second);
  }
  return paths;
}

// The folders at most two levels below the root that hold the image, by name.
std::vector<fs::path> folders_below(const fs::path& root, const std::string& image) {
  std::vector<fs::path> folders;
  FileListing listing;
  std::error_code error, ignored;
  for (fs::recursive_directory_iterator
           it(root, fs::directory_options::skip_permission_denied, error),
       end;
       !error && it != end; it.increment(error)) {
    if (!it->is_directory(ignored)) continue;
    if (it.depth() == 1) it.disable_recursion_pending();
    if (!listing.find(it->path(), image).empty()) folders.push_back(it->path());
  }
  std::ranges::sort(folders);
  return folders;
}

}  // namespace

void DataPlaces::describe(OptionsBuilder<DataPlaces>& o) {
  o.name("DataPlaces", "Where a data set is.");
  o.field("root", &DataPlaces::root, "the data set, as its authors distribute it");
  o.field("images", &DataPlaces::images, "the folder of images, where not found in root");
  o.field("lists", &DataPlaces::lists, "the folder of lists, where not found in root");
}

fs::path find_lists(const ProtocolSpec& spec, const DataPlaces& places) {
  const fs::path& folder = places.lists.empty() ? places.root : places.lists;
  if (!folder.empty() && !is_there(folder))
    fail(folder.string(), "no such folder",
         "Give the data set's root, or the folder of the lists.");
  std::vector<std::string> absent;  // where the fewest are
  for (const fs::path& folder : candidates(places.lists, places.root, spec.list_folders, "lists")) {
    std::vector<std::string> here = spec.reader->missing(folder);
    if (here.empty()) return folder;
    if (absent.empty() || here.size() < absent.size()) absent = std::move(here);
  }
  fail(fmt::format("protocol {}", spec.id),
       fmt::format("no folder holds the lists; missing: {}; looked in {}", first_names(absent),
                   places_text(places.lists, places.root, spec.list_folders)),
       "Give the data set's root, or the folder of the lists.");
}

TrialSet under(const ProtocolSpec& spec, TrialSet trials) {
  trials.spec = std::make_shared<const ProtocolSpec>(spec);
  return trials;
}

TrialSet read_trials(const ProtocolSpec& spec, const DataPlaces& places) {
  return under(spec, spec.reader->read(find_lists(spec, places)));
}

std::vector<fs::path> image_paths(const ProtocolSpec& spec, const TrialSet& trials,
                                  const fs::path& images) {
  if (spec.match == "stem") return paths_by_stem(trials, images);
  std::vector<fs::path> paths;
  FileListing listing;
  for (const std::string& name : trials.names) {
    paths.push_back(listing.find(images, name));
    if (!paths.back().empty()) continue;
    // One of several faces of a file: NAME#K.
    const std::size_t face = name.rfind('#');
    if (face != std::string::npos) paths.back() = listing.find(images, name.substr(0, face));
    if (paths.back().empty()) paths.back() = images / name;
  }
  return paths;
}

std::string absent_images_advice(std::span<const std::string> absent, const fs::path& images) {
  if (absent.empty()) return {};
  // The path without its ending, in small letters.
  const auto key = [](const fs::path& name) {
    return lower_ascii(compared_name(fs::path(name).replace_extension().generic_string()));
  };
  std::unordered_map<std::string, std::string> known;
  std::error_code error, unknown;
  for (fs::recursive_directory_iterator it(images, error), end; !error && it != end;
       it.increment(error))
    if (it->is_regular_file(unknown)) {
      const fs::path name = it->path().lexically_relative(images);
      known.try_emplace(key(name), name.generic_string());
    }
  std::size_t count = 0;
  bool by_ending = true;
  std::string first;
  for (const std::string& name : absent) {
    const auto file = known.find(key(name));
    if (file == known.end()) continue;
    if (count++ == 0) first = fmt::format("{} for {}", printable(file->second), printable(name));
    by_ending &= fs::path(file->second).replace_extension() == fs::path(name).replace_extension();
  }
  if (count == 0) return {};
  return fmt::format(
      "{} of the {} images that are missing are there {}, such as {}: rename the files{}.", count,
      absent.size(), by_ending ? "with another ending" : "in other capitals", first,
      by_ending ? ", or embed their folder and say match=path_stem (embed, then eval --match "
                  "path_stem)"
                : "");
}

fs::path find_images(const ProtocolSpec& spec, const TrialSet& trials, const DataPlaces& places) {
  if (places.images.empty())
    if (fs::path archive = spec.reader->images(find_lists(spec, places)); !archive.empty())
      return archive;
  fs::path best;
  std::size_t most = 0;
  std::string advice;  // of the first folder that has any
  for (const fs::path& folder :
       candidates(places.images, places.root, spec.image_folders, "images")) {
    if (!is_folder(folder)) continue;
    FileListing listing;
    const auto paths = image_paths(spec, trials, folder);
    const auto here = static_cast<std::size_t>(
        std::ranges::count_if(paths, [&](const fs::path& path) { return listing.has(path); }));
    if (here == 0 && most == 0 && advice.empty())
      advice = absent_images_advice(trials.names, folder);
    if (here > most) {
      most = here;
      best = folder;
    }
    // By stem a folder stands for all below it, so that the first is the one meant.
    if (most == paths.size() || (spec.match == "stem" && most > 0)) break;
  }
  if (most > 0) return best;
  if (places.images.empty() && spec.match != "stem" && !trials.names.empty()) {
    const std::vector<fs::path> deeper = folders_below(places.root, trials.names.front());
    if (deeper.size() == 1) return deeper.front();
    if (deeper.size() > 1)
      fail(fmt::format("protocol {}", spec.id),
           fmt::format("{} lies in {} and in {}", trials.names.front(), deeper[0].string(),
                       deeper[1].string()),
           "Give the folder of the images that are meant.");
  }
  fail(fmt::format("protocol {}", spec.id),
       fmt::format("none of the {} images that the lists name exists; looked for {} in {}",
                   trials.names.size(), trials.names.empty() ? "" : trials.names.front(),
                   places_text(places.images, places.root, spec.image_folders)),
       advice.empty() ? "Give the data set's root, or the folder of the images." : advice);
}

}  // namespace facebench

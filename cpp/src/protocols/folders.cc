#include "protocols/folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/job.h"
#include "facebench/core/numbers.h"
#include "facebench/io/sha256.h"
#include "facebench/protocols/dense_trials.h"
#include "facebench/protocols/identification_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

bool is_image(const fs::path& path) {
  constexpr std::array<std::string_view, 6> known = {".jpg", ".jpeg", ".png",
                                                     ".pgm", ".ppm",  ".pnm"};
  const std::string extension = lower_ascii(path.extension().string());
  return std::ranges::find(known, extension) != known.end();
}

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with("."); }

class FoldersReader : public TrialReader {
 public:
  explicit FoldersReader(FoldersOptions options) : options_(options) {}
  Json options() const override { return options_to_json(options_); }
  std::vector<std::string> files() const override { return {}; }
  std::vector<std::string> missing(const fs::path& lists) const override {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(lists, ignored))
      if (entry.is_directory(ignored) && !is_hidden(entry.path())) return {};
    return {"folders of images"};
  }

  TrialSet read(const fs::path& root) const override {
    TrialSet set;
    const auto people = list(root, set);
    if (people.size() < 2)
      fail(root.string(), fmt::format("{} people have images", people.size()),
           "Give each of at least two people a folder of their own.");
    refuse_copies(root, people, set);
    TrialSetBuilder builder(set);
    DenseTrials pairs;
    pairs.triangle = true;
    IdentificationTrials search;
    std::int64_t single = 0;
    for (const auto& [person, images] : people) {
      single += images.size() == 1;
      for (std::size_t i = 0; i < images.size(); ++i) {
        const std::int32_t sample = builder.sample(images[i], person);
        pairs.rows.push_back(sample);
        (images.size() > 1 && i == 0 ? search.gallery : search.probes).push_back(sample);
      }
    }
    if (search.gallery.empty())
      fail(root.string(), "nobody has two images, so there is no genuine comparison",
           "Give at least some people two images or more.");
    if (single > 0)
      set.notes.push_back(fmt::format(
          "{} of {} people have a single image: they are impostors only.", single, people.size()));
    pairs.columns = pairs.rows;
    set.tracks.push_back({"verification", std::move(pairs)});
    set.tracks.push_back({"identification", std::move(search)});
    set.check();
    return set;
  }

 private:
  // Person -> images relative to the root, both in byte order whatever the file system says.
  using People = std::map<std::string, std::vector<std::string>>;

  People list(const fs::path& root, TrialSet& set) const {
    People people;
    std::int64_t images = 0, others = 0, loose = 0;
    std::error_code error;
    fs::directory_iterator folders(root, error);
    if (error) fail(root.string(), "cannot be read: " + error.message());
    for (const auto& folder : folders) {
      if (is_hidden(folder.path())) continue;
      if (!folder.is_directory()) {
        ++loose;
        continue;
      }
      const std::string person = folder.path().filename().string();
      for (const auto& file : fs::directory_iterator(folder.path())) {
        if (is_hidden(file.path())) continue;
        if (!file.is_regular_file() || !is_image(file.path())) {
          ++others;
          continue;
        }
        if (++images > options_.max_images)
          fail(root.string(), fmt::format("more than {} images", options_.max_images),
               "Raise max_images in a TOML of your own; the scores of all searches are kept.");
        people[person].push_back(person + "/" + file.path().filename().string());
      }
    }
    for (auto& [person, files] : people) std::ranges::sort(files);
    if (others > 0)
      set.notes.push_back(
          fmt::format("{} files in the folders are no images, passed over.", others));
    if (loose > 0)
      set.notes.push_back(fmt::format("{} files lie outside of the folders, passed over.", loose));
    return people;
  }

  // The list's own hash covers names and bytes of all images, so a changed image is another list.
  static void refuse_copies(const fs::path& root, const People& people, TrialSet& set) {
    std::vector<std::string> names;
    for (const auto& [person, images] : people)
      names.insert(names.end(), images.begin(), images.end());
    std::unordered_map<std::string, std::string> first;
    Sha256 all;
    for (const std::string& name : names) {
      const std::string hash = sha256_file(root / name);
      const auto [earlier, fresh] = first.try_emplace(hash, name);
      if (!fresh)
        fail((root / name).string(), fmt::format("is the same image as {}", earlier->second),
             "An image compared with itself is no comparison; keep one of the two.");
      all.update(name + " " + hash + "\n");
    }
    set.notes.push_back(
        fmt::format("{} images, SHA-256 of their names and hashes: {}.", names.size(), all.hex()));
  }

  FoldersOptions options_;
};

}  // namespace

std::unique_ptr<TrialReader> make_folders_reader(const TomlTable& table) {
  return std::make_unique<FoldersReader>(read_options<FoldersOptions>(table));
}

}  // namespace facebench

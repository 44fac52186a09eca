// People of one's own: a folder for each person, images in it (.jpg, .jpeg, .png, .pgm, .ppm, .pnm
// in any case; files and folders that begin with a point are passed over, other files and folders
// are skipped and noted). Every image is compared with every other (dense track `verification`);
// the first image of everybody who has two or more is a gallery in which all others are searched
// (`identification`; images of people with a single image are non-mated probes). Two folders whose
// names differ in their Unicode form alone are one person's.
//
// Of files with equal bytes the first counts if all are one person's, else none does; a note says
// so. Errors: fewer than two people, nobody with two images, more than `max_images` images.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "facebench/core/error.h"
#include "facebench/core/job.h"
#include "facebench/core/nfc.h"
#include "facebench/core/options.h"
#include "facebench/io/image_files.h"
#include "facebench/io/sha256.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/trials/dense_trials.h"
#include "facebench/trials/identification_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct FoldersOptions {
  std::int64_t max_images = 20'000;
  static void describe(OptionsBuilder<FoldersOptions>& o) {
    o.name("folders", "A folder for each person.");
    o.field("max_images", &FoldersOptions::max_images,
            "more are an error: the scores of all their searches are kept", 2, 100'000);
  }
};

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with("."); }

class FoldersReader : public OptionsReader<FoldersOptions> {
 public:
  using OptionsReader::OptionsReader;
  std::vector<std::string> files() const override { return {}; }
  std::vector<std::string> missing(const fs::path& lists) const override {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(lists, ignored))
      if (entry.is_directory(ignored) && !is_hidden(entry.path())) return {};
    return {"folders of images"};
  }

  TrialSet read(const fs::path& root) const override {
    TrialSet set;
    People people = list(root, set);
    const std::string counted = leave_copies_out(root, people, set);
    if (people.size() < 2) {
      std::vector<std::string> said = set.warnings;
      said.insert(said.end(), set.notes.begin(), set.notes.end());
      said.push_back("Give each of at least two people a folder of their own.");
      fail(root.string(), fmt::format("{} people have images", people.size()),
           fmt::format("{}", fmt::join(said, " ")));
    }
    set.notes.push_back(counted);
    return compared(root.string(), people, std::move(set));
  }

  TrialSet of_people(std::span<const std::string> names,
                     std::span<const std::string> people) const override {
    constexpr const char* kWhere = "labels";
    if (names.size() != people.size())
      throw std::invalid_argument(
          fmt::format("labels: {} of {} embeddings", people.size(), names.size()));
    if (std::ssize(names) > options_.max_images)
      fail(kWhere, fmt::format("more than {} images", options_.max_images),
           "Raise max_images in a TOML of your own; the scores of all searches are kept.");
    People images;
    for (std::size_t k = 0; k < names.size(); ++k) images[people[k]].push_back(names[k]);
    for (auto& [person, of] : images) std::ranges::sort(of);
    if (images.size() < 2)
      fail(kWhere, fmt::format("{} people have images", images.size()),
           "Give at least two people, each by one label.");
    TrialSet set;
    set.notes.push_back(fmt::format(
        "{} embeddings of {} people, as their labels say; no image was looked at, so copies of an "
        "image are compared with each other.",
        names.size(), images.size()));
    return compared(kWhere, images, std::move(set));
  }

 private:
  // Person -> images relative to the root, both in byte order whatever the file system says.
  using People = std::map<std::string, std::vector<std::string>>;

  // Every image with every other, and one image of each person as a gallery.
  static TrialSet compared(const std::string& where, const People& people, TrialSet set) {
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
      fail(where, "nobody has two images, so there is no genuine comparison",
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

  People list(const fs::path& root, TrialSet& set) const {
    People people;
    std::map<std::string, std::string> called;  // as names are compared -> the first as it is
    std::int64_t images = 0, others = 0, deeper = 0, loose = 0;
    std::vector<fs::path> litter;
    for (const fs::path& folder : list_folder(root, &litter)) {
      if (!fs::is_directory(folder)) {
        ++loose;
        continue;
      }
      const std::string name = folder.filename().string();
      const std::string& person = called.try_emplace(nfc(name), name).first->second;
      for (const fs::path& file : list_folder(folder, &litter)) {
        if (fs::is_directory(file)) {
          ++deeper;
          continue;
        }
        if (!fs::is_regular_file(file) || !is_image_file(file)) {
          ++others;
          continue;
        }
        if (++images > options_.max_images)
          fail(root.string(), fmt::format("more than {} images", options_.max_images),
               "Raise max_images in a TOML of your own; the scores of all searches are kept.");
        people[person].push_back(name_of_path(root, fs::path(name) / file.filename()));
      }
    }
    for (auto& [person, files] : people) std::ranges::sort(files);
    for (fs::path& path : litter) path = path.lexically_relative(root);
    if (std::string note = litter_note(litter); !note.empty()) set.notes.push_back(std::move(note));
    // Where they are half of the files, the numbers may be of another data set.
    if (others > 0)
      (others >= images ? set.warnings : set.notes)
          .push_back(fmt::format("{} of {} files in the folders are not {}, passed over.", others,
                                 others + images, known_image_formats()));
    if (deeper > 0)
      set.notes.push_back(
          fmt::format("{} folders lie inside of people's folders, passed over.", deeper));
    if (loose > 0)
      set.notes.push_back(fmt::format("{} files lie outside of the folders, passed over.", loose));
    return people;
  }

  // An image compared with its copy is not a comparison: of the copies below one person the first
  // stays, and of those below several none, since nothing says whose it is. The list's own hash
  // covers names and bytes of all images that stay, so a changed image is another list. Returns a
  // note that says so.
  static std::string leave_copies_out(const fs::path& root, People& people, TrialSet& set) {
    struct Image {
      std::string name, person, sha256;
    };
    std::vector<Image> images;
    std::map<std::string, std::vector<std::size_t>> copies;  // by hash
    for (const auto& [person, names] : people)
      for (const std::string& name : names) {
        copies[sha256_file(root / name)].push_back(images.size());
        images.push_back({name, person, {}});
      }
    std::vector<bool> goes(images.size(), false);
    std::vector<std::size_t> first(images.size());
    for (const auto& copied : copies) {
      // Clang 14 takes no structured binding into a lambda.
      const std::string& hash = copied.first;
      const std::vector<std::size_t>& of = copied.second;
      const bool one_person = std::ranges::all_of(
          of, [&](std::size_t i) { return images[i].person == images[of.front()].person; });
      for (const std::size_t i : of) {
        images[i].sha256 = hash;
        first[i] = i == of.front() ? of.back() : of.front();
        goes[i] = of.size() > 1 && !(one_person && i == of.front());
      }
    }
    Sha256 all;
    std::int64_t kept = 0, gone = 0;
    std::string example;
    people.clear();
    for (std::size_t i = 0; i < images.size(); ++i) {
      const Image& image = images[i];
      if (goes[i]) {
        if (gone++ == 0) example = image.name + " is " + images[first[i]].name;
        continue;
      }
      people[image.person].push_back(image.name);
      all.update(image.name + " " + image.sha256 + "\n");
      ++kept;
    }
    if (gone > 0)
      set.notes.push_back(
          fmt::format("{} copies of images were left out: of one person's the first counts, of "
                      "several people's "
                      "none. First: {}.",
                      gone, example));
    return fmt::format("{} images, SHA-256 of their names and hashes: {}.", kept, all.hex());
  }
};

}  // namespace

TrialReaderEntry folders_reader() {
  return reader_entry<FoldersReader>("folders",
                                     "people of one's own: a folder for each, with images in it");
}

}  // namespace facebench

// QMUL's test sets for identification: two MAT lists of images and people, and a folder of images
// of other people, which no list names; each of those counts as a person of its own. Errors: a
// list whose names and people differ in number, a person's number that is not a whole number, a
// name twice, a name with a folder, a folder without an image.
//
// TinyFace: gallery_match_img_ID_pairs.mat and probe_img_ID_pairs.mat beside the folders
// Gallery_Match, Probe and Gallery_Distractor; distractors belong to the gallery.
//
// SurvFace's Face_Identification_Test_Set: gallery_img_ID_pairs.mat and
// mated_probe_img_ID_pairs.mat beside gallery, mated_probe and unmated_probe, whose images are
// non-mated probes. Where the lists lie in Face_Identification_Evaluation, the folders are found
// beside it.

#include <utility>

#include "facebench/core/options.h"
#include "facebench/io/presence.h"
#include "facebench/lists/internal/mat_image_list.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/trials/identification_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct MatSearchOptions {
  std::string track = "search";

  static void describe(OptionsBuilder<MatSearchOptions>& o) {
    o.name("mat_search", "QMUL's test sets of searches.");
    o.field("track", &MatSearchOptions::track, "name of the track");
  }
};

// What a set calls its parts.
struct MatSearch {
  MatImageList gallery, probes;
  std::string others;       // the folder that no list names
  bool in_gallery = false;  // its images are distractors of the gallery; else non-mated probes
  std::string beside;       // where else it may lie: in this folder beside that of the lists
};

class MatSearchReader : public OptionsReader<MatSearchOptions> {
 public:
  MatSearchReader(MatSearch set, MatSearchOptions options)
      : OptionsReader(std::move(options)), set_(std::move(set)) {}

  std::vector<std::string> files() const override { return {set_.gallery.file, set_.probes.file}; }
  std::vector<std::string> missing(const fs::path& lists) const override {
    std::vector<std::string> absent = TrialReader::missing(lists);
    if (!is_folder(others(lists))) absent.push_back(set_.others);
    return absent;
  }

  TrialSet read(const fs::path& lists) const override {
    Blemishes blemishes(lists);
    TrialSet set;
    TrialSetBuilder builder(set);
    IdentificationTrials trials;
    trials.gallery = read_mat_image_list(lists, set_.gallery, set, builder, blemishes);
    trials.probes = read_mat_image_list(lists, set_.probes, set, builder, blemishes);
    const std::vector<std::int32_t> more = add_unlisted_images(
        others(lists), set_.others,
        set_.in_gallery ? "names of distractors" : "names of non-mated probes", set, builder);
    std::vector<std::int32_t>& side = set_.in_gallery ? trials.gallery : trials.probes;
    side.insert(side.end(), more.begin(), more.end());
    set.tracks.push_back({options_.track, std::move(trials)});
    set.blemishes = blemishes.kinds();
    set.check();
    return set;
  }

 private:
  fs::path others(const fs::path& lists) const {
    const fs::path elsewhere = lists.parent_path() / set_.beside / set_.others;
    return !set_.beside.empty() && is_folder(elsewhere) ? elsewhere : lists / set_.others;
  }

  MatSearch set_;
};

std::unique_ptr<TrialReader> make_tinyface_reader(const TomlTable& table) {
  return std::make_unique<MatSearchReader>(
      MatSearch{{"gallery_match_img_ID_pairs.mat", "gallery", "Gallery_Match"},
                {"probe_img_ID_pairs.mat", "probe", "Probe"},
                "Gallery_Distractor",
                true,
                ""},
      read_options<MatSearchOptions>(table));
}

std::unique_ptr<TrialReader> make_survface_search_reader(const TomlTable& table) {
  return std::make_unique<MatSearchReader>(
      MatSearch{{"gallery_img_ID_pairs.mat", "gallery", "gallery"},
                {"mated_probe_img_ID_pairs.mat", "mated_probe", "mated_probe"},
                "unmated_probe",
                false,
                "Face_Identification_Test_Set"},
      read_options<MatSearchOptions>(table));
}

}  // namespace

TrialReaderEntry tinyface_reader() {
  return {"tinyface", "TinyFace's MAT lists of gallery and probes, and its folder of distractors",
          make_tinyface_reader};
}

TrialReaderEntry survface_search_reader() {
  return {"survface_search",
          "QMUL-SurvFace's MAT lists of gallery and mated probes, and its folder of non-mated ones",
          make_survface_search_reader};
}

}  // namespace facebench

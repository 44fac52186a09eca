#include "facebench/protocols/readers/mat_search.h"

#include <utility>

#include "facebench/protocols/identification_trials.h"
#include "facebench/protocols/readers/mat_image_list.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// What a set calls its parts.
struct MatSearch {
  MatImageList gallery, probes;
  std::string others;       // the folder that no list names
  bool in_gallery = false;  // its images are distractors of the gallery; else non-mated probes
  std::string beside;       // where else it may lie: in this folder beside that of the lists
};

class MatSearchReader : public TrialReader {
 public:
  MatSearchReader(MatSearch set, MatSearchOptions options)
      : set_(std::move(set)), options_(std::move(options)) {}

  Json options() const override { return options_to_json(options_); }
  std::vector<std::string> files() const override { return {set_.gallery.file, set_.probes.file}; }
  std::vector<std::string> missing(const fs::path& lists) const override {
    std::vector<std::string> absent = TrialReader::missing(lists);
    std::error_code ignored;
    if (!fs::is_directory(others(lists), ignored)) absent.push_back(set_.others);
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
    std::error_code ignored;
    const fs::path elsewhere = lists.parent_path() / set_.beside / set_.others;
    return !set_.beside.empty() && fs::is_directory(elsewhere, ignored) ? elsewhere
                                                                        : lists / set_.others;
  }

  MatSearch set_;
  MatSearchOptions options_;
};

}  // namespace

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

}  // namespace facebench

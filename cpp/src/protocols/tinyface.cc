#include "protocols/tinyface.h"

#include "facebench/protocols/identification_trials.h"
#include "protocols/mat_image_list.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGalleryList = "gallery_match_img_ID_pairs.mat";
constexpr const char* kProbeList = "probe_img_ID_pairs.mat";
constexpr const char* kDistractors = "Gallery_Distractor";

class TinyfaceReader : public TrialReader {
 public:
  explicit TinyfaceReader(TinyfaceOptions options) : options_(std::move(options)) {}

  Json options() const override { return options_to_json(options_); }
  std::vector<std::string> files() const override { return {kGalleryList, kProbeList}; }
  std::vector<std::string> missing(const fs::path& lists) const override {
    std::vector<std::string> absent = TrialReader::missing(lists);
    std::error_code ignored;
    if (!fs::is_directory(lists / kDistractors, ignored)) absent.emplace_back(kDistractors);
    return absent;
  }

  TrialSet read(const fs::path& lists) const override {
    Blemishes found(lists);
    TrialSet set;
    TrialSetBuilder builder(set);
    IdentificationTrials trials;
    trials.gallery =
        read_mat_image_list(lists, {kGalleryList, "gallery", "Gallery_Match"}, set, builder, found);
    trials.probes = read_mat_image_list(lists, {kProbeList, "probe", "Probe"}, set, builder, found);
    const std::vector<std::int32_t> distractors = add_unlisted_images(
        lists / kDistractors, kDistractors, "names of distractors", set, builder);
    trials.gallery.insert(trials.gallery.end(), distractors.begin(), distractors.end());
    set.tracks.push_back({options_.track, std::move(trials)});
    set.blemishes = found.found();
    set.check();
    return set;
  }

 private:
  TinyfaceOptions options_;
};

}  // namespace

std::unique_ptr<TrialReader> make_tinyface_reader(const TomlTable& table) {
  return std::make_unique<TinyfaceReader>(read_options<TinyfaceOptions>(table));
}

}  // namespace facebench

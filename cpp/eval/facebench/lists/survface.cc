// Face_Verification_Test_Set: positive_pairs_names.mat and negative_pairs_names.mat, cell arrays of
// two columns of names, of images in verification_images. Who is on an image is not known: people
// are what genuine pairs connect.

#include <fmt/format.h>

#include <array>

#include "facebench/core/options.h"
#include "facebench/lists/internal/mat_image_list.h"
#include "facebench/lists/internal/pair_collector.h"
#include "facebench/lists/internal/reader_entry.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct SurvfaceOptions {
  std::string track = "pairs";

  static void describe(OptionsBuilder<SurvfaceOptions>& o) {
    o.name("survface", "QMUL-SurvFace's pairs.");
    o.field("track", &SurvfaceOptions::track, "name of the track");
  }
};

class SurvfacePairs : public OptionsReader<SurvfaceOptions> {
 public:
  using OptionsReader::OptionsReader;
  std::vector<std::string> files() const override {
    return {file(kVariables[0]), file(kVariables[1])};
  }

  TrialSet read(const fs::path& lists) const override {
    Blemishes blemishes(lists);
    TrialSet read;  // for the lists' hashes
    std::vector<std::vector<std::string>> rows[2];
    for (std::size_t i = 0; i < 2; ++i)
      rows[i] = read_mat_pairs(lists / file(kVariables[i]), kVariables[i], read);
    const auto genuine = static_cast<PairCollector::Position>(rows[0].size());
    PairCollector pairs(
        [&](PairCollector::Position row) {
          const bool first = row < genuine;
          return ListPlace{read.lists[first ? 0 : 1].path.string(), 0,
                           fmt::format("row {}", (first ? row : row - genuine) + 1)};
        },
        blemishes);
    pairs.begin_track(options_.track);
    PairCollector::Position row = 0;
    for (std::size_t i = 0; i < 2; ++i)
      for (const std::vector<std::string>& pair : rows[i])
        pairs.add(pair[0], pair[1], i == 0, -1, row++);
    TrialSet set = pairs.finish(identity_rules().at("genuine"));
    set.lists = std::move(read.lists);
    set.blemishes = blemishes.kinds();
    return set;
  }

 private:
  static constexpr std::array<const char*, 2> kVariables = {"positive_pairs_names",
                                                            "negative_pairs_names"};
  static std::string file(const char* variable) { return fmt::format("{}.mat", variable); }
};

}  // namespace

TrialReaderEntry survface_pairs_reader() {
  return reader_entry<SurvfacePairs>("survface_pairs",
                                     "QMUL-SurvFace's MAT lists of genuine and impostor pairs");
}

}  // namespace facebench

// InsightFace's test sets (io/verification_pack.h), which hold images and labels in one file: where
// lists are looked for stands for that file, or a folder with it. Folds are consecutive blocks of
// pairs, the first of them one longer where the pairs do not divide (sklearn's KFold without
// shuffling, as verification.py does). Samples have the names that the archive gives its images;
// people are known within a pair only.

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/io/presence.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/io/verification_pack.h"
#include "facebench/lists/internal/pair_collector.h"
#include "facebench/lists/internal/reader_entry.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct BinPairsOptions {
  std::string file;
  std::string track = "pairs";
  std::int64_t folds = 10;
  static void describe(OptionsBuilder<BinPairsOptions>& o) {
    o.name("bin", "InsightFace's test sets.");
    o.field("file", &BinPairsOptions::file,
            "its name in a folder, without .bin or .bin.xz; empty: the only one there");
    o.field("track", &BinPairsOptions::track, "name of the track");
    o.field("folds", &BinPairsOptions::folds, "consecutive blocks of pairs", 2, 1'000'000);
  }
};

class BinReader : public OptionsReader<BinPairsOptions> {
 public:
  using OptionsReader::OptionsReader;
  std::vector<std::string> files() const override {
    return {(options_.file.empty() ? "FILE" : options_.file) + ".bin"};
  }
  std::vector<std::string> missing(const fs::path& lists) const override {
    if (images(lists).empty()) return files();
    return {};
  }

  fs::path images(const fs::path& lists) const override {
    if (is_file(lists)) return is_verification_pack(lists) ? lists : fs::path();
    if (!options_.file.empty()) {
      for (const char* ending : {".bin", ".bin.xz"})
        if (is_file(lists / (options_.file + ending))) return lists / (options_.file + ending);
      return {};
    }
    std::vector<fs::path> packs;
    std::vector<std::string> names;
    std::error_code ignored;
    for (fs::directory_iterator it(lists, ignored), end; !ignored && it != end;
         it.increment(ignored))
      if (is_verification_pack(it->path())) packs.push_back(it->path());
    for (const fs::path& pack : packs) names.push_back(pack.filename().string());
    std::ranges::sort(names);
    if (packs.size() > 1)
      fail(lists.string(),
           fmt::format("there are {} .bin files in this folder: {}", packs.size(),
                       first_names(names)),
           fmt::format("Give the one that is meant, such as {}.", (lists / names[0]).string()));
    return packs.size() == 1 ? packs.front() : fs::path();
  }

  TrialSet read(const fs::path& lists) const override {
    const fs::path path = images(lists);
    if (path.empty()) fail(lists.string(), "there is no " + files().front(), "Give the file.");
    const VerificationPack pack(path);
    Blemishes blemishes(lists);
    PairCollector pairs(
        [&](PairCollector::Position pair) {
          return ListPlace{path.string(), 0, fmt::format("pair {}", pair)};
        },
        blemishes);
    pairs.begin_track(options_.track);
    const auto count = static_cast<std::int64_t>(pack.same().size());
    if (count < options_.folds)
      fail(path.string(), fmt::format("{} pairs for {} folds", count, options_.folds),
           "Copy the protocol and state another number of folds.");
    const std::int64_t length = count / options_.folds, longer = count % options_.folds;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t fold = k < longer * (length + 1)
                                    ? k / (length + 1)
                                    : longer + (k - longer * (length + 1)) / length;
      pairs.add(pack.name(2 * k), pack.name(2 * k + 1), pack.same()[static_cast<std::size_t>(k)],
                static_cast<std::int32_t>(fold), k);
    }
    TrialSet set = pairs.finish(identity_rules().at("genuine"));
    set.lists.push_back({"pairs", path, sha256_file(path), {}});
    set.blemishes = blemishes.kinds();
    return set;
  }
};

}  // namespace

TrialReaderEntry bin_reader() {
  return reader_entry<BinReader>(
      "bin", "InsightFace's test sets: images and labels in one file, pairs in their order");
}

}  // namespace facebench

// AgeDB's splits: a MAT file of version 5 whose variable `splits` is a column of cells, one a fold;
// each holds a structure of two fields, a cell array of two rows (first and second image of every
// pair, each a structure whose first field is the name without extension and whose second is the
// age, or the name itself) and a row of labels, 1 genuine and -1 (or 0) impostor. Fields count by
// their order, not by name. Names begin with the person in the protocol's own folder of images and
// with a number in the data set's. Source: public readers of the file, named in
// tests/eval/lists/release_pairs_test.cc; the data set is by Moschoglou et al., CVPR Workshops
// 2017.

#include <fmt/format.h>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/io/file.h"
#include "facebench/io/mat5.h"
#include "facebench/io/presence.h"
#include "facebench/io/sha256.h"
#include "facebench/lists/internal/pair_collector.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/lists/internal/sample_names.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct AgedbSplitsOptions {
  std::string file;
  std::vector<std::string> other_names;
  std::string variable = "splits";
  std::string track = "pairs";
  std::string suffix = ".jpg";
  std::string identity = "first_word";
  static void describe(OptionsBuilder<AgedbSplitsOptions>& o) {
    o.name("agedb_splits", "AgeDB's splits.");
    o.field("file", &AgedbSplitsOptions::file, "the MAT file").required = true;
    o.field("other_names", &AgedbSplitsOptions::other_names, "other names that copies of it have");
    o.field("variable", &AgedbSplitsOptions::variable, "the variable that holds the splits");
    o.field("track", &AgedbSplitsOptions::track, "name of the track");
    o.field("suffix", &AgedbSplitsOptions::suffix, "added to each name");
    o.choice("identity", &AgedbSplitsOptions::identity, "how a name tells who it is",
             identity_rules().names());
  }
};

// Through structures and cells of a single element to what they hold.
const MatArray& inside(const MatArray& array) {
  const MatArray* at = &array;
  while ((at->kind == MatArray::Kind::structure || at->kind == MatArray::Kind::cell) &&
         !at->cells.empty() && (at->kind == MatArray::Kind::structure || at->cells.size() == 1))
    at = &at->cells.front();
  return *at;
}

class AgedbReader : public OptionsReader<AgedbSplitsOptions> {
 public:
  using OptionsReader::OptionsReader;
  std::vector<std::string> files() const override { return {options_.file}; }
  std::vector<std::string> missing(const fs::path& lists) const override {
    if (file_in(lists).empty()) return files();
    return {};
  }

  TrialSet read(const fs::path& lists) const override {
    const std::string file = file_in(lists);
    const fs::path path = lists / (file.empty() ? options_.file : file);
    const std::string bytes = read_file(path);
    const auto variables = parse_mat5(std::as_bytes(std::span(bytes)), path.string());
    const auto splits = variables.find(options_.variable);
    if (splits == variables.end())
      fail(path.string(), fmt::format("there is no variable '{}'", options_.variable));
    if (splits->second.kind != MatArray::Kind::cell || splits->second.cells.empty())
      fail(path.string(), fmt::format("'{}' is not an array of cells", options_.variable));

    Blemishes blemishes(lists);
    const auto where = [&](PairCollector::Position p) {
      return ListPlace{
          path.string(), 0,
          fmt::format("{}{{{}}}, pair {}", options_.variable, p / kPairs + 1, p % kPairs + 1)};
    };
    PairCollector pairs(where, blemishes);
    pairs.begin_track(options_.track);
    for (std::size_t fold = 0; fold < splits->second.cells.size(); ++fold)
      add_fold(splits->second.cells[fold], static_cast<std::int32_t>(fold), path, pairs);
    TrialSet set = pairs.finish(identity_rules().at(options_.identity));
    set.lists.push_back({"pairs", path, sha256_hex(bytes), {}});
    set.blemishes = blemishes.kinds();
    return set;
  }

 private:
  static constexpr std::int64_t kPairs = std::int64_t{1} << 32;

  // The name under which the file is there; "" = under none.
  std::string file_in(const fs::path& lists) const {
    if (is_file(lists / options_.file)) return options_.file;
    for (const std::string& name : options_.other_names)
      if (is_file(lists / name)) return name;
    return "";
  }

  void add_fold(const MatArray& split, std::int32_t fold, const fs::path& path,
                PairCollector& pairs) const {
    const std::string where =
        fmt::format("{}: {}{{{}}}", path.string(), options_.variable, fold + 1);
    if (split.cells.size() != 2)
      fail(where,
           fmt::format("holds {} fields where pairs and labels are expected", split.cells.size()));
    const MatArray &names = split.cells[0], &labels = split.cells[1];
    if (names.kind != MatArray::Kind::cell || names.shape.size() != 2 || names.shape[0] != 2)
      fail(where, "the pairs are not a cell array of two rows");
    const auto count = static_cast<std::size_t>(names.shape[1]);
    if (labels.kind != MatArray::Kind::numbers || labels.numbers.size() != count)
      fail(where, fmt::format("{} labels for {} pairs", labels.numbers.size(), count));
    if (count == 0) fail(where, "holds no pairs");
    for (std::size_t k = 0; k < count; ++k) {
      const double label = labels.numbers[k];
      if (label != 1 && label != 0 && label != -1)
        fail(fmt::format("{}, pair {}", where, k + 1),
             fmt::format("the label is {}, not 1, 0 or -1", label));
      const MatArray &first = inside(names.cells[2 * k]), &second = inside(names.cells[2 * k + 1]);
      if (first.kind != MatArray::Kind::text || second.kind != MatArray::Kind::text)
        fail(fmt::format("{}, pair {}", where, k + 1), "an image's name is not a text");
      pairs.add(first.text + options_.suffix, second.text + options_.suffix, label == 1, fold,
                fold * kPairs + static_cast<std::int64_t>(k));
    }
  }
};

}  // namespace

TrialReaderEntry agedb_splits_reader() {
  return reader_entry<AgedbReader>("agedb_splits", "AgeDB's MAT file of splits");
}

}  // namespace facebench

// The lists of Celebrities in Frontal-Profile, in Protocol/ or beside it: Pair_list_F.txt and
// Pair_list_P.txt (image_list_F.txt and image_list_P.txt in some copies) hold `NUMBER PATH` in
// every line, numbered from 1, paths from their own folder; Split/KIND/NN/same.txt and diff.txt, NN
// from 01, hold pairs of such numbers, `A,B`. Source: the data set's Readme.txt (Sengupta et al.,
// WACV 2016).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/io/presence.h"
#include "facebench/io/text.h"
#include "facebench/lists/internal/list_file.h"
#include "facebench/lists/internal/pair_collector.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/lists/internal/sample_names.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct CfpPairsOptions {
  std::string split;
  std::string first;
  std::string second;
  std::int64_t folds = 10;
  std::string track = "pairs";
  std::string identity = "parent_folder";
  static void describe(OptionsBuilder<CfpPairsOptions>& o) {
    o.name("cfp_pairs", "Celebrities in Frontal-Profile.");
    o.choice("split", &CfpPairsOptions::split, "the folder below Split", {"FF", "FP"}).required =
        true;
    o.choice("first", &CfpPairsOptions::first, "the image list that a pair's first number is of",
             {"F", "P"})
        .required = true;
    o.choice("second", &CfpPairsOptions::second, "the image list that a pair's second number is of",
             {"F", "P"})
        .required = true;
    o.field("folds", &CfpPairsOptions::folds, "folders of the split", 1, 99);
    o.field("track", &CfpPairsOptions::track, "name of the track");
    o.choice("identity", &CfpPairsOptions::identity, "how a name tells who it is",
             identity_rules().names());
  }
};

// The images of one list by their numbers.
using NumberedImages = std::unordered_map<std::int64_t, std::string>;

NumberedImages read_images(const ListFile& text, Blemishes& blemishes) {
  NumberedImages images;
  std::int64_t expected = 1;
  for (const TextLine& line : text.lines()) {
    const auto where = [&] { return text.at(line); };
    const auto fields = split_whitespace(line.text);
    if (fields.size() != 2)
      fail(text.where(line), fmt::format("{} fields where NUMBER PATH is expected", fields.size()));
    const std::int64_t number = parse_int(fields[0], text.place(line), "the image's number");
    if (number != expected)
      blemishes.add(BlemishKind::numbering, where,
                    [&] { return fmt::format("{} where {} is expected", number, expected); });
    expected = number + 1;
    // Some copies count from the list's own folder.
    std::string_view path = fields[1];
    if (path.starts_with("../")) path.remove_prefix(3);
    std::string name = sample_name(path, blemishes, where);
    const auto [known, fresh] = images.try_emplace(number, name);
    if (fresh) continue;
    if (known->second != name)
      fail(text.where(line),
           fmt::format("image number {} is {} here, {} before", number, name, known->second));
    blemishes.add(BlemishKind::repeated_name, where, [&] { return name; });
  }
  if (images.empty()) fail(text.name(), "the list is empty");
  return images;
}

class CfpReader : public OptionsReader<CfpPairsOptions> {
 public:
  using OptionsReader::OptionsReader;
  std::vector<std::string> files() const override {
    std::vector<std::string> result;
    for (const std::string& kind : kinds()) result.push_back("Protocol/" + kNames[0] + kind + kTxt);
    for (const std::string& pairs : pair_lists()) result.push_back("Protocol/" + pairs);
    return result;
  }
  std::vector<std::string> missing(const fs::path& lists) const override {
    std::vector<std::string> absent;
    for (const std::string& kind : kinds())
      if (images_in(lists, kind).empty()) absent.push_back(kNames[0] + kind + kTxt);
    for (const std::string& file : pair_lists())
      if (part_in(lists, file).empty()) absent.push_back(file);
    return absent;
  }

  TrialSet read(const fs::path& lists) const override {
    Blemishes blemishes(lists);
    std::vector<TrialList> read;
    std::map<std::string, NumberedImages> images;
    for (const std::string& kind : kinds()) {
      const fs::path path = images_in(lists, kind);
      const ListFile text(path.empty() ? lists / files().front() : path, "images", blemishes);
      images[kind] = read_images(text, blemishes);
      read.push_back(text.list());
    }
    const NumberedImages &first = images[options_.first], &second = images[options_.second];
    const std::vector<std::string> all = pair_lists();
    const auto file = [&](std::size_t number) {
      const fs::path path = part_in(lists, all[number]);
      return path.empty() ? lists / "Protocol" / all[number] : path;
    };
    PairCollector pairs(
        [&](PairCollector::Position p) {
          return ListPlace{file(static_cast<std::size_t>(p / kLines)).string(), p % kLines, ""};
        },
        blemishes);
    pairs.begin_track(options_.track);
    for (std::size_t f = 0; f < all.size(); ++f) {
      const ListFile text(file(f), "pairs", blemishes);
      const auto fold = static_cast<std::int32_t>(f / 2);
      if (text.lines().empty()) fail(text.name(), "the list is empty");
      for (const TextLine& line : text.lines()) {
        const auto [a, b] = numbers(text, line);
        pairs.add(at(first, a, text, line), at(second, b, text, line), f % 2 == 0, fold,
                  static_cast<std::int64_t>(f) * kLines + line.number);
      }
      read.push_back(text.list());
    }
    TrialSet set = pairs.finish(identity_rules().at(options_.identity));
    set.lists = std::move(read);
    set.blemishes = blemishes.kinds();
    return set;
  }

 private:
  static constexpr std::int64_t kLines = std::int64_t{1} << 40;  // more than a file can have
  // The names that image lists have: the Readme's and the other.
  inline static const std::array<std::string, 2> kNames = {"Pair_list_", "image_list_"};
  inline static const std::string kTxt = ".txt";

  // The image lists that are read: "F" or "F" and "P".
  std::vector<std::string> kinds() const {
    if (options_.first == options_.second) return {options_.first};
    return {options_.first, options_.second};
  }

  // Of each fold the genuine pairs, then the impostor pairs.
  std::vector<std::string> pair_lists() const {
    std::vector<std::string> result;
    for (std::int64_t fold = 1; fold <= options_.folds; ++fold)
      for (const char* name : {"same", "diff"})
        result.push_back(fmt::format("Split/{}/{:02d}/{}.txt", options_.split, fold, name));
    return result;
  }

  // Where a file lies: in Protocol/ or beside it; "" = nowhere.
  static fs::path part_in(const fs::path& lists, const std::string& file) {
    for (const fs::path& path : {lists / "Protocol" / file, lists / file})
      if (is_file(path)) return path;
    return {};
  }
  static fs::path images_in(const fs::path& lists, const std::string& kind) {
    for (const std::string& name : kNames)
      if (fs::path path = part_in(lists, name + kind + kTxt); !path.empty()) return path;
    return {};
  }

  static std::pair<std::int64_t, std::int64_t> numbers(const ListFile& text, const TextLine& line) {
    const std::size_t comma = line.text.find(',');
    if (comma == std::string_view::npos || line.text.find(',', comma + 1) != std::string_view::npos)
      fail(text.where(line), "two numbers with a comma between are expected");
    return {parse_int(trim(line.text.substr(0, comma)), text.place(line), "the first image"),
            parse_int(trim(line.text.substr(comma + 1)), text.place(line), "the second image")};
  }

  static const std::string& at(const NumberedImages& images, std::int64_t number,
                               const ListFile& text, const TextLine& line) {
    const auto image = images.find(number);
    if (image == images.end())
      fail(text.where(line),
           fmt::format("there is no image {}; the image list has {}", number, images.size()));
    return image->second;
  }
};

}  // namespace

TrialReaderEntry cfp_pairs_reader() {
  return reader_entry<CfpReader>("cfp_pairs",
                                 "CFP's numbered image lists and Split/FF or Split/FP");
}

}  // namespace facebench

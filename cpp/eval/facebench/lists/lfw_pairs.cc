// LFW's pair lists. The first line is `FOLDS<tab>N` (View 2) or `N` (View 1, one set without
// folds); then for each fold N lines `NAME<tab>I<tab>J` (two photographs of one person) and N lines
// `NAME_A<tab>I<tab>NAME_B<tab>J`. Numbers count from 1; photograph I of NAME is the file
// NAME/NAME_%04d.jpg. Source: the README of the data set (Huang et al. 2007, section III).
//
// The same lists without the first line, a track for each group; photograph I of NAME is the file
// GROUP/NAME/NAME_%04d.jpg. Source: RFW (Wang et al., ICCV 2019), test/txts/GROUP/GROUP_pairs.txt.

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/lists/internal/list_file.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/trials/listed_trials.h"

namespace facebench {
namespace {

struct LfwPairsOptions {
  std::string pairs = "pairs.txt";
  std::string track = "pairs";
  std::string extension = ".jpg";
  static void describe(OptionsBuilder<LfwPairsOptions>& o) {
    o.name("lfw_pairs", "LFW's pairs.");
    o.field("pairs", &LfwPairsOptions::pairs, "the list");
    o.field("track", &LfwPairsOptions::track, "name of the track");
    o.field("extension", &LfwPairsOptions::extension, "of the photographs' files");
  }
};

struct LfwGroupsOptions {
  std::vector<std::string> groups;
  std::string pairs;
  std::int64_t folds = 10;
  std::int64_t size = 300;
  std::string extension = ".jpg";
  static void describe(OptionsBuilder<LfwGroupsOptions>& o) {
    o.name("lfw_groups", "Lists of pairs in LFW's form, one for each group of people.");
    o.field("groups", &LfwGroupsOptions::groups, "names of the groups, and of the tracks")
        .required = true;
    o.field("pairs", &LfwGroupsOptions::pairs, "the list; GROUP stands for the group's name")
        .required = true;
    o.field("folds", &LfwGroupsOptions::folds, "folds of a list", 1, 999'999);
    o.field("size", &LfwGroupsOptions::size, "genuine pairs of a fold, and as many impostor pairs",
            1, 999'999);
    o.field("extension", &LfwGroupsOptions::extension, "of the photographs' files");
  }
};

// What is known of a list before it is read.
struct ListForm {
  std::string track, extension;
  std::string folder;                // in front of each name; "" or "GROUP/"
  std::int64_t folds = 0, size = 0;  // 0 = the first line says them
};

// One pass over a list file.
class LfwPairsParser {
 public:
  LfwPairsParser(const ListFile& text, const ListForm& form, Blemishes& blemishes, TrialSet& set,
                 TrialSetBuilder& builder)
      : text_(text), form_(form), blemishes_(blemishes), set_(set), builder_(builder) {}

  void parse() {
    ListedTrials track;
    std::size_t line = 0;
    if (form_.folds == 0) {
      read_header();
      line = 1;
    } else {
      take_sizes();
    }
    for (std::int64_t fold = 0; fold < std::max<std::int64_t>(folds_, 1); ++fold) {
      for (std::int64_t k = 0; k < 2 * size_; ++k, ++line) {
        const bool genuine = k < size_;
        const TextLine& at = text_.lines()[line];
        track.comparisons.push_back(genuine ? genuine_pair(at) : impostor_pair(at));
        track.genuine.push_back(genuine ? 1 : 0);
        if (folds_ > 0) track.fold.push_back(static_cast<std::int32_t>(fold));
        count_blemishes(track.comparisons.back(), genuine, at);
      }
    }
    if (10 * conflicts_ > static_cast<std::int64_t>(track.comparisons.size()))
      fail(text_.name(),
           fmt::format("{} of {} pairs are listed as impostors, but are one person", conflicts_,
                       track.comparisons.size()),
           "Use the list as the data set gives it.");
    set_.tracks.push_back({form_.track, std::move(track)});
  }

 private:
  [[noreturn]] void refuse(const TextLine& line, const std::string& what,
                           const std::string& advice = "Use the list as the data set gives it.") {
    fail(text_.where(line), what, advice);
  }

  void read_header() {
    if (text_.lines().empty())
      fail(at_line(text_.name(), 1), "the list is empty", "Download it again.");
    const TextLine& line = text_.lines()[0];
    const auto fields = split_tabs(line.text);
    if (fields.size() > 2)
      refuse(line, fmt::format("the first line has {} fields", fields.size()),
             "It is 'FOLDS<tab>N' or 'N'.");
    if (fields.size() == 1 && split_whitespace(line.text).size() > 1)
      refuse(line, "the first line has blanks and no tab",
             "It is 'FOLDS<tab>N' or 'N'; the fields of all lines are separated by tabs.");
    const Place place = text_.place(line);
    if (fields.size() == 2) folds_ = positive(fields[0], place, "the number of folds");
    size_ = positive(fields.back(), place, "the number of pairs");
    // Neither number can exceed the number of lines, so the product below cannot overflow.
    const auto lines = static_cast<std::int64_t>(text_.lines().size());
    const std::int64_t sets = std::max<std::int64_t>(folds_, 1);
    if (sets > lines || size_ > lines || 1 + sets * 2 * size_ != lines)
      fail(
          text_.where(text_.lines().back()),
          fmt::format("the list ends after {} lines; its first line announces {} x ({} + {}) pairs",
                      lines, sets, size_, size_),
          "It was cut off or lines were added; download it again.");
  }

  // Of a list whose first line is a pair.
  void take_sizes() {
    folds_ = form_.folds;
    size_ = form_.size;
    if (const auto lines = static_cast<std::int64_t>(text_.lines().size());
        lines != folds_ * 2 * size_)
      fail(text_.name(),
           fmt::format("the list has {} lines; {} x ({} + {}) pairs are expected", lines, folds_,
                       size_, size_),
           "It was cut off or lines were added; fetch it again.");
  }

  static std::int64_t positive(std::string_view field, const Place& place, std::string_view what) {
    const std::int64_t value = parse_int(field, place, what);
    if (value < 1 || value > 999'999)
      fail(at_line(place.file, place.line),
           fmt::format("{} must be from 1 to 999999, got {}", what, value));
    return value;
  }

  // Names become folders and files below the image folder, so nothing may lead out of it.
  std::string name(std::string_view field, const TextLine& line) {
    const std::string_view untrimmed = field;
    field = trim(field);
    if (field.size() != untrimmed.size())
      blemishes_.add(
          BlemishKind::blanks, [&] { return text_.at(line); },
          [&] { return fmt::format("around the name '{}'", field); });
    if (field.empty()) refuse(line, "a name is empty");
    if (field == "." || field == ".." || field.find_first_of("/\\") != std::string_view::npos)
      refuse(line, fmt::format("'{}' is not a person's name", field));
    return std::string(field);
  }

  std::int32_t sample(const std::string& person, std::string_view number, const TextLine& line) {
    const std::int64_t n = positive(number, text_.place(line), "the number of a photograph");
    return builder_.sample(
        fmt::format("{}{}/{}_{:04}{}", form_.folder, person, person, n, form_.extension),
        form_.folder + person);
  }

  std::vector<std::string_view> fields(const TextLine& line, std::size_t count) {
    auto result = split_tabs(line.text);
    if (result.size() != count)
      refuse(line,
             fmt::format(
                 "{} fields between tabs where {} are expected ({})", result.size(), count,
                 count == 3 ? "a genuine pair: NAME I J" : "an impostor pair: NAME_A I NAME_B J"));
    return result;
  }

  Comparison genuine_pair(const TextLine& line) {
    const auto f = fields(line, 3);
    const std::string person = name(f[0], line);
    const std::int32_t a = sample(person, f[1], line), b = sample(person, f[2], line);
    return {a, b};
  }

  Comparison impostor_pair(const TextLine& line) {
    const auto f = fields(line, 4);
    const std::string first = name(f[0], line), second = name(f[2], line);
    const std::int32_t a = sample(first, f[1], line), b = sample(second, f[3], line);
    return {a, b};
  }

  void count_blemishes(const Comparison& c, bool genuine, const TextLine& line) {
    const auto where = [&] { return text_.at(line); };
    const auto both = [&] {
      return fmt::format("{} and {}", set_.names[c.first], set_.names[c.second]);
    };
    if (c.first == c.second)
      blemishes_.add(BlemishKind::self_comparison, where, [&] { return set_.names[c.first]; });
    if (!genuine && set_.identity[c.first] == set_.identity[c.second]) {
      ++conflicts_;
      blemishes_.add(BlemishKind::label_conflict, where,
                     [&] { return both() + " are listed as impostors, but are one person"; });
    }
    const auto [low, high] = std::minmax(c.first, c.second);
    const auto key = static_cast<std::uint64_t>(low) << 32 | static_cast<std::uint32_t>(high);
    const auto [earlier, fresh] = lines_of_.try_emplace(key, line.number);
    if (!fresh)
      blemishes_.add(BlemishKind::repeated_pair, where, [&, earlier = earlier] {
        return fmt::format("{}, as in line {}", both(), earlier->second);
      });
  }

  const ListFile& text_;
  const ListForm& form_;
  Blemishes& blemishes_;
  TrialSet& set_;
  TrialSetBuilder& builder_;
  std::int64_t folds_ = 0;  // 0 = one set without folds
  std::int64_t conflicts_ = 0;
  std::int64_t size_ = 0;  // genuine pairs of a set, and as many impostor pairs
  std::unordered_map<std::uint64_t, std::int64_t> lines_of_;
};

class LfwPairsReader : public OptionsReader<LfwPairsOptions> {
 public:
  using OptionsReader::OptionsReader;
  std::vector<std::string> files() const override { return {options_.pairs}; }

  TrialSet read(const std::filesystem::path& lists) const override {
    Blemishes blemishes(lists);
    const ListFile text(lists / options_.pairs, "pairs", blemishes);
    TrialSet set;
    TrialSetBuilder builder(set);
    LfwPairsParser(text, {options_.track, options_.extension, "", 0, 0}, blemishes, set, builder)
        .parse();
    set.lists.push_back(text.list());
    set.blemishes = blemishes.kinds();
    set.check();
    return set;
  }
};

class LfwGroupsReader : public OptionsReader<LfwGroupsOptions> {
 public:
  using OptionsReader::OptionsReader;
  std::vector<std::string> files() const override {
    std::vector<std::string> files;
    for (const std::string& group : options_.groups) files.push_back(file_of(group));
    return files;
  }

  TrialSet read(const std::filesystem::path& lists) const override {
    Blemishes blemishes(lists);
    TrialSet set;
    TrialSetBuilder builder(set);
    for (const std::string& group : options_.groups) {
      const ListFile text(lists / file_of(group), "pairs " + group, blemishes);
      LfwPairsParser(text, {group, options_.extension, group + "/", options_.folds, options_.size},
                     blemishes, set, builder)
          .parse();
      set.lists.push_back(text.list());
    }
    set.blemishes = blemishes.kinds();
    set.check();
    return set;
  }

 private:
  std::string file_of(const std::string& group) const {
    std::string file = options_.pairs;
    for (std::size_t at = 0; (at = file.find("GROUP", at)) != std::string::npos; at += group.size())
      file.replace(at, 5, group);
    return file;
  }
};

LfwGroupsOptions read_groups_options(const TomlTable& table) {
  auto options = read_options<LfwGroupsOptions>(table);
  if (options.groups.empty()) table.fail_at("groups", "no group is named");
  return options;
}

}  // namespace

TrialReaderEntry lfw_pairs_reader() {
  return reader_entry<LfwPairsReader>(
      "lfw_pairs", "LFW's pairs.txt and pairsDevTest.txt: tab-separated names and numbers");
}

TrialReaderEntry lfw_groups_reader() {
  return reader_entry<LfwGroupsReader>(
      "lfw_groups", "lists of pairs in LFW's form without a first line, one for each group",
      read_groups_options);
}

}  // namespace facebench

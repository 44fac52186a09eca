// Samples in three sets by quality (Guo & Zhang, FG 2018): every low and every middle one is
// compared with every high one (dense tracks low2high and middle2high).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/io/file.h"
#include "facebench/io/mat5.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/lists/internal/list_file.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/lists/internal/sample_names.h"
#include "facebench/trials/dense_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// Either the lists of the three sets,
struct IjbaQualityLists {
  std::string low = "namelist_low.mat";
  std::string middle = "namelist_middle.mat";
  std::string high = "namelist_high.mat";
  static void describe(OptionsBuilder<IjbaQualityLists>& o) {
    constexpr const char* doc =
        "MAT file of version 5 with a variable `namelist`: a cell array of two columns, subject "
        "and "
        "file name";
    o.name("ijba_quality", "Three lists of samples by quality.");
    o.field("low", &IjbaQualityLists::low, doc);
    o.field("middle", &IjbaQualityLists::middle, doc);
    o.field("high", &IjbaQualityLists::high, doc);
  }
};

// or scores of quality: low < low_below <= middle < high_from <= high.
struct IjbaQualityScores {
  std::string scores;
  double low_below = 30;
  double high_from = 60;
  std::string identity = "folder";
  static void describe(OptionsBuilder<IjbaQualityScores>& o) {
    o.name("ijba_quality", "A file of quality scores.");
    o.field("scores", &IjbaQualityScores::scores,
            "CSV file with columns sample and quality, and identity where the names do not say who "
            "it is")
        .required = true;
    o.field("low_below", &IjbaQualityScores::low_below, "quality below which a sample is low");
    o.field("high_from", &IjbaQualityScores::high_from, "quality from which a sample is high");
    o.choice("identity", &IjbaQualityScores::identity, "how a name tells who it is",
             identity_rules().names());
  }
};

enum Quality { low, middle, high };
constexpr std::array<const char*, 3> kNames = {"low", "middle", "high"};

// Gathers samples, each in one set only.
class Sets {
 public:
  explicit Sets(const fs::path& lists) : blemishes_(lists) {}

  void add(Quality quality, const std::string& name, const std::string& person,
           const ListPlace& where) {
    const auto [earlier, fresh] = seen_.try_emplace(name, where);
    if (fresh)
      members_[quality].push_back(builder_.sample(name, person));
    else
      blemishes_.add(
          BlemishKind::repeated_name, [&] { return where; },
          [&, earlier = earlier] {
            return fmt::format("{}, as in {}", name, blemishes_.place(earlier->second));
          });
  }

  TrialSet finish() {
    for (const Quality q : {low, middle}) {
      DenseTrials pairs;
      pairs.rows = members_[q];
      pairs.columns = members_[high];
      set_.tracks.push_back({fmt::format("{}2high", kNames[q]), std::move(pairs)});
    }
    set_.blemishes = blemishes_.kinds();
    return std::move(set_);
  }
  Blemishes& blemishes() { return blemishes_; }
  std::size_t size(Quality q) const { return members_[q].size(); }
  TrialSet& set() { return set_; }

 private:
  TrialSet set_;
  TrialSetBuilder builder_{set_};
  std::array<std::vector<std::int32_t>, 3> members_;
  std::unordered_map<std::string, ListPlace> seen_;
  Blemishes blemishes_;
};

class IjbaQualityReader : public TrialReader {
 public:
  TrialSet read(const fs::path& lists) const override {
    Sets sets(lists);
    read_into(sets, lists);
    for (const Quality q : {low, middle, high})
      if (sets.size(q) == 0)
        fail((lists / files().front()).string(),
             fmt::format("no sample is of {} quality", kNames[q]),
             "Each of the three sets needs some.");
    TrialSet set = sets.finish();
    set.check();
    return set;
  }

 private:
  virtual void read_into(Sets& sets, const fs::path& lists) const = 0;
};

class QualityListsReader : public IjbaQualityReader {
 public:
  explicit QualityListsReader(IjbaQualityLists options) : options_(std::move(options)) {}
  Json options() const override { return options_to_json(options_); }
  std::vector<std::string> files() const override {
    return {options_.low, options_.middle, options_.high};
  }

 private:
  void read_into(Sets& sets, const fs::path& lists) const override {
    read_list(lists / options_.high, high, sets);
    read_list(lists / options_.middle, middle, sets);
    read_list(lists / options_.low, low, sets);
  }

  static void read_list(const fs::path& path, Quality quality, Sets& sets) {
    const std::string bytes = read_file(path);
    const auto variables = parse_mat5(std::as_bytes(std::span(bytes)), path.string());
    const auto names = variables.find("namelist");
    if (names == variables.end()) fail(path.string(), "there is no variable 'namelist'");
    const auto rows = mat_text_rows(names->second, path.string() + ": namelist");
    if (rows.empty()) fail(path.string() + ": namelist", "the list is empty");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const ListPlace where{path.string(), 0, fmt::format("namelist, row {}", i + 1)};
      if (rows[i].size() != 2)
        fail(where.text(),
             fmt::format("{} columns where subject and file are expected", rows[i].size()));
      if (trim(rows[i][0]).empty()) fail(where.text(), "the subject is empty");
      sets.add(quality, sample_name(rows[i][1], sets.blemishes(), [&] { return where; }),
               std::string(trim(rows[i][0])), where);
    }
    sets.set().lists.push_back({kNames[quality], path, sha256_hex(bytes), {}});
  }

  IjbaQualityLists options_;
};

class QualityScoresReader : public IjbaQualityReader {
 public:
  explicit QualityScoresReader(IjbaQualityScores options)
      : options_(std::move(options)), identity_(identity_rules().at(options_.identity)) {}
  Json options() const override { return options_to_json(options_); }
  std::vector<std::string> files() const override { return {options_.scores}; }

 private:
  void read_into(Sets& sets, const fs::path& lists) const override {
    const fs::path path = lists / options_.scores;
    const ListCsv list = read_list_csv(path, "quality", sets.blemishes());
    const CsvTable& csv = list.table;
    const std::size_t sample = csv.column("sample"), quality = csv.column("quality");
    for (std::size_t row = 0; row < csv.rows(); ++row) {
      const ListPlace where = list.at(row);
      const std::string name =
          sample_name(csv.cell(row, sample), sets.blemishes(), [&] { return where; });
      const std::string person = csv.has_column("identity") ? csv.cell(row, csv.column("identity"))
                                                            : identity_.person(name);
      if (person.empty())
        fail(where.text(), fmt::format("who is on {} is not said", name),
             fmt::format("Add a column identity, or name samples by the rule '{}': {}.",
                         identity_.name, identity_.doc));
      const double value = csv.number(row, quality);
      sets.add(value < options_.low_below   ? low
               : value < options_.high_from ? middle
                                            : high,
               name, person, where);
    }
    sets.set().lists.push_back(list.list);
  }

  IjbaQualityScores options_;
  const IdentityRule& identity_;
};

std::unique_ptr<TrialReader> make_ijba_quality_reader(const TomlTable& table) {
  if (std::ranges::count(table.keys(), "scores") == 0)
    return std::make_unique<QualityListsReader>(read_options<IjbaQualityLists>(table));
  auto options = read_options<IjbaQualityScores>(table);
  if (options.low_below > options.high_from)
    table.fail_at("high_from", "lies below low_below, so that nothing is of middle quality");
  if (identity_rules().at(options.identity).person == nullptr)
    table.fail_at("identity", "there are no listed comparisons to tell people by");
  return std::make_unique<QualityScoresReader>(std::move(options));
}

}  // namespace

TrialReaderEntry ijba_quality_reader() {
  return {"ijba_quality", "three lists of samples by quality, or a file of quality scores",
          make_ijba_quality_reader};
}

}  // namespace facebench

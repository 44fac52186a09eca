#include "protocols/ijba_quality.h"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/io/mat5.h"
#include "facebench/io/text.h"
#include "facebench/protocols/dense_trials.h"
#include "protocols/sample_names.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

enum Quality { low, middle, high };
constexpr std::array<const char*, 3> kNames = {"low", "middle", "high"};

struct Keys {
  std::array<std::string, 3> lists;  // by Quality; empty with `scores`
  std::string scores;
  double low_below = 30, high_from = 60;
  const IdentityRule* identity = nullptr;
};

// Gathers samples, each in one set only.
class Sets {
 public:
  void add(Quality quality, const std::string& name, const std::string& person,
           const std::string& where) {
    const auto [earlier, fresh] = seen_.try_emplace(name, where);
    if (!fresh) fail(where, fmt::format("{} is there already, in {}", name, earlier->second));
    members_[quality].push_back(builder_.sample(name, person));
  }

  TrialSet finish() {
    for (const Quality q : {low, middle}) {
      DenseTrials pairs;
      pairs.rows = members_[q];
      pairs.columns = members_[high];
      set_.tracks.push_back({fmt::format("{}2high", kNames[q]), std::move(pairs)});
    }
    return std::move(set_);
  }
  std::size_t size(Quality q) const { return members_[q].size(); }
  TrialSet& set() { return set_; }

 private:
  TrialSet set_;
  TrialSetBuilder builder_{set_};
  std::array<std::vector<std::int32_t>, 3> members_;
  std::unordered_map<std::string, std::string> seen_;
};

class IjbaQualityReader : public TrialReader {
 public:
  explicit IjbaQualityReader(Keys keys) : keys_(std::move(keys)) {}

  Json options() const override {
    if (keys_.scores.empty())
      return {
          {"low", keys_.lists[low]}, {"middle", keys_.lists[middle]}, {"high", keys_.lists[high]}};
    return {{"scores", keys_.scores},
            {"low_below", keys_.low_below},
            {"high_from", keys_.high_from},
            {"identity", keys_.identity->name}};
  }
  std::vector<std::string> files() const override {
    if (!keys_.scores.empty()) return {keys_.scores};
    return {keys_.lists.begin(), keys_.lists.end()};
  }

  TrialSet read(const fs::path& lists) const override {
    Sets sets;
    if (keys_.scores.empty())
      for (const Quality q : {high, middle, low}) read_list(lists / keys_.lists[q], q, sets);
    else
      read_scores(lists / keys_.scores, sets);
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
  static void read_list(const fs::path& path, Quality quality, Sets& sets) {
    const std::string bytes = read_file(path);
    const auto variables = parse_mat5(std::as_bytes(std::span(bytes)), path.string());
    const auto found = variables.find("namelist");
    if (found == variables.end()) fail(path.string(), "there is no variable 'namelist'");
    const auto rows = mat_text_rows(found->second, path.string() + ": namelist");
    if (rows.empty()) fail(path.string() + ": namelist", "the list is empty");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string where = fmt::format("{}: namelist, row {}", path.string(), i + 1);
      if (rows[i].size() != 2)
        fail(where, fmt::format("{} columns where subject and file are expected", rows[i].size()));
      if (trim(rows[i][0]).empty()) fail(where, "the subject is empty");
      sets.add(quality, sample_name(rows[i][1], [&] { return where; }), rows[i][0], where);
    }
    sets.set().lists.push_back(trial_list(kNames[quality], path, bytes));
    sets.set().lists.back().notes.clear();  // of text files
  }

  void read_scores(const fs::path& path, Sets& sets) const {
    const CsvTable csv = read_csv(path);
    const std::size_t sample = csv.column("sample"), quality = csv.column("quality");
    for (std::size_t row = 0; row < csv.rows(); ++row) {
      const std::string where = at_line(csv.name(), csv.place(row).line);
      const std::string name = sample_name(csv.cell(row, sample), [&] { return where; });
      const std::string person = csv.has_column("identity") ? csv.cell(row, csv.column("identity"))
                                                            : keys_.identity->person(name);
      if (person.empty())
        fail(where, fmt::format("who is on {} is not said", name),
             fmt::format("Add a column identity, or name samples by the rule '{}': {}.",
                         keys_.identity->name, keys_.identity->doc));
      const double value = csv.number(row, quality);
      sets.add(value < keys_.low_below   ? low
               : value < keys_.high_from ? middle
                                         : high,
               name, person, where);
    }
    sets.set().lists.push_back(trial_list("quality", path, csv.bytes()));
  }

  Keys keys_;
};

}  // namespace

std::unique_ptr<TrialReader> make_ijba_quality_reader(const TomlTable& table) {
  Keys keys;
  if (table.has("scores")) {
    keys.scores = table.text("scores");
    keys.low_below = table.number("low_below", 30);
    keys.high_from = table.number("high_from", 60);
    if (keys.low_below > keys.high_from)
      table.fail_at("high_from", "lies below low_below, so that nothing is of middle quality");
    keys.identity = &identity_rule(table, "folder");
    if (keys.identity->person == nullptr)
      table.fail_at("identity", "there are no listed comparisons to tell people by");
  } else {
    for (const Quality q : {low, middle, high})
      keys.lists[q] = table.text(kNames[q], fmt::format("namelist_{}.mat", kNames[q]));
  }
  return std::make_unique<IjbaQualityReader>(std::move(keys));
}

}  // namespace facebench

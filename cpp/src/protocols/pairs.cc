#include "protocols/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/io/text.h"
#include "protocols/pair_collector.h"

namespace facebench {
namespace {

struct Keys {
  std::string file, track, separator;
  bool header = true;
  std::int64_t lines_per_pair = 1;
  std::string first, second, label, fold;
  std::vector<std::string> genuine, impostor;
  std::string folds;
  std::int64_t fold_count = 0;
  std::string prefix, suffix;
  const IdentityRule* identity = nullptr;
};

char separator_of(const std::string& word) {
  return word == "comma" ? ',' : word == "tab" ? '\t' : kBlanks;
}

// The text of `key`, one of the words.
std::string word(const TomlTable& table, std::string_view key, std::string_view fallback,
                 const std::vector<std::string>& words) {
  std::string value = table.text(key, fallback);
  if (std::ranges::find(words, value) == words.end())
    table.fail_at(key, unknown_name_message("word", value, words));
  return value;
}

Keys read_keys(const TomlTable& table) {
  Keys k;
  k.file = table.text("file");
  k.track = table.text("track", "pairs");
  k.separator = word(table, "separator", "comma", {"comma", "tab", "blanks"});
  k.header = table.boolean("header", true);
  k.lines_per_pair = table.integer("lines_per_pair", 1);
  if (k.lines_per_pair != 1 && k.lines_per_pair != 2)
    table.fail_at("lines_per_pair", "a pair takes 1 line or 2");
  k.first = table.text("first", k.header ? "first" : "0");
  if (k.lines_per_pair == 1) k.second = table.text("second", k.header ? "second" : "1");
  k.label = table.text("label", k.header ? "label" : k.lines_per_pair == 1 ? "2" : "1");
  k.genuine = table.texts("genuine", {"1"});
  k.impostor = table.texts("impostor", {"0"});
  for (const std::string& w : k.genuine)
    if (std::ranges::find(k.impostor, w) != k.impostor.end())
      table.fail_at("impostor", fmt::format("'{}' means genuine as well", w));
  k.folds = word(table, "folds", "none", {"none", "column", "order", "label"});
  if (k.folds == "column") k.fold = table.text("fold", k.header ? "fold" : "3");
  if (k.folds == "order") {
    k.fold_count = table.integer("fold_count");
    if (k.fold_count < 2 || k.fold_count > 1'000'000)
      table.fail_at("fold_count", "there are 2 folds or more");
  }
  if (k.folds == "label") k.fold_count = static_cast<std::int64_t>(k.genuine.size());
  k.prefix = table.text("prefix", "");
  k.suffix = table.text("suffix", "");
  k.identity = &identity_rule(table, "genuine");
  return k;
}

class PairsReader : public TrialReader {
 public:
  explicit PairsReader(Keys keys) : keys_(std::move(keys)) {}

  Json options() const override {
    return {{"file", keys_.file},
            {"track", keys_.track},
            {"separator", keys_.separator},
            {"header", keys_.header},
            {"first", keys_.first},
            {"second", keys_.second},
            {"label", keys_.label},
            {"lines_per_pair", keys_.lines_per_pair},
            {"genuine", keys_.genuine},
            {"impostor", keys_.impostor},
            {"folds", keys_.folds},
            {"fold", keys_.fold},
            {"fold_count", keys_.fold_count},
            {"prefix", keys_.prefix},
            {"suffix", keys_.suffix},
            {"identity", keys_.identity->name}};
  }
  std::vector<std::string> files() const override { return {keys_.file}; }

  TrialSet read(const std::filesystem::path& lists) const override {
    const std::filesystem::path path = lists / keys_.file;
    const CsvTable table = read_csv(path, {separator_of(keys_.separator), keys_.header});
    PairCollector pairs([&](PairCollector::Position row) {
      return at_line(table.name(), table.place(static_cast<std::size_t>(row)).line);
    });
    pairs.begin_track(keys_.track);
    if (table.rows() == 0) fail(table.name(), "the list is empty", "Download it again.");
    collect(table, pairs);
    if (keys_.fold_count > 0)
      pairs.number_folds(keys_.fold_count, keys_.folds == "order", table.name());
    TrialSet set = pairs.finish(*keys_.identity);
    set.lists.push_back(trial_list("pairs", path, table.bytes()));
    return set;
  }

 private:
  void collect(const CsvTable& table, PairCollector& pairs) const {
    const auto lines = static_cast<std::size_t>(keys_.lines_per_pair);
    const std::size_t first = table.column(keys_.first), label = table.column(keys_.label);
    const std::size_t second = lines == 2 ? first : table.column(keys_.second);
    const bool has_fold = keys_.folds == "column";
    const std::size_t fold = has_fold ? table.column(keys_.fold) : 0;
    if (table.rows() % lines != 0)
      fail(at_line(table.name(), table.place(table.rows() - 1).line),
           "the last pair has one line only", "The list was cut off; download it again.");
    std::unordered_map<std::string, std::int32_t> numbers;
    for (std::size_t row = 0; row < table.rows(); row += lines) {
      const std::size_t other = row + lines - 1;
      const std::string& what = table.cell(row, label);
      if (table.cell(other, label) != what)
        fail(at_line(table.name(), table.place(other).line),
             fmt::format("the label is '{}', that of the pair's first line '{}'",
                         table.cell(other, label), what));
      std::int32_t number = -1;
      const auto known = std::ranges::find(keys_.genuine, what);
      const bool genuine = known != keys_.genuine.end();
      if (!genuine && std::ranges::find(keys_.impostor, what) == keys_.impostor.end())
        fail(at_line(table.name(), table.place(row).line),
             fmt::format("the label '{}' is neither genuine ({}) nor impostor ({})", what,
                         fmt::join(keys_.genuine, ", "), fmt::join(keys_.impostor, ", ")));
      if (has_fold)
        number =
            numbers.try_emplace(table.cell(row, fold), static_cast<std::int32_t>(numbers.size()))
                .first->second;
      else if (keys_.folds == "label")  // of an impostor pair: known when all have been read
        number = genuine ? static_cast<std::int32_t>(known - keys_.genuine.begin()) : 0;
      pairs.add(keys_.prefix + table.cell(row, first) + keys_.suffix,
                keys_.prefix + table.cell(other, second) + keys_.suffix, genuine, number,
                static_cast<PairCollector::Position>(row));
    }
  }

  Keys keys_;
};

}  // namespace

std::unique_ptr<TrialReader> make_pairs_reader(const TomlTable& table) {
  return std::make_unique<PairsReader>(read_keys(table));
}

}  // namespace facebench

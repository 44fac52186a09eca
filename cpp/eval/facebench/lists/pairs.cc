// Any list of pairs with labels, its form stated by the protocol's TOML.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/core/options.h"
#include "facebench/io/text.h"
#include "facebench/lists/internal/list_file.h"
#include "facebench/lists/internal/pair_collector.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/lists/internal/sample_names.h"

namespace facebench {
namespace {

struct PairsOptions {
  std::string file;
  std::string track = "pairs";
  std::string separator = "comma";
  bool header = true;
  std::int64_t lines_per_pair = 1;
  // Names of columns; without a header line they are "0", "1", ...
  std::optional<std::string> first;
  std::optional<std::string> second;
  std::optional<std::string> label;
  std::optional<std::string> fold;
  std::vector<std::string> genuine = {"1"};
  std::vector<std::string> impostor = {"0"};
  std::string folds = "none";
  std::optional<std::int64_t> fold_count;
  std::string prefix;
  std::string suffix;
  std::string identity = "genuine";
  static void describe(OptionsBuilder<PairsOptions>& o) {
    o.name("pairs", "A list of pairs.");
    o.field("file", &PairsOptions::file, "the list").required = true;
    o.field("track", &PairsOptions::track, "name of the track");
    o.choice("separator", &PairsOptions::separator,
             "comma (RFC 4180), tab, or blanks (any run of spaces and tabs)",
             {"comma", "tab", "blanks"});
    o.field("header", &PairsOptions::header,
            "the first line names the columns; else they are \"0\", \"1\", ...");
    o.field(
        "lines_per_pair", &PairsOptions::lines_per_pair,
        "1: a line is a pair, with the columns first, second and label; 2: two lines in a row are "
        "a pair, each with the columns first and label",
        1, 2);
    o.field("first", &PairsOptions::first, "column of the first name");
    o.field("second", &PairsOptions::second, "column of the second name");
    o.field("label", &PairsOptions::label, "column of the label");
    o.field("genuine", &PairsOptions::genuine, "the words that mean genuine in the column label");
    o.field("impostor", &PairsOptions::impostor, "the words that mean impostor");
    o.choice("folds", &PairsOptions::folds,
             "none; column: the column fold names them, numbered as they first appear; order: each "
             "class is cut into fold_count runs of one length; label: the words of genuine are the "
             "folds, impostors are cut as in order",
             {"none", "column", "order", "label"});
    o.field("fold", &PairsOptions::fold, "column of the fold");
    o.field("fold_count", &PairsOptions::fold_count, "folds, where they are cut in order", 2,
            1'000'000);
    o.field("prefix", &PairsOptions::prefix,
            "what a name lacks at its beginning to be a path below the image folder");
    o.field("suffix", &PairsOptions::suffix, "the same, at its end");
    o.choice("identity", &PairsOptions::identity, "how a name tells who it is",
             identity_rules().names());
  }
};

char separator_of(const std::string& word) {
  return word == "comma" ? ',' : word == "tab" ? '\t' : kBlanks;
}

// What a fold is called in a row: 1.0 is 1, as programs write it that keep a column as doubles. A
// row without a fold would be one of its own, which counts in an accuracy as much as any other.
std::string fold_name(const CsvTable& table, std::size_t row, std::size_t column) {
  const std::string& word = table.cell(row, column);
  constexpr std::array<std::string_view, 5> absent = {"", "nan", "none", "null", "<na>"};
  if (std::ranges::find(absent, lower_ascii(word)) != absent.end())
    fail(at_line(table.name(), table.place(row).line),
         fmt::format("the fold is '{}', but each pair needs one", printable(word)),
         "Give the row its fold, or take it out of the list.");
  const auto number = number_of(word);
  return number && *number == std::floor(*number) && std::abs(*number) < 1e15
             ? fmt::format("{:.0f}", *number)
             : word;
}

// `options` as the table states them, with everything set that depends on another key; "" and 0 are
// what is not used.
PairsOptions read_pairs_options(const TomlTable& table) {
  auto k = read_options<PairsOptions>(table);
  const auto only_with = [&](std::string_view key, bool used, std::string_view condition) {
    if (!used && table.has(key))
      table.fail_at(key, fmt::format("'{}' is used only with {}", key, condition));
  };
  only_with("second", k.lines_per_pair == 1, "lines_per_pair = 1");
  only_with("fold", k.folds == "column", "folds = \"column\"");
  only_with("fold_count", k.folds == "order", "folds = \"order\"");
  const auto column = [&](bool used, std::string_view name, std::string_view number) {
    return std::string(!used ? "" : k.header ? name : number);
  };
  if (!k.first) k.first = column(true, "first", "0");
  if (!k.second) k.second = column(k.lines_per_pair == 1, "second", "1");
  if (!k.label) k.label = column(true, "label", k.lines_per_pair == 1 ? "2" : "1");
  if (!k.fold) k.fold = column(k.folds == "column", "fold", "3");
  if (k.folds == "order" && !k.fold_count) table.integer("fold_count");  // says that it is missing
  if (!k.fold_count)
    k.fold_count = k.folds == "label" ? static_cast<std::int64_t>(k.genuine.size()) : 0;
  for (const std::string& w : k.genuine)
    if (std::ranges::find(k.impostor, w) != k.impostor.end())
      table.fail_at("impostor", fmt::format("'{}' means genuine as well", w));
  return k;
}

class PairsReader : public OptionsReader<PairsOptions> {
 public:
  using OptionsReader::OptionsReader;
  std::vector<std::string> files() const override { return {options_.file}; }
  std::vector<std::string> missing(const std::filesystem::path& lists) const override {
    std::error_code ignored;
    if (std::filesystem::exists(file_in(lists), ignored)) return {};
    return files();
  }

  TrialSet read(const std::filesystem::path& lists) const override {
    const std::filesystem::path path = file_in(lists);
    Blemishes blemishes(lists);
    const ListCsv list = read_list_csv(path, "pairs", blemishes,
                                       {separator_of(options_.separator), options_.header});
    const CsvTable& table = list.table;
    PairCollector pairs(
        [&](PairCollector::Position row) { return list.at(static_cast<std::size_t>(row)); },
        blemishes);
    pairs.begin_track(options_.track);
    if (table.rows() == 0) fail(table.name(), "the list is empty", "Download it again.");
    const std::string note = collect(table, pairs);
    if (*options_.fold_count > 0)
      pairs.number_folds(*options_.fold_count, options_.folds == "order", table.name());
    TrialSet set = pairs.finish(identity_rules().at(options_.identity));
    set.lists.push_back(list.list);
    if (!note.empty()) set.lists.back().notes.push_back(note);
    set.blemishes = blemishes.kinds();
    return set;
  }

 private:
  // Says which fold of a column is far smaller than the others, if one is.
  std::string collect(const CsvTable& table, PairCollector& pairs) const {
    const auto lines = static_cast<std::size_t>(options_.lines_per_pair);
    const auto column = [&](const std::string& name) {
      return table.column(
          name,
          "Give the columns these names, or name them in a copy of protocols/pairs.toml: "
          "[reader], first = ..., second = ..., label = ...");
    };
    const std::size_t first = column(*options_.first), label = column(*options_.label);
    const std::size_t second = lines == 2 ? first : column(*options_.second);
    const bool has_fold = options_.folds == "column";
    const std::size_t fold = has_fold ? column(*options_.fold) : 0;
    if (table.rows() % lines != 0)
      fail(at_line(table.name(), table.place(table.rows() - 1).line),
           "the last pair has one line only", "The list was cut off; download it again.");
    std::unordered_map<std::string, std::int32_t> numbers;
    std::vector<std::pair<std::string, std::int64_t>> sizes;  // of the folds of a column
    for (std::size_t row = 0; row < table.rows(); row += lines) {
      const std::size_t other = row + lines - 1;
      const std::string& what = table.cell(row, label);
      if (table.cell(other, label) != what)
        fail(at_line(table.name(), table.place(other).line),
             fmt::format("the label is '{}', that of the pair's first line '{}'",
                         table.cell(other, label), what));
      std::int32_t number = -1;
      const auto known = std::ranges::find(options_.genuine, what);
      const bool genuine = known != options_.genuine.end();
      if (!genuine && std::ranges::find(options_.impostor, what) == options_.impostor.end())
        fail(at_line(table.name(), table.place(row).line),
             fmt::format("the label '{}' is neither genuine ({}) nor impostor ({})", what,
                         fmt::join(options_.genuine, ", "), fmt::join(options_.impostor, ", ")));
      if (has_fold) {
        const std::string name = fold_name(table, row, fold);
        if (const std::string of_other = fold_name(table, other, fold); of_other != name)
          fail(at_line(table.name(), table.place(other).line),
               fmt::format("the fold is '{}', that of the pair's first line '{}'",
                           printable(of_other), printable(name)));
        number = numbers.try_emplace(name, static_cast<std::int32_t>(numbers.size())).first->second;
        if (sizes.size() < numbers.size()) sizes.emplace_back(name, 0);
        ++sizes[static_cast<std::size_t>(number)].second;
      } else if (options_.folds == "label")  // of an impostor pair: known when all have been read
        number = genuine ? static_cast<std::int32_t>(known - options_.genuine.begin()) : 0;
      pairs.add(options_.prefix + table.cell(row, first) + options_.suffix,
                options_.prefix + table.cell(other, second) + options_.suffix, genuine, number,
                static_cast<PairCollector::Position>(row));
    }
    return small_fold(sizes, static_cast<std::int64_t>(table.rows() / lines));
  }

  static std::string small_fold(const std::vector<std::pair<std::string, std::int64_t>>& sizes,
                                std::int64_t all) {
    const auto least =
        std::ranges::min_element(sizes, {}, &std::pair<std::string, std::int64_t>::second);
    if (least == sizes.end() || 10 * least->second * static_cast<std::int64_t>(sizes.size()) >= all)
      return "";
    return fmt::format(
        "has {} pairs in fold '{}' of {} pairs in {} folds; an accuracy counts every fold alike",
        least->second, printable(least->first), all, sizes.size());
  }

  // The list; where it is not there and the same as a pickle is, that, to be refused by name.
  std::filesystem::path file_in(const std::filesystem::path& lists) const {
    std::filesystem::path list = lists / options_.file;
    const std::filesystem::path pickle = std::filesystem::path(list).replace_extension(".pkl");
    std::error_code ignored;
    return !std::filesystem::exists(list, ignored) && std::filesystem::exists(pickle, ignored)
               ? pickle
               : list;
  }
};

}  // namespace

TrialReaderEntry pairs_reader() {
  return reader_entry<PairsReader>(
      "pairs", "any list of pairs with labels and folds, its form stated by keys",
      read_pairs_options);
}

}  // namespace facebench

#include "facebench/protocols/score_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "facebench/core/disjoint_sets.h"
#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/io/file.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/protocols/dense_trials.h"
#include "facebench/protocols/listed_trials.h"
#include "facebench/protocols/readers/bee_matrix.h"
#include "facebench/protocols/readers/list_file.h"
#include "facebench/protocols/readers/pair_collector.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;
using Paths = std::span<const fs::path>;

constexpr const char* kTrack = "scores";
constexpr const char* kNoPeople =
    "The score files name no people: intervals draw comparisons as if no two shared a person, and "
    "are too short where some do.";

// --- comparisons without people ---------------------------------------------------------------

// Every comparison is of people of its own.
ScoredList nameless(const std::vector<double>& genuine, const std::vector<double>& impostor,
                    std::vector<TrialList> lists) {
  if (genuine.empty() || impostor.empty())
    fail(lists.front().path.string(),
         fmt::format("{} genuine and {} impostor scores", genuine.size(), impostor.size()),
         "Both are needed.");
  ScoredList result;
  TrialSet& set = result.trials;
  ListedTrials trials;
  const auto side = [&](std::string name, bool new_person) {
    if (new_person) set.identity_names.push_back(name);
    set.names.push_back(std::move(name));
    set.identity.push_back(static_cast<std::int32_t>(set.identity_names.size()) - 1);
  };
  const auto add = [&](std::string_view what, const std::vector<double>& scores, bool is_genuine) {
    for (std::size_t k = 1; k <= scores.size(); ++k) {
      const auto first = static_cast<std::int32_t>(set.names.size());
      side(fmt::format("{}{}a", what, k), true);
      side(fmt::format("{}{}b", what, k), !is_genuine);
      trials.comparisons.push_back({first, first + 1});
      trials.genuine.push_back(is_genuine);
    }
    result.scores.insert(result.scores.end(), scores.begin(), scores.end());
  };
  add("genuine", genuine, true);
  add("impostor", impostor, false);
  set.tracks.emplace_back(kTrack, std::move(trials));
  set.lists = std::move(lists);
  set.notes.emplace_back(kNoPeople);
  return result;
}

// The lines of a file of scores; those that begin with # are remarks.
std::vector<std::pair<TextLine, std::vector<std::string_view>>> rows_of(const ListFile& file) {
  std::vector<std::pair<TextLine, std::vector<std::string_view>>> rows;
  for (const TextLine& line : file.lines())
    if (!line.text.starts_with('#')) rows.emplace_back(line, split_whitespace(line.text));
  return rows;
}

ScoredList read_genuine_impostor(Paths files) {
  std::vector<double> scores[2];
  std::vector<TrialList> lists;
  Blemishes blemishes(files[0].parent_path());
  for (const std::size_t k : {0, 1}) {
    const ListFile file(files[k], k == 0 ? "genuine" : "impostor", blemishes);
    for (const auto& [line, words] : rows_of(file))
      scores[k].push_back(parse_double(words.back(), file.place(line), "the score"));
    lists.push_back(file.list());
  }
  ScoredList result = nameless(scores[0], scores[1], std::move(lists));
  result.trials.blemishes = blemishes.kinds();
  return result;
}

// Which class a word stands for: 1 genuine, 0 impostor.
std::optional<int> class_of(std::string_view word) {
  const std::string lower = lower_ascii(word);
  for (const std::string_view start :
       {"gen", "mated", "mate", "tar", "pos", "match", "client", "same", "intra"})
    if (lower.starts_with(start)) return 1;
  for (const std::string_view start : {"imp", "non", "neg", "zero", "diff", "inter"})
    if (lower.starts_with(start)) return 0;
  return {};
}

// The cells of a text in lines, separated by commas, tabs or blanks.
CsvTable table_of(const fs::path& path, bool header) {
  std::string bytes = read_file(path);
  const std::string_view first = std::string_view(bytes).substr(0, bytes.find('\n'));
  const char separator = first.find(',') != std::string_view::npos    ? ','
                         : first.find('\t') != std::string_view::npos ? '\t'
                                                                      : kBlanks;
  return CsvTable(std::move(bytes), path.string(), {separator, header});
}

TrialList list_of(const fs::path& path, std::string role) {
  return {std::move(role), path, sha256_file(path), {}};
}

ScoredList read_columns(Paths files) {
  const CsvTable table = table_of(files[0], true);
  std::vector<double> scores[2];
  const auto& names = table.columns();
  for (std::size_t column = 0; column < names.size(); ++column) {
    const auto kind = class_of(names[column]);
    if (!kind || !scores[*kind].empty())
      fail(table.name(),
           fmt::format("the columns are {}; one of genuine and one of impostor scores are expected",
                       fmt::join(names, ", ")),
           "Name them genuine and impostor.");
    for (std::size_t row = 0; row < table.rows(); ++row)
      if (!table.cell(row, column).empty()) scores[*kind].push_back(table.number(row, column));
  }
  return nameless(scores[1], scores[0], {list_of(files[0], "scores")});
}

std::optional<int> label_of(std::string_view word) {
  if (word == "1" || word == "+1") return 1;
  if (word == "0" || word == "-1") return 0;
  return class_of(word);
}

ScoredList read_labelled(Paths files) {
  CsvTable table = table_of(files[0], false);
  if (table.columns().size() != 2)
    fail(table.name(), fmt::format("has {} columns", table.columns().size()),
         "A label and a score are expected.");
  // A first row without any number is a header.
  const bool header =
      table.rows() > 0 && !number_of(table.cell(0, 0)) && !number_of(table.cell(0, 1));
  const std::size_t begin = header ? 1 : 0;
  const auto all_labels = [&](std::size_t column) {
    for (std::size_t row = begin; row < table.rows(); ++row)
      if (!label_of(table.cell(row, column))) return false;
    return true;
  };
  const bool first = all_labels(0), second = all_labels(1);
  if (first == second)
    fail(table.name(), first ? "both columns can be the labels" : "no column has labels alone",
         "Labels are 1 and 0, 1 and -1, or genuine and impostor.");
  const std::size_t label = first ? 0 : 1;
  std::vector<double> scores[2];
  for (std::size_t row = begin; row < table.rows(); ++row)
    scores[*label_of(table.cell(row, label))].push_back(table.number(row, 1 - label));
  return nameless(scores[1], scores[0], {list_of(files[0], "scores")});
}

std::vector<double> numbers_of(const H5Reader& file, const std::string& name) {
  const std::string path = "/" + name;
  const auto as_doubles = [](const auto& values) {
    return std::vector<double>(values.begin(), values.end());
  };
  switch (file.type(path)) {
    case H5Type::float32:
      return as_doubles(file.read<float>(path, 1));
    case H5Type::int32:
      return as_doubles(file.read<std::int32_t>(path, 1));
    case H5Type::int64:
      return as_doubles(file.read<std::int64_t>(path, 1));
    default:
      return file.read<double>(path, 1);
  }
}

ScoredList read_hdf5(Paths files) {
  const H5Reader file(files[0]);
  std::optional<std::string> of[2];
  const auto names = file.names();
  for (const std::string& name : names)
    if (const auto kind = class_of(name)) {
      if (of[*kind])
        fail(files[0].string(), fmt::format("{} and {} are of one class", *of[*kind], name),
             "Keep two vectors, genuine and impostor.");
      of[*kind] = name;
    }
  if (!of[0] || !of[1])
    fail(files[0].string(),
         fmt::format("holds {}, not genuine and impostor scores",
                     names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "))),
         "Name the two vectors genuine and impostor.");
  return nameless(numbers_of(file, *of[1]), numbers_of(file, *of[0]),
                  {list_of(files[0], "scores")});
}

// --- comparisons of named people --------------------------------------------------------------

// claimed identity, label of the model (where there are five columns), real identity, label of the
// probe, score.
ScoredList read_bob(Paths files, std::size_t columns) {
  ScoredList result;
  Blemishes blemishes(files[0].parent_path());
  const ListFile file(files[0], "scores", blemishes);
  std::unordered_map<std::string, std::string> person;
  PairCollector pairs(
      [&](PairCollector::Position line) {
        return ListPlace{file.name(), line, ""};
      },
      blemishes);
  pairs.begin_track(kTrack);
  for (const auto& [line, words] : rows_of(file)) {
    if (words.size() != columns)
      fail(file.where(line), fmt::format("has {} columns, {} are expected", words.size(), columns),
           "Write the file again.");
    const std::string claimed(words[0]), real(words[columns - 3]);
    const std::string model =
        columns == 5 ? fmt::format("model {}: {}", claimed, words[1]) : "model " + claimed;
    const std::string probe = fmt::format("{}: {}", real, words[columns - 2]);
    person.emplace(model, claimed);
    person.emplace(probe, real);
    pairs.add(model, probe, claimed == real, -1, line.number);
    result.scores.push_back(parse_double(words.back(), file.place(line), "the score"));
  }
  if (result.scores.empty()) fail(file.name(), "holds no scores", "Write the file again.");
  result.trials = pairs.finish([&](const std::string& sample) { return person.at(sample); });
  result.trials.lists.push_back(file.list());
  result.trials.blemishes = blemishes.kinds();
  return result;
}
ScoredList read_bob4(Paths files) { return read_bob(files, 4); }
ScoredList read_bob5(Paths files) { return read_bob(files, 5); }

// A matrix and its mask. Who is who is what genuine entries connect.
ScoredList read_bee(Paths files) {
  const BeeMatrix<float> matrix = read_bee_matrix(files[0]);
  const BeeMatrix<std::uint8_t> mask = read_bee_mask(files[1]);
  if (mask.rows != matrix.rows || mask.columns != matrix.columns)
    fail(files[1].string(),
         fmt::format("is a mask of {} x {} for a matrix of {} x {}", mask.rows, mask.columns,
                     matrix.rows, matrix.columns),
         "Give the mask of this matrix.");
  ScoredList result;
  TrialSet& set = result.trials;
  DenseTrials trials;
  const auto side = [&](std::string_view name, std::size_t count,
                        std::vector<std::int32_t>& units) {
    for (std::size_t k = 1; k <= count; ++k) {
      units.push_back(static_cast<std::int32_t>(set.names.size()));
      set.names.push_back(fmt::format("{} {}", name, k));
    }
  };
  side("query", matrix.rows, trials.rows);
  side("target", matrix.columns, trials.columns);
  DisjointSets people(set.names.size());
  const auto connect = [&](std::size_t row, std::size_t column) {
    people.join(trials.rows[row], trials.columns[column]);
  };
  if (matrix.target == matrix.query && matrix.rows == matrix.columns)  // one set with itself
    for (std::size_t k = 0; k < matrix.rows; ++k) connect(k, k);
  std::int64_t genuine = 0, impostor = 0;
  for (std::size_t k = 0; k < mask.entries.size(); ++k) {
    const std::size_t row = k / mask.columns, column = k % mask.columns;
    if (mask.entries[k] == bee_match) {
      ++genuine;
      connect(row, column);
      trials.mask.push_back(DenseTrials::is_genuine);
    } else if (mask.entries[k] == bee_non_match) {
      ++impostor;
      trials.mask.push_back(DenseTrials::is_impostor);
    } else if (mask.entries[k] == bee_dont_care) {
      trials.mask.push_back(DenseTrials::not_compared);
    } else {
      fail(files[1].string(),
           fmt::format("row {}, column {} is {}; 255 (match), 127 (non-match) or 0 (not compared) "
                       "is expected",
                       row, column, mask.entries[k]),
           "Give the mask of this matrix.");
    }
  }
  if (genuine == 0 || impostor == 0)
    fail(files[1].string(), fmt::format("has {} matches and {} non-matches", genuine, impostor),
         "Both are needed.");
  std::unordered_map<std::int32_t, std::int32_t> number;
  for (const std::int32_t person : people.all()) {
    const auto [at, fresh] =
        number.try_emplace(person, static_cast<std::int32_t>(set.identity_names.size()));
    if (fresh) set.identity_names.push_back(set.names[person]);
    set.identity.push_back(at->second);
  }
  Blemishes blemishes(files[1].parent_path());
  for (std::size_t k = 0; k < trials.mask.size(); ++k) {
    const std::int32_t row = trials.rows[k / mask.columns],
                       column = trials.columns[k % mask.columns];
    if (trials.mask[k] == DenseTrials::is_impostor && set.identity[row] == set.identity[column])
      blemishes.add(BlemishKind::mask_conflict, ListPlace{files[1].string(), 0, ""},
                    [&] { return fmt::format("{} and {}", set.names[row], set.names[column]); });
  }
  set.blemishes = blemishes.kinds();
  set.tracks.emplace_back(kTrack, std::move(trials));
  set.lists = {list_of(files[0], "scores"), list_of(files[1], "mask")};
  set.notes.push_back(fmt::format(
      "{} says that it holds {}.", files[0].filename().string(),
      matrix.distances ? "distances (D2): their signs were turned" : "similarities (S2)"));
  result.turned = matrix.distances;
  for (const float score : matrix.entries)
    result.scores.push_back(matrix.distances ? -score : score);
  return result;
}

bool is_bee(const fs::path& path) {
  const std::string extension = lower_ascii(path.extension().string());
  return extension == ".mtx" || extension == ".mask";
}

// The form that the files look like.
std::string form_of(Paths files) {
  if (std::ranges::any_of(files, is_bee)) return "bee";
  if (files.size() == 2) return "genuine_impostor";
  const fs::path& path = files.front();
  if (const std::string end = lower_ascii(path.extension().string());
      end == ".h5" || end == ".hdf5" || end == ".hdf")
    return "hdf5";
  Blemishes ignored(path.parent_path());
  const ListFile file(path, "scores", ignored);
  const auto rows = rows_of(file);
  if (rows.empty()) fail(path.string(), "holds no scores", "Write the file again.");
  const auto& [line, words] = rows.front();
  if (words.size() == 4) return "bob4";
  if (words.size() == 5) return "bob5";
  const CsvTable table = table_of(path, true);
  if (table.columns().size() == 2)
    return class_of(table.columns()[0]) && class_of(table.columns()[1]) ? "columns" : "labelled";
  fail(file.where(line), "is of none of the forms that say which scores are genuine",
       "Choose one (facebench list score-forms), or give the protocol's lists (root).");
}

}  // namespace

const Table<ScoreForm>& score_forms() {
  static const Table<ScoreForm> table(
      "form of score files",
      {{"genuine_impostor",
        "a file of genuine and a file of impostor scores, one a line, the last "
        "word of it",
        "pyeer", 2, read_genuine_impostor},
       {"columns", "two columns under the headers genuine and impostor, one may be longer",
        "tables", 1, read_columns},
       {"labelled", "a label (1 and 0, 1 and -1, genuine and impostor) and a score in each line",
        "common", 1, read_labelled},
       {"bob4", "claimed identity, real identity, label of the probe, score in each line",
        "bob.measure, four_column", 1, read_bob4},
       {"bob5", "claimed identity, label of the model, real identity, label of the probe, score",
        "bob.measure, five_column", 1, read_bob5},
       {"hdf5",
        "two vectors whose names begin as genuine and impostor do, or mated and non-mated, "
        "target and nontarget, positives and negatives",
        "common", 1, read_hdf5},
       {"bee", "a matrix (.mtx) of similarities or distances and its mask (.mask)",
        "NIST's Biometric Evaluation Environment, OpenBR", 2, read_bee}});
  return table;
}

ScoredList read_scored_list(Paths files, std::string_view form) {
  if (files.empty() || files.size() > 2)
    throw std::invalid_argument(
        fmt::format("{} score files; one or two are expected", files.size()));
  const ScoreForm& read = score_forms().at(form.empty() ? form_of(files) : std::string(form));
  if (read.files != files.size())
    throw std::invalid_argument(fmt::format("{} score files; the form '{}' has {}: {}",
                                            files.size(), read.name, read.files, read.doc));
  ScoredList result = read.read(files);
  result.trials.check();
  return result;
}

}  // namespace facebench

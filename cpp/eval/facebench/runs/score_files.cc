#include "facebench/runs/score_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "facebench/core/disjoint_sets.h"
#include "facebench/core/error.h"
#include "facebench/core/nfc.h"
#include "facebench/core/numbers.h"
#include "facebench/io/file.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/lists/internal/bee_matrix.h"
#include "facebench/lists/internal/class_words.h"
#include "facebench/lists/internal/list_file.h"
#include "facebench/lists/internal/pair_collector.h"
#include "facebench/runs/internal/score_lists.h"
#include "facebench/runs/internal/score_vectors.h"
#include "facebench/runs/score_columns.h"
#include "facebench/trials/dense_trials.h"
#include "facebench/trials/listed_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;
using Paths = std::span<const fs::path>;

constexpr const char* kNoPeople =
    "The score files name no people: intervals draw comparisons as if no two shared a person, and "
    "are too short where some do.";

// Turns the scores where all these names say that they are distances, and says so.
void turn_distances(ScoredList& list, std::initializer_list<std::string> names) {
  if (!std::ranges::all_of(names, names_distances)) return;
  for (double& score : list.scores) score = -score;
  list.turned = true;
  list.trials.notes.push_back(fmt::format(
      "By their names {} hold distances: their signs were turned.", fmt::join(names, " and ")));
}

// --- comparisons without people ---------------------------------------------------------------

// The lines of a file of scores; those that begin with # are remarks.
std::vector<std::pair<TextLine, std::vector<std::string_view>>> rows_of(const ListFile& file) {
  std::vector<std::pair<TextLine, std::vector<std::string_view>>> rows;
  for (const TextLine& line : file.lines())
    if (!line.text.starts_with('#')) rows.emplace_back(line, split_whitespace(line.text));
  return rows;
}

// The class that a file's name says it holds, or where it says none that of its folder.
std::optional<int> class_of_file(const fs::path& path) {
  const auto of_file = class_of_name(path.stem().string());
  return of_file ? of_file : class_of_name(fs::absolute(path).parent_path().filename().string());
}

// Whether the impostor scores come first. Names that both say which scores they hold decide it,
// whatever the order; where they say nothing, or the same, the order does.
bool are_exchanged(Paths files) {
  const auto first = class_of_file(files[0]), second = class_of_file(files[1]);
  const auto says = [](const fs::path& path, int which) {
    return fmt::format("{} is {} by its name", path.filename().string(),
                       which == 1 ? "genuine" : "impostor");
  };
  if (first == 0 && second == 1) return true;
  if ((first == 0 && !second) || (!first && second == 1))
    fail(files[first ? 0 : 1].string(),
         fmt::format("{}, but given as the {} file", first ? says(files[0], 0) : says(files[1], 1),
                     first ? "genuine" : "impostor"),
         "Give the file of genuine scores first, or name both files by what they hold.");
  return false;
}

// One vector of scores and one of labels, of the same comparisons.
ScoredList read_labelled_vectors(Paths files) {
  std::vector<double> values[2] = {score_vector(files[0]), score_vector(files[1])};
  const std::size_t at = are_labels(values[0]) ? 0 : 1;  // of the labels
  if (!are_labels(values[at]) || are_labels(values[1 - at]))
    fail(files[0].string(), "one of the two vectors is labels (1 and 0, or 1 and -1), one scores",
         "Of genuine and impostor scores: form genuine_impostor.");
  if (values[0].size() != values[1].size())
    fail(files[at].string(),
         fmt::format("{} labels for {} scores", values[at].size(), values[1 - at].size()),
         "Each comparison has a score and a label.");
  const std::vector<double>& all = values[1 - at];
  check_finite(all, files[1 - at]);
  std::vector<double> scores[2];
  for (std::size_t k = 0; k < all.size(); ++k) scores[values[at][k] == 1].push_back(all[k]);
  ScoredList result = nameless_scores(
      scores[1], scores[0], {score_list(files[1 - at], "scores"), score_list(files[at], "labels")});
  result.trials.notes.push_back(fmt::format("The labels are {}, the scores {}.",
                                            files[at].filename().string(),
                                            files[1 - at].filename().string()));
  turn_distances(result, {files[1 - at].filename().string()});
  return result;
}

ScoredList read_genuine_impostor(Paths given) {
  std::vector<fs::path> files(given.begin(), given.end());
  const bool exchanged = are_exchanged(given);
  if (exchanged) std::swap(files[0], files[1]);
  const bool named = class_of_file(files[0]) == 1 && class_of_file(files[1]) == 0;
  std::vector<double> scores[2];
  std::vector<TrialList> lists;
  Blemishes blemishes(files[0].parent_path());
  for (const std::size_t k : {0, 1}) {
    const char* role = k == 0 ? "genuine" : "impostor";
    if (holds_vector(files[k])) {
      scores[k] = score_vector(files[k]);
      check_finite(scores[k], files[k]);
      lists.push_back(score_list(files[k], role));
      continue;
    }
    const ListFile file(files[k], role, blemishes);
    for (const auto& [line, words] : rows_of(file))
      scores[k].push_back(parse_double(words.back(), file.place(line), "the score"));
    lists.push_back(file.list());
  }
  ScoredList result = nameless_scores(scores[0], scores[1], std::move(lists));
  result.trials.blemishes = blemishes.kinds();
  const bool alike = files[0].filename() == files[1].filename();
  const auto called = [&](const fs::path& path) {
    const fs::path file = path.filename();
    return (alike ? fs::absolute(path).parent_path().filename() / file : file).string();
  };
  result.trials.notes.push_back(
      fmt::format("{} genuine scores are from {} and {} impostor scores from {}{}.",
                  scores[0].size(), called(files[0]), scores[1].size(), called(files[1]),
                  exchanged ? ": their names say it, in the other order than they were given"
                  : named   ? ""
                            : ": the file that is given first is taken as genuine"));
  // "dist" alone is a distribution as often.
  const auto says = [](const fs::path& path) {
    const std::string name = path.filename().string();
    return lower_ascii(name).find("distance") == std::string::npos ? std::string() : name;
  };
  turn_distances(result, {says(files[0]), says(files[1])});
  return result;
}

ScoredList read_columns(Paths files) {
  const ScoreTable table = score_table(files[0], true);
  std::vector<double> scores[2];
  const auto& names = table.columns();
  for (std::size_t column = 0; column < names.size(); ++column) {
    const auto kind = class_of_name(names[column]);
    if (!kind || !scores[*kind].empty())
      fail(table.name(),
           fmt::format("the columns are {}; one of genuine and one of impostor scores are expected",
                       fmt::join(names, ", ")),
           "Name them genuine and impostor.");
    for (std::size_t row = 0; row < table.rows(); ++row)
      if (!table.cell(row, column).empty()) scores[*kind].push_back(table.number(row, column));
  }
  ScoredList result = nameless_scores(scores[1], scores[0], {score_list(files[0], "scores")});
  note_decimal_commas(table, result.trials);
  turn_distances(result, {names[0], names[1]});
  return result;
}

ScoredList read_labelled(Paths files) { return read_labelled_scores(files[0], {}); }

ScoredList read_hdf5(Paths files) {
  const H5Reader file(files[0]);
  std::optional<std::string> of[2];
  const auto names = file.names();
  for (const std::string& name : names)
    if (const auto kind = class_of_name(name)) {
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
  ScoredList result = nameless_scores(numbers_of(file, *of[1]), numbers_of(file, *of[0]),
                                      {score_list(files[0], "scores")});
  turn_distances(result, {*of[1], *of[0]});
  return result;
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
  pairs.begin_track(kScoresTrack);
  for (const auto& [line, words] : rows_of(file)) {
    if (words.size() != columns)
      fail(file.where(line), fmt::format("has {} columns, {} are expected", words.size(), columns),
           "Write the file again.");
    const std::string claimed = nfc(words[0]), real = nfc(words[columns - 3]);
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

// A mask says who is who through its matches alone. A query or a target without one may be of the
// person of another; each is counted as a person of its own, which is said.
void note_unmatched(const BeeMatrix<std::uint8_t>& mask, bool itself, TrialSet& set) {
  std::vector<std::uint8_t> query(mask.rows, 0), target(mask.columns, 0);
  for (std::size_t k = 0; k < mask.entries.size(); ++k)
    if (mask.entries[k] == bee_match) query[k / mask.columns] = target[k % mask.columns] = 1;
  const auto alone = std::ranges::count(query, 0);
  const auto unsought = itself ? 0 : std::ranges::count(target, 0);
  if (alone + unsought == 0) return;
  set.notes.push_back(fmt::format(
      "{} of {} queries match no target, and {} of {} targets no query: the mask does not say who "
      "they are. Each is taken as a person of its own, so there may be fewer people than are "
      "counted, and intervals are too short where there are.",
      alone, mask.rows, unsought, mask.columns));
}

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
  // One set with itself; two sets of one name and size have others on the diagonal.
  bool itself = matrix.target == matrix.query && matrix.rows == matrix.columns;
  for (std::size_t k = 0; k < matrix.rows && itself; ++k)
    itself = mask.entries[k * mask.columns + k] != bee_non_match;
  for (std::size_t k = 0; k < matrix.rows && itself; ++k) connect(k, k);
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
  set.tracks.emplace_back(kScoresTrack, std::move(trials));
  set.lists = {score_list(files[0], "scores"), score_list(files[1], "mask")};
  set.notes.push_back(fmt::format(
      "{} says that it holds {}.", files[0].filename().string(),
      matrix.distances ? "distances (D2): their signs were turned" : "similarities (S2)"));
  note_unmatched(mask, itself, set);
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
  if (files.size() == 2)
    return are_scores_and_labels(files) ? "labelled_vectors" : "genuine_impostor";
  const fs::path& path = files.front();
  if (const std::string end = lower_ascii(path.extension().string());
      end == ".h5" || end == ".hdf5" || end == ".hdf")
    return "hdf5";
  Blemishes ignored(path.parent_path());
  const ListFile file(path, "scores", ignored);
  const auto rows = rows_of(file);
  if (rows.empty()) fail(path.string(), "holds no scores", "Write the file again.");
  const std::vector<std::string> first(rows.front().second.begin(), rows.front().second.end());
  const std::size_t words = first.size();
  const auto header = named_score_columns(first);
  if ((words == 4 || words == 5) && !header) {
    const auto same_size = [&](const auto& row) { return row.second.size() == words; };
    // In bob's files a claimed and a real identity, which somewhere are the same.
    const bool bob = std::ranges::any_of(rows, [&](const auto& row) {
      return same_size(row) && row.second[0] == row.second[words - 3];
    });
    const bool labelled = words == 4 && std::ranges::all_of(rows, same_size) &&
                          can_be_labelled_scores(score_table(path, false));
    if (bob && labelled)
      fail(path.string(),
           "can be labels and the names of what is compared, or bob's four columns, in which they "
           "are people",
           "Say which: form labelled or bob4 (--form).");
    if (!labelled) return words == 4 ? "bob4" : "bob5";
    return "labelled";
  }
  const CsvTable table = score_table(path, true);
  const auto& names = table.columns();
  if (names.size() == 2 && class_of_name(names[0]) && class_of_name(names[1])) return "columns";
  if (names.size() == 2 || named_score_columns(names) ||
      can_be_labelled_scores(score_table(path, false)))
    return "labelled";
  std::string forms;
  for (const std::string& name : score_forms().names())
    forms += fmt::format("{}{} ({})", forms.empty() ? "" : "; ", name, score_forms().at(name).doc);
  fail(
      file.where(rows.front().first),
      fmt::format("is of none of the forms that say which scores are genuine: {}", forms),
      "Write it in one of them, name its columns (--columns first,second,score,label), or give the "
      "protocol's lists (root).");
}

// A file of one class is mostly a file of another form.
void check_classes(const TrialSet& set, const fs::path& path, const ScoreForm& form) {
  const TrialSize size = set.tracks.front().trials->size(set);
  if (size.genuine == 0 || size.genuine == size.comparisons)
    fail(path.string(),
         fmt::format("has {} genuine and {} impostor scores, read as '{}' ({})", size.genuine,
                     size.comparisons - size.genuine, form.name, form.doc),
         "Both are needed. Where it has another form, name it (facebench list score-forms).");
}

}  // namespace

ScoredList nameless_scores(const std::vector<double>& genuine, const std::vector<double>& impostor,
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
  set.tracks.emplace_back(kScoresTrack, std::move(trials));
  set.lists = std::move(lists);
  set.notes.emplace_back(kNoPeople);
  return result;
}

TrialList score_list(const fs::path& path, std::string role) {
  return {std::move(role), path, sha256_file(path), {}};
}

const Table<ScoreForm>& score_forms() {
  static const Table<ScoreForm> table(
      "form of score files",
      {{"genuine_impostor",
        "a file of genuine and a file of impostor scores, one a line, the last word of it, or "
        "one vector each (.npy, .h5)",
        "pyeer", 2, read_genuine_impostor},
       {"labelled_vectors", "a vector of scores and one of labels, 1 and 0 or 1 and -1 (.npy, .h5)",
        "numpy", 2, read_labelled_vectors},
       {"columns", "two columns under the headers genuine and impostor, one may be longer",
        "tables", 1, read_columns},
       {"labelled",
        "a label (1 and 0, 1 and -1, True and False, genuine and impostor), a score and, where "
        "there are any, two names in each line; in any order, under headers or without",
        "common", 1, read_labelled},
       {"bob4", "claimed identity, real identity, label of the probe, score in each line",
        "bob.measure, four_column", 1, read_bob4},
       {"bob5", "claimed identity, label of the model, real identity, label of the probe, score",
        "bob.measure, five_column", 1, read_bob5},
       {"hdf5",
        "two vectors whose names hold the words genuine and impostor, or mated and non-mated, "
        "target and nontarget, positives and negatives",
        "common", 1, read_hdf5},
       {"bee", "a matrix (.mtx) of similarities or distances and its mask (.mask)",
        "NIST's Biometric Evaluation Environment, OpenBR", 2, read_bee}});
  return table;
}

ScoredList read_scored_list(Paths files, std::string_view form,
                            std::span<const std::string> columns) {
  if (files.empty() || files.size() > 2)
    throw std::invalid_argument(
        fmt::format("{} score files; one or two are expected", files.size()));
  const bool named = !form.empty();
  const std::string name = named              ? std::string(form)
                           : !columns.empty() ? "labelled"
                                              : form_of(files);
  const ScoreForm& read = score_forms().at(name);
  if (read.files != files.size())
    throw std::invalid_argument(fmt::format("{} score files; the form '{}' has {}: {}",
                                            files.size(), read.name, read.files, read.doc));
  if (!columns.empty() && read.name != "labelled")
    throw std::invalid_argument(
        fmt::format("columns go with the form 'labelled', not with '{}'", read.name));
  ScoredList result = columns.empty() ? read.read(files) : read_labelled_scores(files[0], columns);
  check_classes(result.trials, files[0], read);
  if (!named && read.name.starts_with("bob"))
    result.trials.notes.push_back(
        fmt::format("{} is read as '{}': {}.", files[0].filename().string(), read.name, read.doc));
  result.trials.check();
  return result;
}

}  // namespace facebench

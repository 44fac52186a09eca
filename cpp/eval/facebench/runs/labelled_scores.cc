// Rows of a label and a score, and of two names where there are any.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/lists/internal/class_words.h"
#include "facebench/lists/internal/pair_collector.h"
#include "facebench/runs/internal/score_lists.h"
#include "facebench/runs/score_columns.h"

namespace facebench {
namespace {

constexpr const char* kLabels =
    "Labels are 1 and 0, 1 and -1, True and False, genuine and impostor, or same and different.";

using Columns = std::vector<std::size_t>;

// Without the blanks around it, as behind "a, b".
std::string_view cell(const CsvTable& table, std::size_t row, std::size_t column) {
  return trim(table.cell(row, column));
}

// What the columns of a table hold.
struct Contents {
  Columns labels, scores, others;  // those that can be labels; numbers that cannot; the rest
};

Contents contents_of(const CsvTable& table, std::size_t begin) {
  Contents contents;
  Columns whole;  // whole numbers: names, where another column has fractions
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    bool labels = true, numbers = true, fractions = false;
    for (std::size_t row = begin; row < table.rows() && (labels || numbers); ++row) {
      const std::string_view text = cell(table, row, column);
      labels = labels && class_of_label(text).has_value();
      numbers = numbers && number_of(text).has_value();
      fractions = fractions || text.find_first_of(".eE") != std::string::npos;
    }
    (labels                 ? contents.labels
     : numbers && fractions ? contents.scores
     : numbers              ? whole
                            : contents.others)
        .push_back(column);
  }
  Columns& to = contents.scores.empty() ? contents.scores : contents.others;
  to.insert(to.end(), whole.begin(), whole.end());
  std::ranges::sort(contents.others);
  return contents;
}

// A first row without any number is a header: each of the others has a score.
bool has_header(const CsvTable& table) {
  for (std::size_t column = 0; column < table.columns().size(); ++column)
    if (number_of(cell(table, 0, column))) return false;
  return true;
}

std::optional<ScoreColumns> by_content(const CsvTable& table, std::size_t begin) {
  const Contents contents = contents_of(table, begin);
  if (contents.labels.size() != 1 || contents.scores.size() != 1 ||
      (!contents.others.empty() && contents.others.size() != 2))
    return {};
  ScoreColumns columns{contents.scores[0], contents.labels[0], {}, {}};
  if (!contents.others.empty()) {
    columns.first = contents.others[0];
    columns.second = contents.others[1];
  }
  return columns;
}

[[noreturn]] void refuse(const CsvTable& table, const std::vector<std::string>& header,
                         std::size_t begin) {
  const std::string_view labels = contents_of(table, begin).labels.size() > 1
                                      ? "both columns can be the labels"
                                      : "no column has labels alone";
  fail(table.name(),
       header.empty() ? fmt::format("{} columns: {}", table.columns().size(), labels)
                      : fmt::format("its columns are {}: {}", fmt::join(header, ", "), labels),
       fmt::format("A score and a label are expected, and two names where there are any, under "
                   "headers such as img1,img2,score,label. {} Columns with other headers are "
                   "named: columns (--columns first,second,score,label).",
                   kLabels));
}

// The columns that the caller names.
ScoreColumns asked_for(const CsvTable& table, const std::vector<std::string>& header,
                       std::span<const std::string> names) {
  const auto at = [&](const std::string& name) {
    const auto found = std::ranges::find(header, name);
    if (found == header.end())
      fail(table.name(),
           fmt::format("has no column '{}'; it has {}", name, fmt::join(header, ", ")),
           "Name columns of its first line.");
    return static_cast<std::size_t>(found - header.begin());
  };
  if (names.size() != 3 && names.size() != 4)
    fail(table.name(), fmt::format("{} columns are named", names.size()),
         "Name both names, the score and, where it is not called so, the label.");
  ScoreColumns columns{at(names[2]), {}, at(names[0]), at(names[1])};
  if (names.size() == 4) {
    columns.label = at(names[3]);
    return columns;
  }
  // The label by its header, whatever the score is called.
  std::vector<std::string> renamed = header;
  renamed[columns.score] = "score";
  columns.label = named_score_columns(renamed)->label;
  if (!columns.label) refuse(table, header, 1);
  return columns;
}

// A name as a path of a list.
std::string path_of(const std::string& name) {
  const std::string path = compared_name(name);
  return path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

// `of_impostors`: the header says that 1 or True is an impostor comparison.
int label_at(const CsvTable& table, std::size_t row, std::size_t column, bool of_impostors) {
  const auto label = class_of_label(cell(table, row, column));
  if (!label)
    fail(at_line(table.name(), table.place(row).line),
         fmt::format("the label '{}' is neither genuine nor impostor",
                     printable(cell(table, row, column))),
         kLabels);
  return of_impostors && !class_of_name(cell(table, row, column)) ? 1 - *label : *label;
}

[[noreturn]] void refuse_second_header(const CsvTable& table, std::size_t row) {
  fail(at_line(table.name(), table.place(row).line), "the line of headers is there once more",
       "Take it out: tables that were put one behind the other have one each.");
}

// What to do about a score that is not written as a number.
std::string advice_of(std::string_view text) {
  if (text.empty()) return "Leave out rows without a score.";
  if (text.find(',') != std::string_view::npos)
    return "Write numbers with a point and without separators: 0.5 for 0,5 and 1234 for 1,234.";
  if (text.ends_with('%')) return "Write it without the sign.";
  return "Every comparison needs a finite number, higher or lower the more alike.";
}

// Pairs that are there with scores that differ: which one counts is not known, so every row does.
class RepeatedScores {
 public:
  void add(std::string first, std::string second, double score, std::int64_t line) {
    if (second < first) std::swap(first, second);
    const auto [at, fresh] = first_of_.try_emplace(std::hash<std::string>()(first + '\n' + second),
                                                   std::pair(score, line));
    if (fresh || at->second.first == score) return;
    if (count_++ == 0)
      example_ = fmt::format("{} and {} in the lines {} and {}", printable(first),
                             printable(second), at->second.second, line);
  }
  // A sentence, or nothing.
  std::string said() const {
    if (count_ == 0) return {};
    return fmt::format(
        "{} row{} give{} a pair another score than a row before, the first {}: each counts. Keep "
        "one row a pair.",
        count_, count_ == 1 ? "" : "s", count_ == 1 ? "s" : "", example_);
  }

 private:
  // By a hash of both names: the files hold millions.
  std::unordered_map<std::size_t, std::pair<double, std::int64_t>> first_of_;
  std::int64_t count_ = 0;
  std::string example_;
};

// Both 0 and -1 beside 1: one of the three would not be a class.
void check_labels(const CsvTable& table, std::size_t begin, std::size_t column) {
  std::set<double> numbers;
  for (std::size_t row = begin; row < table.rows(); ++row)
    if (const auto number = number_of(cell(table, row, column))) numbers.insert(*number);
  if (numbers.contains(0) && numbers.contains(-1))
    fail(table.name(), "its labels are both 0 and -1", "An impostor comparison has one of them.");
}

std::string what_was_read(const CsvTable& table, const std::vector<std::string>& header,
                          const ScoreColumns& columns, bool of_impostors, bool distances) {
  const auto name = [&](std::size_t column) {
    return header.empty() ? fmt::format("column {}", column + 1)
                          : fmt::format("column '{}'", printable(header[column]));
  };
  std::string text = fmt::format("{}: the label is {}, the score {}",
                                 std::filesystem::path(table.name()).filename().string(),
                                 name(*columns.label), name(columns.score));
  if (columns.first)
    text += fmt::format(", the names {} and {}", name(*columns.first), name(*columns.second));
  text += ".";
  if (of_impostors)
    text += fmt::format(" By its header {} says what is an impostor comparison: 0 is genuine.",
                        name(*columns.label));
  if (distances)
    text += fmt::format(" By its header {} holds distances: their signs were turned.",
                        name(columns.score));
  return text;
}

}  // namespace

bool can_be_labelled_scores(const CsvTable& rows) {
  if (rows.rows() == 0) return false;
  const std::size_t begin = has_header(rows) ? 1 : 0;
  const auto columns = by_content(rows, begin);
  if (!columns) return false;
  bool seen[2] = {false, false};
  for (std::size_t row = begin; row < rows.rows(); ++row)
    seen[*class_of_label(cell(rows, row, *columns->label))] = true;
  return seen[0] && seen[1];
}

ScoredList read_labelled_scores(const std::filesystem::path& path,
                                std::span<const std::string> asked) {
  const ScoreTable table = score_table(path, false);
  if (table.rows() == 0) fail(table.name(), "holds no scores", "Write the file again.");
  std::vector<std::string> header;
  if (has_header(table) || !asked.empty())
    for (std::size_t column = 0; column < table.columns().size(); ++column)
      header.emplace_back(cell(table, 0, column));
  const std::size_t begin = header.empty() ? 0 : 1;
  std::optional<ScoreColumns> columns;
  if (!asked.empty())
    columns = asked_for(table, header, asked);
  else if (!header.empty())
    columns = named_score_columns(header);
  if (!columns || !columns->label) columns = by_content(table, begin);
  if (columns && !header.empty() && asked.empty() && names_a_decision(header[*columns->label]))
    fail(table.name(),
         fmt::format("its column '{}' is what a system decided, and no other says what is genuine",
                     printable(header[*columns->label])),
         "Add the truth as a column 'label', or name it (--columns first,second,score,label).");
  if (!columns) refuse(table, header, begin);
  check_labels(table, begin, *columns->label);
  // "genuine" and "impostor" in the cells say it themselves.
  const bool of_impostors = !header.empty() && class_of_name(header[*columns->label]) == 0 &&
                            begin < table.rows() &&
                            !class_of_name(cell(table, begin, *columns->label));
  const bool distances = !header.empty() && names_distances(header[columns->score]);
  const auto score_at = [&](std::size_t row) -> double {
    const std::string_view text = cell(table, row, columns->score);
    if (!header.empty() && text == header[columns->score]) refuse_second_header(table, row);
    if (const auto number = number_of(text)) return distances ? -*number : *number;
    fail(at_line(table.name(), table.place(row).line),
         fmt::format("the score must be a number, got '{}'", printable(text)), advice_of(text));
  };

  ScoredList result;
  if (!columns->first) {
    std::vector<double> scores[2];
    for (std::size_t row = begin; row < table.rows(); ++row)
      scores[label_at(table, row, *columns->label, of_impostors)].push_back(score_at(row));
    result = nameless_scores(scores[1], scores[0], {score_list(path, "scores")});
  } else {
    Blemishes blemishes(path.parent_path());
    PairCollector pairs(
        [&](PairCollector::Position row) {
          return ListPlace{table.name(), table.place(static_cast<std::size_t>(row)).line, ""};
        },
        blemishes);
    pairs.begin_track(kScoresTrack);
    RepeatedScores repeated;
    for (std::size_t row = begin; row < table.rows(); ++row) {
      const std::string first = path_of(table.cell(row, *columns->first)),
                        second = path_of(table.cell(row, *columns->second));
      const double score = score_at(row);
      repeated.add(first, second, score, table.place(row).line);
      pairs.add(first, second, label_at(table, row, *columns->label, of_impostors) == 1, -1,
                static_cast<PairCollector::Position>(row));
      result.scores.push_back(score);
    }
    result.trials = pairs.finish(identity_rules().at("genuine"));
    result.trials.lists.push_back(score_list(path, "scores"));
    result.trials.blemishes = blemishes.kinds();
    if (std::string said = repeated.said(); !said.empty())
      result.trials.notes.push_back(std::move(said));
  }
  result.turned = distances;
  note_decimal_commas(table, result.trials);
  result.trials.notes.push_back(what_was_read(table, header, *columns, of_impostors, distances));
  return result;
}

}  // namespace facebench

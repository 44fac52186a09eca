// Rows of a label and a score, and of two names where there are any.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/protocols/internal/score_lists.h"
#include "facebench/protocols/readers/class_words.h"
#include "facebench/protocols/readers/pair_collector.h"
#include "facebench/protocols/score_columns.h"

namespace facebench {
namespace {

constexpr const char* kLabels =
    "Labels are 1 and 0, 1 and -1, True and False, genuine and impostor, or same and different.";

using Columns = std::vector<std::size_t>;

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
      const std::string& cell = table.cell(row, column);
      labels = labels && class_of_label(cell).has_value();
      numbers = numbers && number_of(cell).has_value();
      fractions = fractions || cell.find_first_of(".eE") != std::string::npos;
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
    if (number_of(table.cell(0, column))) return false;
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
std::string path_of(std::string name) {
  std::ranges::replace(name, '\\', '/');
  return name.substr(std::min(name.find_first_not_of('/'), name.size()));
}

int label_at(const CsvTable& table, std::size_t row, std::size_t column) {
  const auto label = class_of_label(table.cell(row, column));
  if (!label)
    fail(at_line(table.name(), table.place(row).line),
         fmt::format("the label '{}' is neither genuine nor impostor",
                     printable(table.cell(row, column))),
         kLabels);
  return *label;
}

// Both 0 and -1 beside 1: one of the three would not be a class.
void check_labels(const CsvTable& table, std::size_t begin, std::size_t column) {
  std::set<double> numbers;
  for (std::size_t row = begin; row < table.rows(); ++row)
    if (const auto number = number_of(table.cell(row, column))) numbers.insert(*number);
  if (numbers.contains(0) && numbers.contains(-1))
    fail(table.name(), "its labels are both 0 and -1", "An impostor comparison has one of them.");
}

std::string what_was_read(const CsvTable& table, const std::vector<std::string>& header,
                          const ScoreColumns& columns) {
  const auto name = [&](std::size_t column) {
    return header.empty() ? fmt::format("column {}", column + 1)
                          : fmt::format("column '{}'", printable(header[column]));
  };
  std::string text = fmt::format("{}: the label is {}, the score {}",
                                 std::filesystem::path(table.name()).filename().string(),
                                 name(*columns.label), name(columns.score));
  if (columns.first)
    text += fmt::format(", the names {} and {}", name(*columns.first), name(*columns.second));
  return text + ".";
}

}  // namespace

bool can_be_labelled_scores(const CsvTable& rows) {
  if (rows.rows() == 0) return false;
  const std::size_t begin = has_header(rows) ? 1 : 0;
  const auto columns = by_content(rows, begin);
  if (!columns) return false;
  bool seen[2] = {false, false};
  for (std::size_t row = begin; row < rows.rows(); ++row)
    seen[*class_of_label(rows.cell(row, *columns->label))] = true;
  return seen[0] && seen[1];
}

ScoredList read_labelled_scores(const std::filesystem::path& path,
                                std::span<const std::string> asked) {
  const CsvTable table = score_table(path, false);
  if (table.rows() == 0) fail(table.name(), "holds no scores", "Write the file again.");
  std::vector<std::string> header;
  if (has_header(table) || !asked.empty())
    for (std::size_t column = 0; column < table.columns().size(); ++column)
      header.emplace_back(trim(table.cell(0, column)));
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
  const auto score_at = [&](std::size_t row) {
    return parse_double(table.cell(row, columns->score), table.place(row), "the score");
  };

  ScoredList result;
  if (!columns->first) {
    std::vector<double> scores[2];
    for (std::size_t row = begin; row < table.rows(); ++row)
      scores[label_at(table, row, *columns->label)].push_back(score_at(row));
    result = nameless_scores(scores[1], scores[0], {score_list(path, "scores")});
  } else {
    Blemishes blemishes(path.parent_path());
    PairCollector pairs(
        [&](PairCollector::Position row) {
          return ListPlace{table.name(), table.place(static_cast<std::size_t>(row)).line, ""};
        },
        blemishes);
    pairs.begin_track(kScoresTrack);
    for (std::size_t row = begin; row < table.rows(); ++row) {
      pairs.add(path_of(table.cell(row, *columns->first)),
                path_of(table.cell(row, *columns->second)),
                label_at(table, row, *columns->label) == 1, -1,
                static_cast<PairCollector::Position>(row));
      result.scores.push_back(score_at(row));
    }
    result.trials = pairs.finish(identity_rules().at("genuine"));
    result.trials.lists.push_back(score_list(path, "scores"));
    result.trials.blemishes = blemishes.kinds();
  }
  result.trials.notes.push_back(what_was_read(table, header, *columns));
  return result;
}

}  // namespace facebench

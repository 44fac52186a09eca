#include "facebench/trials/scores.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "facebench/io/hdf5.h"
#include "facebench/metrics/searches.h"
#include "facebench/trials/internal/columns.h"

namespace facebench {
namespace {

void write_tail(H5Writer& file, const std::string& group, const ScoreTail& tail, double far) {
  write_column(file, group + "far", std::vector<double>{far});
  write_compared(file, group + "tail/", tail);
  write_column(file, group + "tail/impostor_reach_and_count",
               std::vector<std::int64_t>{tail.impostor_reach, tail.impostor_count});
  write_column(file, group + "histogram/edge", tail.histogram.edges);
  write_column(file, group + "histogram/genuine", tail.histogram.genuine);
  write_column(file, group + "histogram/impostor", tail.histogram.impostor);
  write_column(file, group + "histogram/blur", std::vector<double>{tail.histogram_blur});
}

Scores read_tail(const H5Reader& file, const std::string& group) {
  const auto far = read_value<double>(file, group + "far");
  if (!(far > 0 && far <= 1))
    throw std::invalid_argument(group + ": the FAR of the tail does not lie in (0, 1]");
  ScoreTail tail;
  read_compared(file, group + "tail/", tail);
  const auto counts = file.read<std::int64_t>(group + "tail/impostor_reach_and_count", 1);
  tail.histogram.edges = file.read<double>(group + "histogram/edge", 1);
  tail.histogram.genuine = file.read<std::int64_t>(group + "histogram/genuine", 1);
  tail.histogram.impostor = file.read<std::int64_t>(group + "histogram/impostor", 1);
  if (counts.size() != 2) throw std::invalid_argument(group + "tail: the counts are damaged");
  tail.impostor_reach = counts[0];
  tail.impostor_count = counts[1];
  tail.histogram_blur = read_value<double>(file, group + "histogram/blur");
  check_tail(tail);
  return Scores::of_tail(std::move(tail), far);
}

void write_record(H5Writer& file, const std::string& group, const SearchRecord& r) {
  std::vector<double> score;
  std::vector<std::int64_t> probe;
  for (const SearchRecord::Impostor& i : r.impostors) {
    score.push_back(i.score);
    probe.push_back(i.probe);
  }
  write_column(file, group + "gallery", std::vector<std::int64_t>{r.gallery});
  write_column(file, group + "mated", r.is_mated);
  write_column(file, group + "score", r.score);
  write_column(file, group + "ahead", r.ahead);
  write_column(file, group + "tied", r.tied);
  write_column(file, group + "impostor", score);
  write_column(file, group + "impostor_probe", probe);
}

SearchRecord read_record(const H5Reader& file, const std::string& group) {
  SearchRecord r;
  r.is_mated = file.read<std::uint8_t>(group + "mated", 1);
  r.score = file.read<double>(group + "score", 1);
  r.ahead = file.read<std::int32_t>(group + "ahead", 1);
  r.tied = file.read<std::int32_t>(group + "tied", 1);
  const auto score = file.read<double>(group + "impostor", 1);
  const auto probe = file.read<std::int64_t>(group + "impostor_probe", 1);
  if (probe.size() != score.size())
    throw std::invalid_argument(group + ": the columns are damaged");
  r.gallery = read_value<std::int64_t>(file, group + "gallery");
  for (std::size_t i = 0; i < score.size(); ++i) {
    if (probe[i] < 0 || probe[i] >= static_cast<std::int64_t>(r.score.size()))
      throw std::invalid_argument(group + ": an impostor score of no probe");
    r.impostors.push_back({score[i], static_cast<std::uint32_t>(probe[i])});
  }
  return Searches(std::move(r)).record();  // checks it
}

template <class T>
std::vector<T> read_single(const H5Reader& file, const std::string& group,
                           const std::vector<std::int64_t>& shape, const char* what = "score") {
  const std::string name = group + what;
  if (file.shape(name) != shape)
    throw std::invalid_argument(group + ": the scores have another shape than the trials");
  std::vector<T> scores = file.read<T>(name);
  for (std::size_t k = 0; k < scores.size(); ++k)
    if (!std::isfinite(scores[k]))
      throw std::invalid_argument(fmt::format("{}: score [{}] is not a finite number", group, k));
  return scores;
}

// What decides a number of two tails.
bool same_tail(const ScoreTail& a, const ScoreTail& b) {
  return a.genuine == b.genuine && a.impostor == b.impostor && a.genuine_row == b.genuine_row &&
         a.genuine_column == b.genuine_column && a.impostor_row == b.impostor_row &&
         a.impostor_column == b.impostor_column && a.impostor_count == b.impostor_count;
}

template <class T>
bool same(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a && b ? *a == *b : !a && !b;
}

}  // namespace

Scores Scores::of_tail(ScoreTail tail, double far) {
  Scores scores;
  scores.storage = {Storage::What::tail, far};
  scores.tail = std::make_shared<const ScoreTail>(std::move(tail));
  return scores;
}

Scores Scores::of_searches(SearchRecord all, std::optional<SearchRecord> enrolled) {
  Scores scores;
  scores.storage = {Storage::What::outcomes};
  scores.outcomes = std::make_shared<const SearchRecord>(std::move(all));
  if (enrolled) scores.enrolled_outcomes = std::make_shared<const SearchRecord>(*enrolled);
  return scores;
}

Scores Scores::of_folds(std::vector<double> score, std::vector<double> centred) {
  Scores scores(std::move(score));
  scores.storage = {Storage::What::centred};
  scores.centred = std::move(centred);
  return scores;
}

bool Scores::operator==(const Scores& other) const {
  return storage == other.storage && each == other.each && each_single == other.each_single &&
         centred == other.centred && same(tail, other.tail) && same(outcomes, other.outcomes) &&
         same(enrolled_outcomes, other.enrolled_outcomes);
}

ScoreDifferences Scores::differences(const Scores& other) const {
  if (tail)
    return {static_cast<std::int64_t>(tail->genuine.size() + tail->impostor.size()),
            other.tail && same_tail(*tail, *other.tail) ? 0 : 1};
  if (outcomes) return {static_cast<std::int64_t>(outcomes->score.size()), *this == other ? 0 : 1};
  if (!centred.empty() && !other.centred.empty()) return {count(), *this == other ? 0 : 1};
  ScoreDifferences differences{count(), 0};
  if (other.count() != differences.all) return {differences.all, differences.all};
  for (std::int64_t k = 0; k < differences.all; ++k) differences.different += at(k) != other.at(k);
  return differences;
}

void Scores::save(H5Writer& file, const std::string& group,
                  const std::vector<std::int64_t>& shape) const {
  if (tail) return write_tail(file, group, *tail, storage.far);
  if (outcomes) {
    write_record(file, group + "outcome/", *outcomes);
    if (enrolled_outcomes) write_record(file, group + "outcome_enrolled/", *enrolled_outcomes);
    return;
  }
  if (!each_single.empty())
    file.write<float>(group + "score", each_single, shape);
  else
    file.write<double>(group + "score", each, shape);
  if (!centred.empty())
    file.write<double>(group + "centred_score", centred,
                       {static_cast<std::int64_t>(centred.size() / each.size()),
                        static_cast<std::int64_t>(each.size())});
}

Scores Scores::load(const H5Reader& file, const std::string& group,
                    const std::vector<std::int64_t>& shape, bool single) {
  if (file.has(group + "tail")) return read_tail(file, group);
  if (file.has(group + "outcome")) {
    SearchRecord all = read_record(file, group + "outcome/");
    if (static_cast<std::int64_t>(all.score.size()) != shape.front())
      throw std::invalid_argument(group + ": not one outcome for each probe");
    std::optional<SearchRecord> enrolled;
    if (file.has(group + "outcome_enrolled"))
      enrolled = read_record(file, group + "outcome_enrolled/");
    return of_searches(std::move(all), std::move(enrolled));
  }
  if (single) return read_single<float>(file, group, shape);
  std::vector<double> scores = read_single<double>(file, group, shape);
  if (!file.has(group + "centred_score")) return scores;
  const std::vector<std::int64_t> of_folds_shape = {file.shape(group + "centred_score").front(),
                                                    shape.front()};
  return of_folds(std::move(scores),
                  read_single<double>(file, group, of_folds_shape, "centred_score"));
}

}  // namespace facebench

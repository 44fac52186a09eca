#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace facebench {

class H5Reader;
class H5Writer;
struct ScoreTail;
struct SearchRecord;

// What is to be kept of the scores of a track.
struct Storage {
  enum class What : std::uint8_t {
    all,       // each score
    tail,      // every genuine score, the highest impostor scores, a histogram
    outcomes,  // of each search its outcome
    centred,   // each score of a list, and those of centred embeddings
  } what = What::all;
  double far = 1;  // of a tail: as many impostor scores as a FAR of so much needs
  bool operator==(const Storage&) const = default;
};

// How many of the scores that decide a number there are, and how many of them differ.
struct ScoreDifferences {
  std::int64_t all = 0, different = 0;
};

// What was kept of the scores of a track; `storage` says which of the others are filled.
struct Scores {
  Scores() = default;
  Scores(std::vector<double> scores) : each(std::move(scores)) {}
  Scores(std::vector<float> scores) : each_single(std::move(scores)) {}
  static Scores of_tail(ScoreTail tail, double far);
  static Scores of_searches(SearchRecord all, std::optional<SearchRecord> enrolled);
  static Scores of_folds(std::vector<double> score, std::vector<double> centred);

  Storage storage;
  // Single scores are in the order and shape of the trials: double for the few of a list or a
  // matrix, float (the double cosine rounded once) for every unit of one set with every one of
  // another.
  std::vector<double> each;
  std::vector<float> each_single;
  // Of a list, the scores that each fold has when the mean of the others is subtracted from the
  // embeddings (centred_scores()): a row for each fold.
  std::vector<double> centred;
  std::shared_ptr<const ScoreTail> tail;
  // Every probe in the whole gallery, failed_score() where a side failed; and the searches that are
  // left without failed enrolments (searched_units.h), where there are any and any are left.
  std::shared_ptr<const SearchRecord> outcomes, enrolled_outcomes;

  // Whether each score is kept.
  bool all() const { return count() > 0; }
  // How many scores are kept one by one in the order of the trials; else 0.
  std::int64_t count() const { return static_cast<std::int64_t>(each.size() + each_single.size()); }
  double at(std::int64_t k) const {
    const auto n = static_cast<std::size_t>(k);
    return each.empty() ? each_single[n] : each[n];
  }
  bool operator==(const Scores& other) const;
  // What low precision counted below a tail is not looked at: it depends on the instruction set.
  ScoreDifferences differences(const Scores& other) const;

  // To and from the group "/tracks/NAME/" of scores.h5. `shape` and `single` are those of the
  // trials. Reading throws Error or std::invalid_argument for anything that was not written so.
  void save(H5Writer& file, const std::string& group, const std::vector<std::int64_t>& shape) const;
  static Scores load(const H5Reader& file, const std::string& group,
                     const std::vector<std::int64_t>& shape, bool single);
};

}  // namespace facebench

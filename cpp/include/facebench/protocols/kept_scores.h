#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "facebench/metrics/score_tail.h"
#include "facebench/metrics/searches.h"

namespace facebench {

class H5Reader;
class H5Writer;

// What is to be kept of the scores of a track.
struct Storage {
  enum class What : std::uint8_t {
    all,       // each score
    tail,      // every genuine score, the highest impostor scores, a histogram
    outcomes,  // of each search its outcome
    centred,   // each score of a list, and those of centred embeddings
  } what = What::all;
  double far = 1;  // of a tail: as many impostor scores as a FAR of so much needs
};

// The highest scores, and the FAR that they were kept for.
struct KeptTail {
  std::shared_ptr<const ScoreTail> tail;
  double far = 1;
  bool operator==(const KeptTail& other) const { return far == other.far && *tail == *other.tail; }
};

// What is kept of searches whose scores are too many.
struct KeptOutcomes {
  // Every probe in the whole gallery, failed_score() where a side failed; and the searches that are
  // left without failed enrolments (searched_units.h), where there are any and any are left.
  SearchRecord all;
  std::optional<SearchRecord> enrolled;
  bool operator==(const KeptOutcomes&) const = default;
};

// The scores of a list, and those that each fold has when the mean of the others is subtracted from
// the embeddings (CentredComparisons): a row for each fold.
struct KeptCentred {
  std::vector<double> score, centred;
  std::size_t size() const { return score.size(); }
  bool operator==(const KeptCentred&) const = default;
};

// What was kept of the scores of a track. Single scores are in the order and shape of the trials:
// double for the few of a list or a matrix, float (the double cosine rounded once) for every unit
// of one set with every one of another.
using KeptScores =
    std::variant<std::vector<double>, std::vector<float>, KeptTail, KeptOutcomes, KeptCentred>;

// The storage that gives such scores.
Storage storage_of(const KeptScores& scores);
// Whether each score is kept.
bool keeps_all(const KeptScores& scores);
// How many scores are kept one by one in the order of the trials; else 0.
std::int64_t score_count(const KeptScores& scores);
// The scores of a list, where they are.
std::span<const double> list_scores(const KeptScores& scores);
double score_at(const KeptScores& scores, std::int64_t k);

// How many of the scores that decide a number there are, and how many of them differ. What low
// precision counted below a tail is not looked at: it depends on the instruction set.
struct ScoreDifferences {
  std::int64_t all = 0, different = 0;
};
ScoreDifferences score_differences(const KeptScores& a, const KeptScores& b);

// To and from the group "/tracks/NAME/" of scores.h5. `shape` and `single` are those of the trials.
// Reading throws Error or std::invalid_argument for anything that was not written so.
void write_kept_scores(H5Writer& file, const std::string& group, const KeptScores& scores,
                       const std::vector<std::int64_t>& shape);
KeptScores read_kept_scores(const H5Reader& file, const std::string& group,
                            const std::vector<std::int64_t>& shape, bool single);

}  // namespace facebench

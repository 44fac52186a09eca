#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/registry.h"
#include "facebench/io/hdf5.h"
#include "facebench/metrics/dense_comparisons.h"
#include "facebench/metrics/score_tail.h"
#include "facebench/metrics/searches.h"
#include "facebench/protocols/scoring.h"
#include "facebench/protocols/trials.h"

namespace facebench {

struct EvaluationOptions;
struct ProtocolSpec;
struct TrackResult;

// What is kept of the searches of a track whose scores are too many.
struct SearchOutcomes {
  // Every probe in the whole gallery, failed_score() where a side failed; and the searches that are
  // left without failed enrolments (searched_units.h), where there are any and any are left.
  SearchRecord all;
  std::optional<SearchRecord> enrolled;
  bool operator==(const SearchOutcomes&) const = default;
};

// The raw scores of a track, in the order and shape of its kind: double for the few of a list or a
// matrix, float (the double cosine rounded once) for every unit of one set with every one of
// another, and what is kept of them where they are too many.
using TrackScores =
    std::variant<std::vector<double>, std::vector<float>, ScoreTail, SearchOutcomes>;
// Whether scores are kept one by one in the order of the track; how many, else 0.
bool keeps_scores(const TrackScores& scores);
std::int64_t score_count(const TrackScores& scores);
double score_at(const TrackScores& scores, std::int64_t k);

// What one track is measured from.
struct TrackData {
  const ProtocolSpec& spec;
  const EvaluationOptions& options;  // resolved
  const TrialSet& trials;
  std::span<const SampleStatus> status;  // per unit
  const Track& track;
  const TrackScores& scores;
};

struct TrackSize {
  std::int64_t comparisons = 0, genuine = 0;
};
TrackSize track_size(const Track& track, const TrialSet& trials);

// One alternative of Track::trials: everything that differs between the kinds. Scores have numbers
// k in [0, product of shape()).
struct TrackKind {
  std::string name;  // "listed", "dense", "matrix", "identification", "all_pairs"
  std::string doc;
  // Throws as TrialSet::check() says.
  void (*check)(const Track&, const TrialSet&) = nullptr;
  // The distinct units in order of first appearance.
  std::vector<std::int32_t> (*units)(const Track&) = nullptr;
  std::vector<std::int64_t> (*shape)(const Track&) = nullptr;
  // The units behind score k; no value where the two are not compared.
  std::optional<Comparison> (*sides)(const Track&, std::int64_t k) = nullptr;
  // Whether score k is of a genuine comparison; only for those that are compared.
  bool (*genuine)(const Track&, const TrialSet&, std::int64_t k) = nullptr;
  // How many are compared, and how many of them are genuine, without looking at each; null = each
  // has to be looked at.
  TrackSize (*size)(const Track&, const TrialSet&) = nullptr;
  bool single = false;  // scores are kept as float
  // Cosines; failed_score() where a side failed.
  TrackScores (*score)(const Track&, const UnitEmbeddings&, const Job&) = nullptr;
  // What the lists hold beside comparisons, genuine, impostor, samples and identities, which all
  // kinds have, by the names of ExpectedCounts: {"folds", 10}.
  std::vector<std::pair<std::string, std::int64_t>> (*more_counts)(const Track&,
                                                                   const TrialSet&) = nullptr;
  // Fills the counts of comparisons and the cells.
  void (*measure)(const TrackData&, TrackResult&, const Job&) = nullptr;
  // The trials, to and from the group "/tracks/NAME/" of scores.h5 (scores not among them).
  void (*write)(H5Writer&, const std::string& group, const Track&) = nullptr;
  void (*read)(const H5Reader&, const std::string& group, Track&) = nullptr;
};

// In the order of the alternatives of Track::trials.
const Table<TrackKind>& track_kinds();
const TrackKind& kind_of(const Track& track);

// The comparisons of a track with their scores, in order; with `drop` without those with a failed
// side. What a ROC curve is made of.
struct LabelledScores {
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
};
LabelledScores labelled_scores(const Track& track, const TrialSet& trials,
                               std::span<const SampleStatus> unit_status, const TrackScores& scores,
                               bool drop);

// The same of a dense track, with a fraction of the memory. Throws std::invalid_argument where a
// class is empty.
DenseComparisons dense_comparisons(const Track& track, const TrialSet& trials,
                                   std::span<const SampleStatus> unit_status,
                                   const TrackScores& scores, bool drop, const Job& job = {});

}  // namespace facebench

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "facebench/claims/published.h"
#include "facebench/io/json.h"
#include "facebench/runs/table.h"

namespace facebench {

// Numbers of runs beside the numbers that a paper printed.
//
// A printed value is compared with a run's number if both have the same protocol, track, metric and
// matrix entry, under the official lists, and the same conditions: those that define a system
// (network, loss, training set), how it was trained (recipe) and how its images were
// prepared (detector, crop, flip, fusion), as far as the paper states them. A run's manifest says
// what the embeddings were computed with, if that was here, and what the model's file says of its
// training; the rest is stated by the caller
// ("loss" of all runs, "TITLE:loss" of those of that title), and shown as such. What is stated and
// contradicts a record is refused; a training set and a training, which are recorded by names of
// files, may be called otherwise, unless the publication knows the recorded name. A condition that
// is not known of the run does not match. All other values are listed separately: the same metric
// for other systems, with what differs, and what the runs do not measure.
struct AgainstMatch {
  std::size_t row = 0, column = 0;   // of the table
  PublishedValue published;          // points into the publication
  std::vector<std::string> differs;  // what is known to differ, a text each
  std::vector<std::string> unknown;  // conditions that the paper states and nothing says of the run
  // Others that the paper states (framework, device): they narrow the choice where they are known.
  std::vector<std::string> unchecked;
  double difference = 0;  // ours less the printed one, in the printed unit
  // The printed value, plus or minus half of its last digit: "inside" our interval, "above" or
  // "below" it; "" where the cell has no interval or no number.
  std::string lies;

  bool same() const { return differs.empty() && unknown.empty(); }
};

// How what is known of a condition differs from what was printed ("loss is softmax, not arcface");
// "" where both mean the same: a fusion is its switches, an engine is its framework, "cuda" is any
// card. What facebench trained by the defaults of a framework is an imitation of it.
std::string condition_difference(const std::string& name, const std::string& recorded,
                                 const std::string& published);

struct Against {
  std::shared_ptr<const Publication> publication;
  ReportTable table;
  Conditions stated;                  // by the caller
  std::vector<AgainstMatch> matches;  // in the order of the table's rows
  std::vector<PublishedValue> not_measured;

  // The values of other systems as numbers of `matches`: those that differ in the fewest known
  // conditions first, and of these the ones nearest to the run's number.
  std::vector<std::size_t> others() const;
};

// Titles as for make_table(). Throws std::invalid_argument for unknown names of conditions or
// titles (did you mean), and where the caller states what contradicts a manifest.
Against compare_with_published(std::span<const Run> runs,
                               std::shared_ptr<const Publication> publication,
                               const Conditions& stated = {}, std::vector<std::string> titles = {});

// {"publication", "citation", "stated", "same": [...], "other_systems": [...], "not_measured":
// [...], "notes"}: each entry the published value as published_value_json() has it, and the run's
// number beside it.
Json against_json(const Against& against);

}  // namespace facebench

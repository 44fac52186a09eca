#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/datasets/dataset.h"
#include "facebench/io/embeddings.h"
#include "facebench/io/json.h"

namespace facebench {

// People and images that a training set shares with a test set, by name and by similarity.

// One of the two sets: images of named people, and embeddings where there are any.
struct OverlapSide {
  std::string name;  // for texts
  std::vector<std::string> people, samples;
  std::vector<std::int32_t> labels;  // of each sample, an index into people
  // If `people` are identifiers: the names by which people are compared. Empty: `people` are names.
  std::vector<std::string> names;
  // One a sample; rows of other statuses than ok are not compared. No rows: names alone.
  EmbeddingSet embeddings;
};

// A pack, a folder with one folder for each person, an archive, or embeddings alone, whose samples
// belong to the person their folder is named after ("Jane_Doe/Jane_Doe_0001.jpg"). `embeddings` may
// add those of a pack or folder; they are found by sample id. Throws Error where the file is none
// of these, and where no sample has an embedding.
OverlapSide read_overlap_side(const std::filesystem::path& path,
                              const std::filesystem::path& embeddings = {});

struct OverlapOptions {
  bool names = true;
  bool similarity = true;
  std::optional<double> threshold;
  double false_alarms = 1;

  static void describe(OptionsBuilder<OverlapOptions>& o);
};

// A person of the training set who seems to be a person of the test set.
struct OverlapEntry {
  std::int32_t person = 0, match = 0;  // indices into the people of the two sides
  std::string rule;                    // of the names (match_names), "" where they do not match
  std::int64_t images = 0;             // of the person in the training set
  std::int64_t similar_pairs = 0;      // of images at or above the threshold
  // The two most alike images of them; -1 and NaN where there are no embeddings of both.
  std::int64_t sample = -1, match_sample = -1;
  double score = 0;
};

struct OverlapReport {
  OverlapSide train, test;  // without the values of their embeddings
  OverlapOptions options;
  std::vector<OverlapEntry> entries;  // by person, then the most alike first
  // Names that are identifiers, so that they were not compared.
  std::int64_t train_unnamed = 0, test_unnamed = 0;
  bool compared_images = false;
  double threshold = 0;
  std::string threshold_reason;

  // Indices of the training people who are in `entries`, ascending, and the number of their images.
  std::vector<std::int32_t> dropped_people() const;
  std::int64_t dropped_images() const;
};

// Takes the names of people who are identifiers from a table, {identifier: name}; others keep
// theirs. Throws Error where nobody of the set is in the table.
void name_people(OverlapSide& side, const std::map<std::string, std::string>& table);

// Compares all names with all names, and all images with all images (similar_pairs). A threshold is
// chosen on the test set, because its labels are usually cleaner: such that `false_alarms` of the
// compared pairs reach it by chance, at the rate seen between different people of the test set. If
// the test set has too few pairs to measure such a low rate, the threshold is their highest score,
// and the reason gives an upper bound of the rate (rule of three). Throws std::invalid_argument for
// wrong options, other dimensions, and where no threshold can be chosen; Error as similar_pairs()
// does. The same result for any number of threads.
OverlapReport find_overlap(OverlapSide train, OverlapSide test, const OverlapOptions& options = {},
                           const Job& job = {});

// The audit list: one line or object an entry, with what would be dropped and why.
std::string overlap_csv(const OverlapReport& report);
Json overlap_json(const OverlapReport& report);
// The list for exclude(): every person in `entries`.
std::string overlap_exclusion(const OverlapReport& report);

}  // namespace facebench

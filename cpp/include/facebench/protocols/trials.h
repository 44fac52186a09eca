#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace facebench {

// What is compared is a *unit*: a sample by itself where the set has no templates, else a template,
// i.e. several samples of one person, grouped by medium (photograph, video), fused into one
// embedding.

// Two units that are compared; indices of units.
struct Comparison {
  std::int32_t first = 0;
  std::int32_t second = 0;
};

// Template t holds the samples sample[begin[t]] to sample[begin[t + 1] - 1]. Those of one medium
// have the same number there; the numbers mean nothing outside the template.
struct Templates {
  std::vector<std::string> names;
  std::vector<std::int32_t> identity;  // per template, index into TrialSet::identity_names
  std::vector<std::int64_t> begin = {0};
  std::vector<std::int32_t> sample;  // index into TrialSet::names
  std::vector<std::int32_t> medium;

  std::size_t size() const { return names.size(); }
  // Appends a template without samples; the samples added next are its own.
  void add(std::string name, std::int32_t person);
  void add_sample(std::int32_t index, std::int32_t of_medium);
};

// A list of comparisons. All vectors have one entry a comparison, in the order of the list; `fold`
// (0-based) is empty where the list has no folds.
struct ListedTrials {
  std::vector<Comparison> comparisons;
  std::vector<std::uint8_t> genuine;  // 1 genuine, 0 impostor
  std::vector<std::int32_t> fold;

  std::int64_t fold_count() const;
};

// Every row unit with every column unit.
struct DenseTrials {
  enum Mask : std::uint8_t { not_compared = 0, is_genuine = 1, is_impostor = 2 };
  std::vector<std::int32_t> rows, columns;  // units
  // rows == columns: each unordered pair once (column after row), nothing with itself.
  bool triangle = false;
  std::vector<std::uint8_t> mask;  // (rows, columns) of Mask; empty = by identity
};

// The same where the comparisons are too many to keep the score of each: every genuine score is
// kept, of the impostors the highest, as many as a FAR of `far` needs. By identity alone.
struct AllPairsTrials {
  std::vector<std::int32_t> rows, columns;  // units
  bool triangle = false;                    // as in DenseTrials
  double far = 1;
};

// Two templates of each group (pose, age) for each subject; the mean similarity of template 1 of
// group i with template 2 of group j is cell (i, j) of a matrix.
struct MatrixTrials {
  std::vector<std::string> groups;          // labels of rows and columns: "frontal", ...
  std::vector<std::int32_t> first, second;  // (subjects, groups), row-major: template 1 and 2

  std::int64_t subjects() const {
    return groups.empty() ? 0 : static_cast<std::int64_t>(first.size() / groups.size());
  }
};

// Probes are searched in a gallery. A probe whose identity is not in the gallery is non-mated.
struct IdentificationTrials {
  std::vector<std::int32_t> gallery, probes;  // units
  // The scores are too many to keep each: of every search its outcome is kept (SearchRecord).
  bool outcomes_only = false;
};

// What is measured by itself. The kinds are in one table, see track_kind.h.
struct Track {
  std::string name;
  std::variant<ListedTrials, DenseTrials, MatrixTrials, IdentificationTrials, AllPairsTrials>
      trials;
};

// A list file that was read, as it goes into the manifest.
struct TrialList {
  std::string role;  // what the reader calls it: "pairs"
  std::filesystem::path path;
  std::string sha256;
  std::vector<std::string> notes;  // what was tolerated: byte order mark, CRLF line ends
};

// Everything that the lists of a protocol say: the distinct samples (names are paths relative to
// the image folder), who is on each, and what is compared with what.
struct TrialSet {
  std::vector<std::string> names;
  std::vector<std::int32_t> identity;  // per sample, index into identity_names
  std::vector<std::string> identity_names;
  Templates templates;  // none: the samples are the units
  std::vector<Track> tracks;
  std::vector<TrialList> lists;
  std::vector<std::string> notes;  // about the lists together, one sentence each

  std::size_t units() const { return templates.size() ? templates.size() : names.size(); }
  const std::vector<std::int32_t>& unit_identities() const {
    return templates.size() ? templates.identity : identity;
  }
  std::int32_t unit_identity(std::int32_t unit) const {
    return unit_identities()[static_cast<std::size_t>(unit)];
  }
  const std::string& unit_name(std::int32_t unit) const {
    return (templates.size() ? templates.names : names)[static_cast<std::size_t>(unit)];
  }

  // Throws std::out_of_range for an index that points nowhere, std::invalid_argument for lengths
  // that disagree, a template without samples or with somebody else's, tracks without a name or
  // with the same one, and whatever its kind refuses in a track: a unit compared with itself, a
  // label that its identities contradict, a fold number below 0. Readers call it last; sets made by
  // hand should too.
  void check() const;
};

// Collects samples and identities in order of first appearance.
class TrialSetBuilder {
 public:
  explicit TrialSetBuilder(TrialSet& set) : set_(set) {}
  // Index of the sample; throws std::invalid_argument where the name was added with another
  // identity.
  std::int32_t sample(const std::string& name, const std::string& identity);
  // Index of the identity.
  std::int32_t person(const std::string& identity);

 private:
  TrialSet& set_;
  std::unordered_map<std::string, std::int32_t> samples_;
  std::unordered_map<std::string, std::int32_t> identities_;
};

}  // namespace facebench

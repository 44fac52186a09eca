#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

namespace facebench {

// Two samples that are compared; indices into TrialSet::names.
struct Comparison {
  std::int32_t first = 0;
  std::int32_t second = 0;
};

// One list of comparisons that is measured by itself. All vectors have one entry a comparison, in
// the order of the list; `fold` (0-based) is empty where the list has no folds.
struct Track {
  std::string name;
  std::vector<Comparison> comparisons;
  std::vector<std::uint8_t> genuine;  // 1 genuine, 0 impostor
  std::vector<std::int32_t> fold;

  std::int64_t fold_count() const;
  std::int64_t genuine_count() const;
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
  std::vector<Track> tracks;
  std::vector<TrialList> lists;

  // Throws std::out_of_range for an index that points nowhere, std::invalid_argument for lengths
  // that disagree, for a comparison of a sample with itself, for a label that its identities
  // contradict and for a fold number below 0. Readers call it last; sets made by hand should too.
  void check() const;
};

// Collects samples and identities in order of first appearance.
class TrialSetBuilder {
 public:
  explicit TrialSetBuilder(TrialSet& set) : set_(set) {}
  // Index of the sample; throws std::invalid_argument where the name was added with another
  // identity.
  std::int32_t sample(const std::string& name, const std::string& identity);

 private:
  TrialSet& set_;
  std::unordered_map<std::string, std::int32_t> samples_;
  std::unordered_map<std::string, std::int32_t> identities_;
};

}  // namespace facebench

#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/registry.h"
#include "facebench/trials/blemishes.h"
#include "facebench/trials/scores.h"

namespace facebench {

class H5Reader;
class H5Writer;
class ListedTrials;
struct Measurable;
struct ProtocolSpec;
struct ScoredTrack;
struct TrialSet;
struct UnitEmbeddings;

// What is compared is a *unit*: a sample by itself where the set has no templates, else a template,
// i.e. several samples of one person, grouped by medium (photograph, video), fused into one
// embedding.

// Two units that are compared; indices of units.
struct Comparison {
  std::int32_t first = 0;
  std::int32_t second = 0;
};

// Template t holds the samples sample[begin[t]] to sample[begin[t + 1] - 1]. Samples of one medium
// have the same number there; the numbers are only meaningful within the template.
struct Templates {
  std::vector<std::string> names;
  std::vector<std::int32_t> identity;  // per template, index into TrialSet::identity_names
  std::vector<std::int64_t> begin = {0};
  std::vector<std::int32_t> sample;  // index into TrialSet::names
  std::vector<std::int32_t> medium;
  // The score of the face's detection, >= 0, per sample of a template; empty where the lists give
  // none. What fusions by detector score weight with.
  std::vector<float> score;

  std::size_t size() const { return names.size(); }
  // Appends a template without samples; the samples added next are its own.
  void add(std::string name, std::int32_t person);
  void add_sample(std::int32_t index, std::int32_t of_medium);
  void add_sample(std::int32_t index, std::int32_t of_medium, float detector_score);
};

// How many are compared, and how many of them are genuine.
struct TrialSize {
  std::int64_t comparisons = 0, genuine = 0;
};

// What is compared with what. Each kind is a class (listed_trials.h, dense_trials.h,
// matrix_trials.h, identification_trials.h); trial_kinds() is their table. Whoever measures, stores
// or reports asks the object and never its kind. How the scores are kept is decided elsewhere: see
// scores.h.
//
// Scores have numbers k in [0, product of shape()).
class Trials {
 public:
  virtual ~Trials() = default;

  virtual std::string_view kind() const = 0;  // "listed", as trial_kinds() says
  // Throws as TrialSet::check() says; `track` stands in the message.
  virtual void check(const TrialSet& set, const std::string& track) const = 0;
  // The distinct units in order of first appearance.
  virtual std::vector<std::int32_t> units() const = 0;
  virtual std::vector<std::int64_t> shape() const = 0;
  // The units behind score k; no value where the two are not compared.
  virtual std::optional<Comparison> comparison_at(std::int64_t k) const = 0;
  // Whether score k is of a genuine comparison; only for those that are compared.
  virtual bool genuine_at(const TrialSet& set, std::int64_t k) const;
  // Without comparisons of a unit that is left out (1 per unit; empty = none is).
  virtual TrialSize size(const TrialSet& set, std::span<const std::uint8_t> left_out = {}) const;
  // What the lists hold beside comparisons, genuine, impostor, samples and identities, which all
  // kinds have, by the names of ExpectedCounts: {"folds", 10}.
  virtual std::vector<std::pair<std::string, std::int64_t>> counts(const TrialSet& set) const = 0;
  // Whether these are the comparisons of `other`, in the same order; unit u is unit_of_other[u]
  // there, or -1.
  virtual bool same_as(const Trials& other, std::span<const std::int32_t> unit_of_other) const = 0;

  // Whether each score is accepted or refused by itself: a verification.
  virtual bool verification() const { return false; }
  // These, where they are a list of comparisons; else null.
  virtual const ListedTrials* list() const { return nullptr; }
  // Whether single scores are kept as float: there are many of them.
  virtual bool single() const { return false; }
  // How scores are kept where they are too many to keep each.
  virtual Storage::What storage_of_many() const { return Storage::What::all; }
  // Cosines; failed_score() where a side failed.
  virtual Scores score(const UnitEmbeddings& units, const Storage& storage,
                       const Job& job) const = 0;
  // What the scores can be measured as. The scores must live as long as the result.
  virtual Measurable measurable(const ScoredTrack& scored, const Job& job) const = 0;
  // The trials, to the group "/tracks/NAME/" of scores.h5 (scores not among them). The other way:
  // trial_kinds().
  virtual void write(H5Writer& file, const std::string& group) const = 0;

  // The number of scores.
  std::int64_t slots() const;
};

// A kind of trials as the file of scores knows it.
struct TrialKind {
  std::string name;
  std::string doc;
  // Throws Error or std::invalid_argument for a damaged group.
  std::shared_ptr<const Trials> (*read)(const H5Reader& file, const std::string& group) = nullptr;
};
const Table<TrialKind>& trial_kinds();

// What is measured by itself.
struct Track {
  std::string name;
  std::shared_ptr<const Trials> trials;

  Track() = default;
  Track(std::string name_, std::shared_ptr<const Trials> trials_)
      : name(std::move(name_)), trials(std::move(trials_)) {}
  template <std::derived_from<Trials> T>
  Track(std::string name_, T trials_)
      : Track(std::move(name_), std::make_shared<const T>(std::move(trials_))) {}
};

// The trials of a track that are known to be of this class; throws std::bad_cast.
template <std::derived_from<Trials> T>
const T& trials_of(const Track& track) {
  return dynamic_cast<const T&>(*track.trials);
}

// A list file that was read, as it goes into the manifest.
struct TrialList {
  std::string role;  // what the reader calls it: "pairs"
  std::filesystem::path path;
  std::string sha256;
  std::vector<std::string> notes;  // what a reader of the numbers must know about it
};

// Everything that the lists of a protocol say: the distinct samples (names are paths relative to
// the image folder), who is on each, and what is compared with what.
struct TrialSet {
  std::shared_ptr<const ProtocolSpec> spec;  // that they are evaluated by; see under()
  std::vector<std::string> names;
  std::vector<std::int32_t> identity;  // per sample, index into identity_names
  std::vector<std::string> identity_names;
  Templates templates;  // none: the samples are the units
  std::vector<Track> tracks;
  std::vector<TrialList> lists;
  std::vector<std::string> notes;         // about the lists together, one sentence each
  std::vector<std::string> warnings;      // the same, to know before the numbers
  std::vector<FoundBlemishes> blemishes;  // of the lists
  std::int64_t limit = 0;                 // that limited() cut them to; 0: they are whole

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
  // that disagree, a template without samples or with a sample of another person, tracks without a
  // name or with the same one, and whatever its kind refuses in a track, such as a fold number
  // below 0. Readers call it last; sets made by hand should too.
  void check() const;
};

// Whether neither side of a comparison is left out (1 per unit; empty = none is).
bool takes_part(const Comparison& c, std::span<const std::uint8_t> left_out);
// Whether both sides are of one person.
bool same_identity(const TrialSet& trials, const Comparison& c);

// Throws Error for the first blemish, if the lists have any. `protocol` is its name in the message.
void refuse_blemishes(const TrialSet& trials, std::string_view protocol);

// Places where a list writes a name in another Unicode form than before.
class UnicodeForms {
 public:
  void count(const std::string& name) {
    if (count_++ == 0) first_ = name;
  }
  // Says so in the notes of a set, once, however often it is called; nothing where there are none.
  void note_in(TrialSet& set);

 private:
  std::int64_t count_ = 0;
  std::string first_, noted_;
};

// Collects samples and identities in order of first appearance. Names are compared as nfc() has
// them and kept as they first appear; a note of the set says where they have several forms.
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
  UnicodeForms forms_;
  std::unordered_map<std::string, std::int32_t> samples_;  // by the name in NFC
  std::unordered_map<std::string, std::int32_t> identities_;
};

}  // namespace facebench

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/core/options_fwd.h"
#include "facebench/core/registry.h"
#include "facebench/lists/reader.h"

namespace facebench {

// A metric that a protocol asks for. `targets` are FARs in (0, 1), for the metrics that take them.
struct MetricRequest {
  std::string name;
  std::vector<double> targets;
  std::string source;  // citation, may be empty
};

// The known counts of the official list of a track. Other lists in the same
// format are evaluated too, and the result then says that they are not the official ones.
struct ExpectedCounts {
  std::string track;
  // By the names of track_counts(), in the order of expected_count_names().
  std::vector<std::pair<std::string, std::int64_t>> counts;

  // -1 where it is not stated.
  std::int64_t of(std::string_view name) const;
};

// Text for the page of a protocol; all of it may be empty, and none of it affects a number. Table
// [about] of the TOML.
struct ProtocolAbout {
  std::vector<std::string> files;  // what has to lie below the root, one sentence each
  std::vector<std::string> ask;    // who gives the data, where, under which terms
  std::string failures;            // what a failed enrolment means here
  std::vector<std::string> paper;  // what papers report under it, with the source
  std::vector<std::string> notes;  // what else a reader of its numbers must know
};

// All that a TOML may state in [[expected]], with the words that messages use.
struct CountName {
  std::string name;
  std::string doc;
};
const Table<CountName>& expected_count_names();

// The counts of a track, by those names.
std::vector<std::pair<std::string, std::int64_t>> track_counts(const Track& track,
                                                               const TrialSet& trials);

// Faces that the data set itself gives, in a file beside the lists; read as detector `given`.
struct GivenFaces {
  std::string file;                  // "" = none
  std::vector<std::string> columns;  // OURS=THEIRS, see GivenOptions::rename
  bool landmarks = false;            // the file has the five landmarks too
  std::vector<std::string> names;    // of the columns of a file without a header line
  std::string separator = "comma";   // GivenOptions::separator
};

// A protocol as its TOML states it. The vocabulary is closed: an unknown key or word is an Error
// with file, line and "did you mean".
struct ProtocolSpec {
  std::string id;
  std::int64_t version = 0;
  std::string title;
  std::string description;
  std::vector<std::string> citations;
  ProtocolAbout about;

  // Folders below the data set's root, tried in this order ("." is the root itself), or beside it
  // ("..", "../protocol"), for a root that is given one level too deep.
  std::vector<std::string> image_folders;
  std::vector<std::string> list_folders;
  std::string match;  // name_matchings()
  GivenFaces faces;

  std::string reader_name;  // trial_readers()
  std::shared_ptr<const TrialReader> reader;

  std::string convention;  // conventions()
  // Rules of single metrics in place of the convention's: {"rank_ties", "optimistic"}. By the names
  // of convention_rules().
  std::vector<std::pair<std::string, std::string>> rules;
  std::string fusion;  // template_fusions(), "" for protocols without templates
  // "mean": a further result "mean" holds mean and standard deviation of each metric over the
  // tracks (a protocol's splits); "mean_less_sd": the mean less one deviation too; else "none".
  std::string summary;
  std::string interval;           // interval_methods()
  std::string failed_enrolments;  // failure_policies()
  std::vector<MetricRequest> metrics;
  std::vector<ExpectedCounts> expected;

  std::string text;    // the TOML itself
  std::string sha256;  // of the text
};

// Throws Error as described above. `file` names the text in messages.
ProtocolSpec parse_protocol(std::string_view text, std::string_view file);

// An embedded protocol by name, or a user's own file (anything that ends in ".toml"). Throws
// std::invalid_argument with "did you mean" for a name that does not exist.
ProtocolSpec load_protocol(const std::string& name_or_path);

// Names of the embedded protocols, sorted.
std::vector<std::string> protocol_names();

// Where a data set is. Empty parts are looked for below `root`, in the places the protocol names;
// `images` and `lists` given here are used as they are.
struct DataPlaces {
  std::filesystem::path root;
  std::filesystem::path images;
  std::filesystem::path lists;

  static void describe(OptionsBuilder<DataPlaces>& o);
};

// The folder that holds all list files of the protocol. Throws Error naming the places looked at
// and up to three of the missing files.
std::filesystem::path find_lists(const ProtocolSpec& spec, const DataPlaces& places);

// The trials as they are evaluated by a protocol.
TrialSet under(const ProtocolSpec& spec, TrialSet trials);
// find_lists, then the reader; under the protocol.
TrialSet read_trials(const ProtocolSpec& spec, const DataPlaces& places);

// The archive that the reader names (TrialReader::images), unless `places` gives a folder of
// images; else the folder that holds the most samples, the first of several (by stem the first that
// holds any). Where none of the protocol's folders holds any: the one folder at most two levels
// below the root that holds the first sample. Throws Error where there is none, as of other data,
// and where there are several.
std::filesystem::path find_images(const ProtocolSpec& spec, const TrialSet& trials,
                                  const DataPlaces& places);

// Where each sample's file is, or should be, below a folder of images, by the protocol's name
// matching. Byte order marks and blanks around the parts of a file's name are passed over, and
// names that are not UTF-8 are read as Latin-1. By stem all files below the folder are looked at.
// Throws Error where a stem is that of two files.
std::vector<std::filesystem::path> image_paths(const ProtocolSpec& spec, const TrialSet& trials,
                                               const std::filesystem::path& images);

// How images of the lists that are not there are spelled there: with another ending (.JPG for .jpg)
// or in other capitals, with their count and what to do. Empty where none is.
std::string absent_images_advice(std::span<const std::string> absent,
                                 const std::filesystem::path& images);

// How the lists differ from the official ones, as described by `expected`, a sentence for each
// track; empty = the same counts.
std::vector<std::string> differences_from_official(const ProtocolSpec& spec,
                                                   const TrialSet& trials);

}  // namespace facebench

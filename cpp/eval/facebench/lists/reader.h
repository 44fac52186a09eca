#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/io/json.h"
#include "facebench/io/toml.h"
#include "facebench/trials/trials.h"

namespace facebench {

// Reads the lists of one data set's format. Made from the table [reader] of a protocol's TOML.
class TrialReader {
 public:
  virtual ~TrialReader() = default;
  // Its resolved options, for descriptions and manifests.
  virtual Json options() const = 0;
  // The files it reads, relative to the folder of the lists.
  virtual std::vector<std::string> files() const = 0;
  // What is needed and not there; empty = this is the folder of the lists. All of files(), unless
  // the reader knows other names or needs fewer.
  virtual std::vector<std::string> missing(const std::filesystem::path& lists) const;
  // The archive among the lists that holds the images too, aligned crops, under the names of the
  // samples (io/archive.h); empty: images are files below a folder.
  virtual std::filesystem::path images(const std::filesystem::path& /*lists*/) const { return {}; }
  // Reads them as they are: what is odd but clear is counted (TrialSet::blemishes), what cannot be
  // meant is an Error with file and line, and there is no partial result. The set that comes back
  // has passed TrialSet::check() and names the files it was read from with their SHA-256.
  virtual TrialSet read(const std::filesystem::path& lists) const = 0;
  // The trials of people of one's own without their images: name k is of people[k]. Throws
  // std::invalid_argument for a reader that compares what its lists say.
  virtual TrialSet of_people(std::span<const std::string> names,
                             std::span<const std::string> people) const;
};

// Those of the files that are not in the folder.
std::vector<std::string> absent_of(std::vector<std::string> files,
                                   const std::filesystem::path& lists);

struct TrialReaderEntry {
  std::string name;
  std::string doc;
  // Reads its own keys from the table; errors give file and line.
  std::function<std::unique_ptr<TrialReader>(const TomlTable&)> make;
};

const Table<TrialReaderEntry>& trial_readers();

}  // namespace facebench

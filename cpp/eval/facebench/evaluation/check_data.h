#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "facebench/evaluation/spec.h"

namespace facebench {

// What is there of a data set, as far as a protocol asks for it.
struct DataCheck {
  struct Count {
    std::string name;        // expected_count_names()
    std::int64_t found = 0;  // in the lists
    std::optional<std::int64_t> official;
  };
  struct TrackCounts {
    std::string name;
    std::vector<Count> counts;
  };

  std::string protocol;
  std::filesystem::path lists;
  std::filesystem::path images;  // "" = no folder holds any of them
  std::string no_images;         // why, and where they were looked for
  std::vector<TrackCounts> tracks;
  std::vector<std::string> differences;  // differences_from_official()
  std::vector<std::string> notes;        // of the lists, one sentence each
  std::vector<FoundBlemishes> blemishes;
  std::int64_t listed = 0;                 // images that the lists name
  std::int64_t missing = 0;                // of them
  std::vector<std::string> first_missing;  // at most ten

  // Whether all images are there and the lists are the official ones, as far as is known. Blemishes
  // do not matter: the official lists have some.
  bool complete() const { return missing == 0 && differences.empty(); }
};

// Reads the lists and looks for the images by reading folders; no image is opened (but for the
// protocol `folders`, whose list are the images). Throws Error for lists that are missing or
// malformed.
DataCheck check_data(const ProtocolSpec& spec, const DataPlaces& places);

Json data_check_json(const DataCheck& check);

}  // namespace facebench

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace facebench {

// The comparisons of a verification that a run counts, with who and what is behind each.
struct ListedRun {
  std::string protocol, track;
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;  // 1 genuine, 0 impostor
  std::vector<std::int32_t> folds;
  std::vector<std::int32_t> first_person, second_person;
  std::vector<std::int32_t> first_unit, second_unit;  // images or templates
};

// Failed enrolments count as the run says. Throws std::invalid_argument for a track that is not
// there, Error where it is no verification with all scores.
ListedRun listed_run(const std::filesystem::path& run,
                     const std::optional<std::string>& track = std::nullopt);

}  // namespace facebench

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "facebench/metrics/comparison_graph.h"

namespace facebench {

// The comparisons of a verification that a run counts, with who and what is behind each.
struct ListedRun {
  std::string protocol, track;
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;  // 1 genuine, 0 impostor
  std::vector<std::int32_t> folds;
  std::vector<std::int32_t> people[2];  // of either side
  std::vector<std::int32_t> units[2];   // images or templates
  std::int64_t left_out = 0;  // comparisons with a failed enrolment that the run leaves out

  // Who is compared with whom, without regard to folds.
  ComparisonGraph graph() const { return {people[0], people[1], {}}; }
  // The comparisons of which keep(i) is true; it is called once for each, in order.
  ListedRun only(const std::function<bool(std::size_t)>& keep) const;
};

// Failed enrolments count as the run says. Throws std::invalid_argument for a track that is not
// there, Error where it is not a verification with all scores.
ListedRun listed_run(const std::filesystem::path& run,
                     const std::optional<std::string>& track = std::nullopt);

}  // namespace facebench

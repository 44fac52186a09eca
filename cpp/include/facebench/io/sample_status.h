#pragma once

#include <cstdint>
#include <string_view>

namespace facebench {

// What became of one sample. Failures are data: such a row stays in its place, with zeros, and is
// counted and listed. The numbers are what packs and embeddings store.
enum class SampleStatus : std::uint8_t {
  ok = 0,
  no_face = 1,     // decoded, but the detector found nothing
  unreadable = 2,  // the file is there and cannot be decoded
  missing = 3,     // the file is not there
  rejected = 4,    // left out on purpose (a quality rule, the caller's own decision)
};
inline constexpr int kSampleStatusCount = 5;

// "ok", "no_face", "unreadable", "missing", "rejected".
std::string_view sample_status_name(SampleStatus status);
// Throws std::invalid_argument with "did you mean".
SampleStatus parse_sample_status(std::string_view name);
// A stored number as a status. Throws std::out_of_range.
SampleStatus sample_status_of(std::int64_t value);

}  // namespace facebench

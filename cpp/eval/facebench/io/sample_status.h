#pragma once

#include <cstdint>
#include <string_view>

namespace facebench {

// The status of one sample. A failed sample stays in its place as a row of zeros, and is counted
// and listed. The numbers are those stored in packs and embeddings.
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
// A stored number as a status. Throws std::out_of_range.
SampleStatus sample_status_of(std::int64_t value);

}  // namespace facebench

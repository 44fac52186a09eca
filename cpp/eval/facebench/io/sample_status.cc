#include "facebench/io/sample_status.h"

#include <fmt/format.h>

#include <stdexcept>

namespace facebench {
namespace {

constexpr std::string_view kNames[kSampleStatusCount] = {"ok", "no_face", "unreadable", "missing",
                                                         "rejected"};

}  // namespace

std::string_view sample_status_name(SampleStatus status) {
  return kNames[static_cast<int>(sample_status_of(static_cast<int>(status)))];
}

SampleStatus sample_status_of(std::int64_t value) {
  if (value < 0 || value >= kSampleStatusCount)
    throw std::out_of_range(
        fmt::format("{} is not a sample status (0 to {})", value, kSampleStatusCount - 1));
  return static_cast<SampleStatus>(value);
}

}  // namespace facebench

#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "facebench/io/json.h"
#include "facebench/runs/verify.h"

// What the two halves of a verification share (verify.cc, verify_inputs.cc).
namespace facebench {

// What could not be compared, and why.
inline Check not_checked(std::string name, std::string why) {
  return {std::move(name), false, std::move(why), false};
}

// A file against its recorded SHA-256.
Check compare_hash(std::string name, const std::filesystem::path& path, const std::string& recorded,
                   const Job& job);

}  // namespace facebench

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace facebench {

// One hash over many files: SHA-256 of "HASH  NAME\n" for each in order, which are the lines that
// `sha256sum` prints for the same files. `hashes` are 64 lower-case digits each, kNoFile where
// there is no file. Throws std::invalid_argument for lengths that differ.
std::string tree_sha256(std::span<const std::string> hashes, std::span<const std::string> names);

// What stands for a file that is not there: 64 zeros.
inline constexpr std::string_view kNoFile =
    "0000000000000000000000000000000000000000000000000000000000000000";

}  // namespace facebench

#pragma once

#include <string>
#include <vector>

namespace facebench {

// How entries of a list that the data do not have are spelled there: in other capitals, with or
// without folders in front or a slash behind. " 2 of them are there as Bob (for BOB), ...", a
// sentence with what to do; empty where none is. Entries are "person NAME" or "sample NAME".
std::string spelled_otherwise(const std::vector<std::string>& entries,
                              const std::vector<std::string>& people,
                              const std::vector<std::string>& samples);

}  // namespace facebench

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facebench/nn/communicator.h"

namespace facebench {

// What processes that train together tell each other, apart from tensors. All are collective.

// Every process gets rank 0's.
std::int64_t shared_number(Communicator& communicator, std::int64_t number);
std::string shared_text(Communicator& communicator, const std::string& text);
// The texts of all processes, by rank.
std::vector<std::string> gathered_texts(Communicator& communicator, const std::string& text);

}  // namespace facebench

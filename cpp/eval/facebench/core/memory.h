#pragma once

#include <cstdint>

namespace facebench {

// Bytes of memory that this process holds (its resident set), pages shared with others among them;
// 0 where the system does not say.
std::int64_t resident_memory();

}  // namespace facebench

#pragma once

namespace facebench {

// float32 multiply-adds a second of so many threads together, at most: independent ones, out of
// registers, with the instruction set in use (core/isa.h); the fastest of some short runs. Throws
// std::invalid_argument for no threads.
double multiply_add_limit(int threads);

}  // namespace facebench

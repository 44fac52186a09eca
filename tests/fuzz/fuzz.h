#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "facebench/core/error.h"

// What a target's function may do with bytes that are not what it reads: throw Error, nothing else.
#define FACEBENCH_FUZZ_TARGET(bytes)                                               \
  static void read_fuzzed(std::string_view bytes);                                 \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t n) { \
    try {                                                                          \
      read_fuzzed({reinterpret_cast<const char*>(data), n});                       \
    } catch (const facebench::Error&) {                                            \
    }                                                                              \
    return 0;                                                                      \
  }                                                                                \
  static void read_fuzzed(std::string_view bytes)

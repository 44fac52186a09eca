#pragma once

#include <string_view>
#include <vector>

#include "facebench/core/error.h"

// A target: what reads the bytes of a file. Everything that it throws but Error is a finding.
struct FuzzTarget {
  std::string_view name;
  void (*read)(std::string_view bytes);
};

// The targets that are linked into this program: all of them, or with libFuzzer one.
inline std::vector<FuzzTarget>& fuzz_targets() {
  static std::vector<FuzzTarget> targets;
  return targets;
}

// Runs a target; what is refused is not a finding. Returns whether it was accepted.
inline bool feed(const FuzzTarget& target, std::string_view bytes) {
  try {
    target.read(bytes);
    return true;
  } catch (const facebench::Error&) {
    return false;
  }
}

#define FACEBENCH_FUZZ_TARGET(name, bytes)                           \
  static void read_fuzzed_##name(std::string_view bytes);            \
  [[maybe_unused]] static const bool registered_##name =             \
      (fuzz_targets().push_back({#name, read_fuzzed_##name}), true); \
  static void read_fuzzed_##name(std::string_view bytes)

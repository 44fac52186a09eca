#include "facebench/core/isa.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "facebench/core/registry.h"

namespace facebench {
namespace {

constexpr std::string_view kNames[] = {"plain", "avx2", "avx512", "avx512bf16"};

Isa initial_isa() {
  const char* wanted = std::getenv("FACEBENCH_ISA");
  if (!wanted || !*wanted) return supported_isa();
  const Isa isa = parse_isa(wanted);
  if (isa > supported_isa())
    throw std::invalid_argument(fmt::format("FACEBENCH_ISA={}: this processor runs at most {}",
                                            wanted, isa_name(supported_isa())));
  return isa;
}

std::atomic<Isa>& current() {
  static std::atomic<Isa> isa{initial_isa()};
  return isa;
}

}  // namespace

std::string_view isa_name(Isa isa) { return kNames[static_cast<int>(isa)]; }

Isa parse_isa(std::string_view name) {
  const std::vector<std::string> names(std::begin(kNames), std::end(kNames));
  return static_cast<Isa>(index_of_name("instruction set", name, names));
}

Isa supported_isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni")
               ? Isa::avx512bf16
               : Isa::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
#endif
  return Isa::plain;
}

Isa active_isa() { return current().load(); }

void force_isa(Isa isa) {
  if (isa > supported_isa())
    throw std::invalid_argument(fmt::format("instruction set {}: this processor runs at most {}",
                                            isa_name(isa), isa_name(supported_isa())));
  current() = isa;
}

}  // namespace facebench

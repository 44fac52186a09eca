#pragma once

#include <string>
#include <string_view>

namespace facebench {

// The instruction sets that our kernels are built for, in increasing order: each includes those
// before it, so kernels are chosen by >=. Results are bit-exact only within one of them, so the
// choice is part of a run's content.
enum class Isa { plain, avx2, avx512, avx512bf16 };

std::string_view isa_name(Isa isa);
// Throws std::invalid_argument with "did you mean".
Isa parse_isa(std::string_view name);
// The best one that this processor and operating system support.
Isa supported_isa();
// The one in use: supported_isa(), unless force_isa() or the environment variable FACEBENCH_ISA
// chose a lower one.
Isa active_isa();
// Chooses for the whole process. Throws std::invalid_argument where the processor lacks it.
void force_isa(Isa isa);

}  // namespace facebench

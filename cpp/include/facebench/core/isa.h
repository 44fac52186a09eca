#pragma once

#include <string>
#include <string_view>

namespace facebench {

// The instruction sets that our kernels are built for, in rising order: each runs what those before
// it run, so kernels are chosen by >=. Results are bit-exact for one of them, so the choice is part
// of a run's content (design: numbers).
enum class Isa { plain, avx2, avx512, avx512bf16 };

std::string_view isa_name(Isa isa);
// Throws std::invalid_argument with "did you mean".
Isa parse_isa(std::string_view name);
// The best that this processor and operating system run.
Isa supported_isa();
// The one in use: supported_isa(), unless force_isa() or the variable FACEBENCH_ISA chose lower.
Isa active_isa();
// Chooses for the whole process. Throws std::invalid_argument where the processor lacks it.
void force_isa(Isa isa);

}  // namespace facebench

#pragma once

// at::parallel_for, which is a plain loop on one thread in a file that is compiled without OpenMP:
// such a file does not compile, unless the build says that it wants plain loops.

#include <ATen/Parallel.h>

#if !defined(INTRA_OP_PARALLEL) && !defined(FACEBENCH_PLAIN_LOOPS)
#error "at::parallel_for is a plain loop here: compile with OpenMP"
#endif

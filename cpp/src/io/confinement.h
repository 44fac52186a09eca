#pragma once

#include <cstdint>

namespace facebench {

// Takes from this process, for good, all that reading files does not need: from here on it may open
// files to read them, take `memory` more bytes of address space and `seconds` of processor time,
// and write to the file descriptor `out`. Everything else the kernel refuses (EPERM): writing
// files, sockets, other processes and programs, code made at run time. For a child process that
// reads what nobody vouches for. All other file descriptors are closed.
//
// Throws Error where the kernel does not do it, and on other systems than Linux on x86-64 and
// AArch64. Afterwards leave by _exit().
void confine_process(int out, std::uint64_t memory, std::uint64_t seconds);

}  // namespace facebench

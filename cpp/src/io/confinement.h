#pragma once

#include <cstdint>

namespace facebench {

// Permanently restricts this process to what reading files needs: it can open files for reading,
// allocate `memory` more bytes of address space, use `seconds` of processor time, and write to the
// file descriptor `out`. The kernel refuses everything else (EPERM): writing files, sockets, other
// processes and programs, code made at run time. For a child process that reads files that are not
// trusted. All other file descriptors are closed.
//
// Throws Error where the kernel does not do it, and on other systems than Linux on x86-64 and
// AArch64. Afterwards leave by _exit().
void confine_process(int out, std::uint64_t memory, std::uint64_t seconds);

}  // namespace facebench

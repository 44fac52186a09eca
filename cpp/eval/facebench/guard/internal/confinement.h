#pragma once

#include <cstdint>

namespace facebench {

// Permanently restricts this process to computing and answering: it can allocate `memory` more
// bytes of address space, use `seconds` of processor time, and read from and write to the file
// descriptor `socket`. The kernel refuses everything else (EPERM): opening files, asking whether
// they are there, other processes and programs, code made at run time. For a child process that
// parses what is not trusted. All other file descriptors are closed.
//
// Throws Error where the kernel does not do it, and on other systems than Linux on x86-64 and
// AArch64. Afterwards leave by _exit().
void confine_process(int socket, std::uint64_t memory, std::uint64_t seconds);

}  // namespace facebench

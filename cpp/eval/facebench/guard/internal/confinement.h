#pragma once

#include <cstdint>
#include <string>

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

// Permanently restricts this process, a child that runs a stranger's library: it may compute, make
// code and threads, open and read files and folders that are there, and write to what is open
// already, with `memory` more bytes of address space. The kernel refuses everything else (EPERM):
// to write, make, rename or remove files, to connect, to start or end processes. Throws as
// confine_process() does.
void confine_foreign_code(std::uint64_t memory);
// What was refused since then: lines "2 open a socket". Only what somebody would want to know.
std::string refused_calls();

}  // namespace facebench

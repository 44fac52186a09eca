#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string_view>

#include "facebench/io/json.h"

namespace facebench {

// Whether what strangers wrote as HDF5, TOML or JSON is parsed from now on, anywhere in this
// process, in child processes, one for each HDF5 file and for each text. The kernel lets such a
// child answer its parent and use memory and time in proportion to the file, nothing else: it has
// no file open and can open none. If a file makes a parser fail, only the child ends, and the
// reader throws Error. Where the kernel cannot confine a process, every reader throws Error.
// Returns the previous setting. Linux on x86-64 and AArch64.
bool confine_readers(bool on);

// Whether a path that a file names may be opened: where readers are confined only if it, with its
// links followed, lies in one of the folders or is one of them; an empty folder holds nothing.
bool may_open(const std::filesystem::path& path,
              std::initializer_list<std::filesystem::path> folders);

// parse_json() for the text of a file: in a confined child where readers are confined.
Json parse_file_json(std::string_view text, std::string_view where);

// Permanently restricts this process, a child that has to open files by itself, as ONNX Runtime
// opens weights beside a model: it may compute, and open and read what is there, with `memory` more
// bytes of address space and `seconds` of processor time. It cannot write, connect, or start
// anything, threads neither; its answer is its exit status. Throws Error where the kernel does not
// do it, and on other systems than Linux on x86-64 and AArch64.
void confine_to_reading(std::uint64_t memory, std::uint64_t seconds);

}  // namespace facebench

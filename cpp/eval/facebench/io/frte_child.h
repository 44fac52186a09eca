#pragma once

#include <cstdint>
#include <filesystem>

namespace facebench {

// What a child process does that runs a library of NIST's FRTE 1:1 (frte_interface.h), whose code
// is a stranger's. It confines itself (confine_foreign_code), loads the library, calls its
// initialize() with the folder of its configuration, and answers questions on the standard input
// over the standard output until that is closed; then it ends the process. What the library prints
// is lost. `memory`: bytes that it may take.
//
// Numbers are little-endian. An answer is its outcome (uint8: 0 done, 1 a sentence that says what
// failed), its size (uint64), and as many bytes. The first one comes unasked: the versions of the
// interface and of its structures, major and minor, four int32. A question is its kind (uint32)
// and what belongs to it:
//
//   1  a template: role (uint32: 0 enrolment, 1 verification), number of photographs (uint32), of
//      each width and height (uint32), then the pixels of all, RGB. Answer: the return code
//      (int32), the size of the template (uint64), its bytes, and what the library says of it
//   2  comparisons: number of templates (uint32), of comparisons (uint32), the size of each
//      template (uint64), of each comparison the two templates, enrolment and verification
//      (uint32), then the templates. Answer: of each comparison its return code (int32) and
//      similarity (float64), sent when it is known. Where the
//      call failed, that code is -2^31, and an answer with outcome 1 follows
//   3  what the library asked of the kernel and was refused. Answer: lines "COUNT WHAT"
[[noreturn]] void serve_frte_library(const std::filesystem::path& library,
                                     const std::filesystem::path& configuration,
                                     std::uint64_t memory);

}  // namespace facebench

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "facebench/core/error.h"

namespace facebench {

// The machine could not read or write a file: too many are open, a disk fails or is full. That says
// nothing about what the file holds: code that reports bad files as findings lets it pass.
class MachineError : public Error {
 public:
  using Error::Error;
};

// What read() finds wrong with the file that it reads; lets a MachineError pass.
template <class Read>
std::optional<std::string> fault_in_file(const Read& read) {
  try {
    read();
    return std::nullopt;
  } catch (const MachineError&) {
    throw;
  } catch (const Error& e) {
    return e.what();
  }
}

// Throws "PATH: cannot ACTION: why", with advice where the error has one: MachineError where it is
// of the machine, else Error.
[[noreturn]] void fail_errno(const std::filesystem::path& path, std::string_view action, int error);

}  // namespace facebench

#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace facebench {

// Something is wrong with data or files (not with the caller's use of the library, which is
// std::invalid_argument / std::out_of_range). The text says what is wrong, where, and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The user asked to stop (Ctrl-C, or a poll function that said so). Not derived from Error: code
// that recovers from bad data must not swallow a cancellation.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "cancelled"; }
};

// "file", "file:line" or "file: byte N": the one spelling of a place in a message.
std::string at_line(std::string_view file, std::int64_t line);
std::string at_byte(std::string_view file, std::uint64_t offset);

// Throws Error with the text "WHERE: WHAT. ADVICE" (advice may be empty).
[[noreturn]] void fail(std::string_view where, std::string_view what, std::string_view advice = {});

}  // namespace facebench

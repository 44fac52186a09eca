#pragma once

// A child process that reads what strangers wrote, and its parent, which checks every answer; for
// readers of files.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "facebench/core/error.h"
#include "facebench/io/internal/packed.h"

namespace facebench {

// What a child may take before it is ended.
struct ConfinedLimits {
  std::uint64_t memory = 0;        // bytes beyond those of its parent
  std::uint64_t seconds = 0;       // of processor time in all, and of the clock for each answer
  std::uint64_t answer_bytes = 0;  // in one answer
};

// Starts a process that confines itself (confinement.h), calls `begin`, and answers each question
// by the function that `begin` gave. One question and one answer at a time. What `begin` and that
// function throw is thrown here: std::invalid_argument as such, all else as Error. The child has
// one open descriptor, its end of the socket, and can open nothing; what it reads has to be in
// memory before it begins. No exception and no destructor of the caller runs in it.
//
// All functions throw Error naming `place` where the child failed, did what it may not, or did not
// answer in time; it is ended then, and so is everything that is asked of it later.
class ConfinedChild {
 public:
  using Answer = std::function<std::string(Packed question)>;
  using Begin = std::function<Answer()>;

  ConfinedChild(const std::string& place, const ConfinedLimits& limits, const Begin& begin);
  ~ConfinedChild() { stop(); }
  ConfinedChild(const ConfinedChild&) = delete;
  ConfinedChild& operator=(const ConfinedChild&) = delete;

  // The whole answer.
  std::string ask(const Packed& question, const std::string& place);
  // An answer of exactly `size` bytes, to `out`.
  void ask(const Packed& question, const std::string& place, void* out, std::uint64_t size);
  // The answer as `take` makes it of a Packed, all of which it has to read. What it cannot read
  // (std::length_error) is not an answer.
  template <class Take>
  auto ask_for(const Packed& question, const std::string& place, Take&& take) {
    Packed answer(ask(question, place));
    try {
      auto result = take(answer);
      if (answer.at_end()) return result;
    } catch (const std::length_error&) {
    }
    lost(place);
  }

 private:
  void send(const Packed& question, const std::string& place);
  std::uint64_t receive_size(const std::string& place);
  void receive(void* out, std::uint64_t size, const std::string& place);
  [[noreturn]] void lost(const std::string& place, std::string_view what = {});
  bool was_killed();
  void stop();

  const ConfinedLimits limits_;
  std::int64_t deadline_ = 0;  // of the answer that is awaited, in ms of the steady clock
  pid_t child_ = -1;
  int socket_ = -1;
};

// Whether strangers' files are read in confined children (confine_readers).
bool readers_are_confined();

// For a text of `bytes` bytes. A parser's tree is some tens of times as large as its text; more is
// an attack.
ConfinedLimits text_limits(std::uint64_t bytes);

// What `work` makes of a text, in a confined child, as `take` reads it (see ask_for).
template <class Take>
auto confined_result(const std::string& place, std::uint64_t bytes,
                     const std::function<std::string()>& work, Take&& take) {
  ConfinedChild child(place, text_limits(bytes),
                      [&] { return [&](const Packed&) { return work(); }; });
  return child.ask_for(Packed(), place, take);
}

}  // namespace facebench

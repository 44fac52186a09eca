#include "facebench/io/internal/confined_child.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "facebench/core/utf8.h"
#include "facebench/guard/internal/confinement.h"
#include "facebench/io/confine.h"

// Over the socket: a question is a length, then its bytes; an answer is an Outcome, a length, and
// as many bytes.
namespace facebench {
namespace {

namespace fs = std::filesystem;

enum class Outcome : std::uint8_t { done, error, wrong_use };

constexpr std::uint64_t kLongestMessage = 4096;

std::atomic<bool> confined = false;

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

// The child's side.

// All bytes by read() or write(), the calls that it may make; false where the other end is gone.
template <class Call, class Byte>
bool transfer(Call call, int socket, Byte* at, std::size_t size) {
  while (size > 0) {
    const ssize_t done = call(socket, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

bool send_bytes(int to, const void* data, std::size_t size) {
  return transfer(write, to, static_cast<const char*>(data), size);
}

bool receive_bytes(int from, void* data, std::size_t size) {
  return transfer(read, from, static_cast<char*>(data), size);
}

bool send_answer(int socket, Outcome outcome, std::string_view bytes) {
  const auto kind = static_cast<std::uint8_t>(outcome);
  const std::uint64_t size = bytes.size();
  return send_bytes(socket, &kind, sizeof(kind)) && send_bytes(socket, &size, sizeof(size)) &&
         send_bytes(socket, bytes.data(), bytes.size());
}

bool send_message(int socket, Outcome outcome, std::string_view message) {
  return send_answer(socket, outcome, message.substr(0, kLongestMessage));
}

// Calls `work` and sends its result; false if the other end is closed.
template <class Work>
bool send_outcome(int socket, Work&& work) {
  try {
    return send_answer(socket, Outcome::done, work());
  } catch (const std::invalid_argument& e) {
    return send_message(socket, Outcome::wrong_use, e.what());
  } catch (const std::bad_alloc&) {
    return send_message(socket, Outcome::error, "takes more memory than its size explains");
  } catch (const std::exception& e) {
    return send_message(socket, Outcome::error, e.what());
  }
}

// Everything the child does. No exception may leave it: the callers on the stack are those of the
// parent.
void serve(int socket, const ConfinedLimits& limits, const ConfinedChild::Begin& begin) noexcept {
  ConfinedChild::Answer answer;
  bool going = send_outcome(socket, [&] {
    confine_process(socket, limits.memory, limits.seconds);
    answer = begin();
    return std::string();
  });
  while (going && answer) {
    std::uint64_t size = 0;
    if (!receive_bytes(socket, &size, sizeof(size))) return;
    std::string bytes(size, '\0');
    if (!receive_bytes(socket, bytes.data(), bytes.size())) return;
    going = send_outcome(socket, [&] { return answer(Packed(std::move(bytes))); });
  }
}

// `path` has no links.
bool lies_in(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  if (folder.empty()) return false;
  const fs::path base = fs::canonical(folder, error);
  if (error) return false;
  const auto [end, rest] = std::mismatch(base.begin(), base.end(), path.begin(), path.end());
  return end == base.end();
}

}  // namespace

bool confine_readers(bool on) { return confined.exchange(on); }

bool readers_are_confined() { return confined; }

bool may_open(const fs::path& path, std::initializer_list<fs::path> folders) {
  if (!readers_are_confined()) return true;
  std::error_code error;
  const fs::path place = fs::weakly_canonical(fs::absolute(path, error), error);
  return !error && std::ranges::any_of(
                       folders, [&](const fs::path& folder) { return lies_in(place, folder); });
}

Json parse_file_json(std::string_view text, std::string_view where) {
  if (!confined) return parse_json(text, where);
  return confined_result(
      std::string(where), text.size(),
      [&] {
        Packed out;
        out.add(parse_json(text, where));
        return out.bytes();
      },
      [](Packed& in) { return in.json(); });
}

ConfinedLimits text_limits(std::uint64_t bytes) {
  return {.memory = 128 * bytes + (256ull << 20),
          .seconds = 10 + bytes / 1'000'000,
          .answer_bytes = 64 * bytes + (1ull << 20)};
}

ConfinedChild::ConfinedChild(const std::string& place, const ConfinedLimits& limits,
                             const Begin& begin)
    : limits_(limits) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail(place, fmt::format("no socket to read it through: {}", std::strerror(errno)));
  child_ = fork();
  if (child_ == 0) {
    close(ends[0]);
    serve(ends[1], limits, begin);
    _exit(0);
  }
  close(ends[1]);
  socket_ = ends[0];
  if (child_ < 0) {
    const std::string why = std::strerror(errno);
    close(socket_);
    fail(place, fmt::format("no process to read it in: {}", why));
  }
  try {
    deadline_ = now_ms() + static_cast<std::int64_t>(1000 * limits_.seconds);
    if (receive_size(place) != 0) lost(place);
  } catch (...) {
    stop();
    throw;
  }
}

std::string ConfinedChild::ask(const Packed& question, const std::string& place) {
  send(question, place);
  std::string bytes(receive_size(place), '\0');
  receive(bytes.data(), bytes.size(), place);
  return bytes;
}

void ConfinedChild::ask(const Packed& question, const std::string& place, void* out,
                        std::uint64_t size) {
  send(question, place);
  if (receive_size(place) != size) lost(place);
  receive(out, size, place);
}

void ConfinedChild::send(const Packed& question, const std::string& place) {
  deadline_ = now_ms() + static_cast<std::int64_t>(1000 * limits_.seconds);
  const std::uint64_t size = question.bytes().size();
  std::string frame(reinterpret_cast<const char*>(&size), sizeof(size));
  frame += question.bytes();
  // No signal where the child is gone.
  const ssize_t sent = ::send(socket_, frame.data(), frame.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(frame.size())) lost(place);
}

void ConfinedChild::receive(void* out, std::uint64_t size, const std::string& place) {
  auto* at = static_cast<char*>(out);
  while (size > 0) {
    const std::int64_t left = deadline_ - now_ms();
    pollfd ready{socket_, POLLIN, 0};
    const int count =
        left <= 0 ? 0 : poll(&ready, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000)));
    if (count < 0 && errno != EINTR) lost(place);
    if (count == 0 && left <= 60'000)
      lost(place, fmt::format("was not read within {} s", limits_.seconds));
    if (count <= 0) continue;
    const ssize_t done = recv(socket_, at, size, MSG_DONTWAIT);
    if (done < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (done <= 0) lost(place);
    at += done;
    size -= static_cast<std::uint64_t>(done);
  }
}

// How many bytes follow; throws what the child reports.
std::uint64_t ConfinedChild::receive_size(const std::string& place) {
  std::uint8_t outcome = 0;
  std::uint64_t size = 0;
  receive(&outcome, sizeof(outcome), place);
  receive(&size, sizeof(size), place);
  if (outcome == static_cast<std::uint8_t>(Outcome::done)) {
    if (size > limits_.answer_bytes) lost(place);
    return size;
  }
  if (size > kLongestMessage) lost(place);
  std::string message(size, '\0');
  receive(message.data(), size, place);
  if (outcome == static_cast<std::uint8_t>(Outcome::wrong_use))
    throw std::invalid_argument(printable(message));
  throw Error(printable(message));
}

void ConfinedChild::lost(const std::string& place, std::string_view what) {
  if (what.empty() && was_killed()) {
    stop();
    fail(place, "the process that read this file was killed",
         "Where memory is short, the kernel does that, and the file may be good; else it took more "
         "processor time than its size explains");
  }
  stop();
  fail(place,
       what.empty() ? "the process that read this file failed, or tried what it may not do" : what,
       "The file is damaged or malicious: do not open it elsewhere");
}

// Whether the child was ended by a SIGKILL that is not ours. What it may not do ends it otherwise.
// It is dying at most for a moment after its socket is closed.
bool ConfinedChild::was_killed() {
  int status = 0;
  for (int wait = 0; wait < 100 && child_ > 0; ++wait) {
    const pid_t ended = waitpid(child_, &status, WNOHANG);
    if (ended == child_) {
      close(std::exchange(socket_, -1));
      child_ = -1;
      return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }
    if (ended < 0 && errno != EINTR) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

void ConfinedChild::stop() {
  if (child_ <= 0) return;
  close(std::exchange(socket_, -1));
  kill(child_, SIGKILL);
  while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
}

}  // namespace facebench

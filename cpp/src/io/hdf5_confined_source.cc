#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "io/confinement.h"
#include "io/hdf5_library.h"
#include "io/hdf5_source.h"

// A file is read by a process of its own, over a socket: one question, one answer. A question is a
// frame (its length, then its bytes); an answer is an Outcome, a length, and as many bytes.
namespace facebench::hdf5 {
namespace {

enum class Question : std::uint8_t { has, names, facts, read, texts };
enum class Outcome : std::uint8_t { done, error, wrong_use };

// Chunks may be compressed; a file that expands further is an attack, not a data set.
std::uint64_t most_bytes(std::uint64_t file_size) { return 4 * file_size + (1ull << 30); }
// Twice the time that a slow disk takes.
std::uint64_t most_seconds(std::uint64_t file_size) { return 60 + file_size / 20'000'000; }
constexpr std::uint64_t kLongestMessage = 4096;
constexpr std::uint64_t kMostDimensions = 32;

// All bytes by read() or write(); false where the other end is gone.
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

bool receive_bytes(int from, void* data, std::size_t size) {
  return transfer(read, from, static_cast<char*>(data), size);
}

// Numbers and texts, one after the other.
class Packed {
 public:
  Packed() = default;
  explicit Packed(std::string bytes) : bytes_(std::move(bytes)) {}
  const std::string& bytes() const { return bytes_; }

  void add(std::uint64_t value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    bytes_ += text;
  }
  // Throws std::length_error where the bytes end too early.
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    return value;
  }
  std::string text() { return std::string(take(number())); }
  bool at_end() const { return next_ == bytes_.size(); }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - next_) throw std::length_error("cut short");
    const std::string_view part = std::string_view(bytes_).substr(next_, size);
    next_ += size;
    return part;
  }

  std::string bytes_;
  std::size_t next_ = 0;
};

// The child's side, which may write() to the socket and not send().

bool send_bytes(int to, const void* data, std::size_t size) {
  return transfer(write, to, static_cast<const char*>(data), size);
}

Packed pack_texts(const std::vector<std::string>& texts) {
  Packed out;
  out.add(texts.size());
  for (const std::string& text : texts) out.add(text);
  return out;
}

Packed pack_facts(const DatasetFacts& facts) {
  Packed out;
  out.add(static_cast<std::uint64_t>(facts.type));
  out.add(facts.elements);
  out.add(facts.offset ? 1 : 0);
  out.add(facts.offset.value_or(0));
  out.add(facts.shape.size());
  for (const std::int64_t extent : facts.shape) out.add(static_cast<std::uint64_t>(extent));
  return out;
}

std::string answer(H5Source& source, Packed question) {
  const auto what = static_cast<Question>(question.number());
  const std::string name = question.text();
  Packed out;
  switch (what) {
    case Question::has:
      out.add(source.has(name) ? 1 : 0);
      break;
    case Question::names:
      return pack_texts(source.names(name)).bytes();
    case Question::facts:
      return pack_facts(source.facts(name)).bytes();
    case Question::texts:
      return pack_texts(source.read_texts(name)).bytes();
    case Question::read: {
      const auto type = static_cast<H5Type>(question.number());
      const std::uint64_t elements = question.number();
      std::string bytes(elements * h5_type_size(type), '\0');
      source.read(name, type, bytes.data(), elements);
      return bytes;
    }
  }
  return out.bytes();
}

bool send_answer(int socket, Outcome outcome, std::string_view bytes) {
  const auto kind = static_cast<std::uint8_t>(outcome);
  const std::uint64_t size = bytes.size();
  return send_bytes(socket, &kind, sizeof(kind)) && send_bytes(socket, &size, sizeof(size)) &&
         send_bytes(socket, bytes.data(), bytes.size());
}

// Calls `work` and sends its result; false if the other end is closed.
template <class Work>
bool send_outcome(int socket, Work&& work) {
  try {
    return send_answer(socket, Outcome::done, work());
  } catch (const std::invalid_argument& e) {
    return send_answer(socket, Outcome::wrong_use, e.what());
  } catch (const std::bad_alloc&) {
    return send_answer(socket, Outcome::error, "takes more memory than its size explains");
  } catch (const std::exception& e) {
    return send_answer(socket, Outcome::error, e.what());
  }
}

// Everything the child does. No exception may leave it: the callers on the stack are those of the
// parent.
void serve(int socket, const std::filesystem::path& path, std::uint64_t file_size) noexcept {
  std::unique_ptr<H5Source> source;
  bool going = send_outcome(socket, [&] {
    confine_process(socket, 2 * most_bytes(file_size), most_seconds(file_size));
    source = open_library_source(path, file_size);
    return std::string();
  });
  while (going && source) {
    std::uint64_t size = 0;
    if (!receive_bytes(socket, &size, sizeof(size))) return;
    std::string bytes(size, '\0');
    if (!receive_bytes(socket, bytes.data(), bytes.size())) return;
    going = send_outcome(socket, [&] { return answer(*source, Packed(std::move(bytes))); });
  }
}

// The parent's side, which checks every answer.

class ConfinedSource final : public H5Source {
 public:
  ConfinedSource(const std::filesystem::path& path, std::uint64_t file_size)
      : path_(path), file_size_(file_size) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      fail(path.string(), fmt::format("no socket to read it through: {}", std::strerror(errno)));
    { const Session session; }  // from now on fork() waits until no thread is inside the library
    child_ = fork();
    if (child_ == 0) {
      close(ends[0]);
      serve(ends[1], path, file_size);
      _exit(0);
    }
    close(ends[1]);
    socket_ = ends[0];
    if (child_ < 0) {
      close(socket_);
      fail(path.string(), fmt::format("no process to read it in: {}", std::strerror(errno)));
    }
    try {
      receive(path_.string(), 0);
    } catch (...) {
      stop();
      throw;
    }
  }
  ~ConfinedSource() override { stop(); }
  ConfinedSource(const ConfinedSource&) = delete;
  ConfinedSource& operator=(const ConfinedSource&) = delete;

  bool has(std::string_view name) override {
    return parse(Question::has, name, [](Packed& p) { return p.number() != 0; });
  }

  std::vector<std::string> names(std::string_view group) override {
    return parse(Question::names, group, take_texts);
  }

  DatasetFacts facts(std::string_view name) override {
    return parse(Question::facts, name, [&](Packed& p) { return take_facts(p); });
  }

  void read(std::string_view name, H5Type type, void* out, std::uint64_t elements) override {
    Packed question = question_of(Question::read, name);
    question.add(static_cast<std::uint64_t>(type));
    question.add(elements);
    const std::string place = where(path_, name);
    const std::lock_guard lock(mutex_);
    send(question, place);
    const std::uint64_t size = elements * h5_type_size(type);
    if (receive_size(place, size) != size) lost(place);
    if (!receive_bytes(socket_, out, size)) lost(place);
  }

  std::vector<std::string> read_texts(std::string_view name) override {
    return parse(Question::texts, name, take_texts);
  }

 private:
  static Packed question_of(Question what, std::string_view name) {
    Packed question;
    question.add(static_cast<std::uint64_t>(what));
    question.add(name);
    return question;
  }

  static std::vector<std::string> take_texts(Packed& p) {
    std::vector<std::string> texts;
    for (std::uint64_t left = p.number(); left > 0; --left) texts.push_back(p.text());
    return texts;
  }

  DatasetFacts take_facts(Packed& p) const {
    DatasetFacts facts;
    const std::uint64_t type = p.number();
    if (type > static_cast<std::uint64_t>(H5Type::other)) throw std::length_error("no type");
    facts.type = static_cast<H5Type>(type);
    facts.elements = p.number();
    const bool has_offset = p.number() != 0;
    const std::uint64_t offset = p.number();
    const std::uint64_t dimensions = p.number();
    if (dimensions > kMostDimensions) throw std::length_error("too many dimensions");
    std::uint64_t elements = 1;
    for (std::uint64_t d = 0; d < dimensions; ++d) {
      const std::uint64_t extent = p.number();
      if (extent > std::numeric_limits<std::int64_t>::max() || !multiply(elements, extent))
        throw std::length_error("too many elements");
      facts.shape.push_back(static_cast<std::int64_t>(extent));
    }
    std::uint64_t bytes = elements;
    if (elements != facts.elements ||
        !multiply(bytes, std::max<std::uint64_t>(h5_type_size(facts.type), 1)) ||
        bytes > most_bytes(file_size_))
      throw std::length_error("too many elements");
    if (has_offset) {
      if (offset > file_size_ || bytes > file_size_ - offset) throw std::length_error("outside");
      facts.offset = offset;
    }
    return facts;
  }

  // A question that consists of a name; `take` makes the result and has to read the whole answer.
  template <class Take>
  std::invoke_result_t<Take, Packed&> parse(Question what, std::string_view name, Take&& take) {
    const std::string place = where(path_, name);
    const std::lock_guard lock(mutex_);
    send(question_of(what, name), place);
    Packed answer(receive(place, most_bytes(file_size_)));
    try {
      auto result = take(answer);
      if (answer.at_end()) return result;
    } catch (const std::length_error&) {
    }
    lost(place);
  }

  void send(const Packed& question, const std::string& place) {
    const std::uint64_t size = question.bytes().size();
    std::string frame(reinterpret_cast<const char*>(&size), sizeof(size));
    frame += question.bytes();
    // No signal where the child is gone.
    const ssize_t sent = ::send(socket_, frame.data(), frame.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(frame.size())) lost(place);
  }

  // How many bytes follow; throws what the child reports.
  std::uint64_t receive_size(const std::string& place, std::uint64_t most) {
    std::uint8_t outcome = 0;
    std::uint64_t size = 0;
    if (!receive_bytes(socket_, &outcome, sizeof(outcome)) ||
        !receive_bytes(socket_, &size, sizeof(size)))
      lost(place);
    if (outcome == static_cast<std::uint8_t>(Outcome::done)) {
      if (size > most) lost(place);
      return size;
    }
    std::string message(std::min(size, kLongestMessage), '\0');
    if (size > kLongestMessage || !receive_bytes(socket_, message.data(), message.size()))
      lost(place);
    if (outcome == static_cast<std::uint8_t>(Outcome::wrong_use))
      throw std::invalid_argument(printable(message));
    throw Error(printable(message));
  }

  std::string receive(const std::string& place, std::uint64_t most) {
    std::string bytes(receive_size(place, most), '\0');
    if (!receive_bytes(socket_, bytes.data(), bytes.size())) lost(place);
    return bytes;
  }

  // The child died or sent an invalid answer: it is not used again.
  [[noreturn]] void lost(const std::string& place) {
    stop();
    fail(place, "the process that read this file failed, or tried what it may not do",
         "The file is damaged or malicious: do not open it elsewhere");
  }

  void stop() {
    if (child_ <= 0) return;
    close(std::exchange(socket_, -1));
    kill(child_, SIGKILL);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
    child_ = -1;
  }

  const std::filesystem::path path_;
  const std::uint64_t file_size_;
  std::mutex mutex_;
  pid_t child_ = -1;
  int socket_ = -1;
};

}  // namespace

std::unique_ptr<H5Source> open_confined_source(const std::filesystem::path& path,
                                               std::uint64_t file_size) {
  return std::make_unique<ConfinedSource>(path, file_size);
}

}  // namespace facebench::hdf5

#include "facebench/io/frte_child.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/guard/internal/confinement.h"
#include "facebench/guard/internal/frte_interface.h"

static_assert(std::endian::native == std::endian::little);

namespace facebench {
namespace {

namespace fs = std::filesystem;
using frte::Bytes;
using frte::Role;
using frte::Status;

// The calls of a library, whatever its version.
struct Library {
  std::array<std::int32_t, 4> versions{};  // of the interface and its structures
  std::function<Status(const std::string& folder)> initialize;
  struct Pixels {
    std::uint32_t width = 0, height = 0;
    std::shared_ptr<std::uint8_t> data;
  };
  std::function<Status(std::span<const Pixels>, Role, Bytes& made)> create;
  std::function<Status(const Bytes& verification, const Bytes& enrolment, double&)> match;
};

template <class Interface, class Photo>
void take(Library& library, void* function) {
  const auto made = reinterpret_cast<std::shared_ptr<Interface> (*)()>(function)();
  if (!made) throw Error("its getImplementation() gives nothing");
  library.initialize = [made](const std::string& folder) { return made->initialize(folder); };
  library.create = [made](std::span<const Library::Pixels> all, Role role, Bytes& bytes) {
    std::vector<Photo> photos(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      photos[i].width = static_cast<std::uint16_t>(all[i].width);
      photos[i].height = static_cast<std::uint16_t>(all[i].height);
      photos[i].data = all[i].data;
    }
    std::vector<frte::EyePair> eyes;
    return made->create(photos, role, bytes, eyes);
  };
  library.match = [made](const Bytes& verification, const Bytes& enrolment, double& similarity) {
    return made->match(verification, enrolment, similarity);
  };
}

template <class Photo>
void take_version(Library& library, void* function) {
  switch (library.versions[0]) {
    case 4:
      return take<frte::Interface4<Photo>, Photo>(library, function);
    case 5:
      return take<frte::Interface5<Photo>, Photo>(library, function);
    default:
      return take<frte::Interface6<Photo>, Photo>(library, function);
  }
}

// A library that is loaded, and before it those beside it that it needs and the system has not.
void* load(const fs::path& path, int depth = 0) {
  constexpr std::string_view kAbsent = ": cannot open shared object file";
  for (int tries = 0; tries < 64; ++tries) {
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    const char* said = dlerror();
    const std::string why = said ? said : "unknown";
    const std::string needed = why.substr(0, why.find(kAbsent));
    std::error_code ignored;
    if (needed == why || needed.find('/') != std::string::npos || depth > 16 ||
        !fs::exists(path.parent_path() / needed, ignored))
      throw Error(
          fmt::format("cannot be loaded: {}. Libraries that it needs lie beside it or are "
                      "the system's",
                      why));
    load(path.parent_path() / needed, depth + 1);
  }
  throw Error("cannot be loaded: it needs too many libraries");
}

Library open_library(const fs::path& path) {
  void* handle = load(path);
  Library library;
  for (const std::string_view name : {"FRVT", "FRTE"}) {
    // The names that GCC and Clang give to Interface::getImplementation() and to the numbers.
    const auto find = [&](std::string_view text) {
      return dlsym(handle, fmt::format(fmt::runtime(text), name).c_str());
    };
    void* function = find("_ZN7{}_119Interface17getImplementationEv");
    if (!function) continue;
    const std::array<void*, 4> numbers = {
        find("_ZN7{0}_1117API_MAJOR_VERSIONE"), find("_ZN7{0}_1117API_MINOR_VERSIONE"),
        find("_ZN4{0}26{0}_STRUCTS_MAJOR_VERSIONE"), find("_ZN4{0}26{0}_STRUCTS_MINOR_VERSIONE")};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!numbers[i])
        throw Error(
            "does not say its version: API_MAJOR_VERSION and FRVT_STRUCTS_MAJOR_VERSION of NIST's "
            "headers, which have to be compiled into it and visible");
      std::uint16_t number = 0;
      std::memcpy(&number, numbers[i], sizeof(number));
      library.versions[i] = number;
    }
    const auto& [major, minor, structs, lesser] = library.versions;
    if (major < 4 || major > 6 || (structs != 1 && structs != 3))
      throw Error(fmt::format(
          "is of interface {}.{} with structures {}.{}; known are interfaces 4, 5 and 6 with "
          "structures 1 and 3. Build it with NIST's present headers",
          major, minor, structs, lesser));
    structs == 1 ? take_version<frte::Image<1>>(library, function)
                 : take_version<frte::Image<3>>(library, function);
    return library;
  }
  throw Error(
      "has no FRVT_11::Interface::getImplementation(): it is not a library of NIST's FRTE 1:1");
}

// The words of the interface for its return codes.
std::string code_text(int code) {
  static constexpr std::array<const char*, 18> kNames = {"Success",
                                                         "UnknownError",
                                                         "ConfigError",
                                                         "RefuseInput",
                                                         "ExtractError",
                                                         "ParseError",
                                                         "TemplateCreationError",
                                                         "VerifTemplateError",
                                                         "FaceDetectionError",
                                                         "NumDataError",
                                                         "TemplateFormatError",
                                                         "EnrollDirError",
                                                         "InputLocationError",
                                                         "MemoryError",
                                                         "MatchError",
                                                         "QualityAssessmentError",
                                                         "NotImplemented",
                                                         "VendorError"};
  const auto n = static_cast<std::size_t>(code);
  return n < kNames.size() ? fmt::format("{} ({})", kNames[n], code) : std::to_string(code);
}

// Both ends of the conversation; whoever cannot be talked to has gone, and so ends the process.
class Channel {
 public:
  Channel(int in, int out) : in_(in), out_(out) {}

  void read(void* to, std::size_t size) {
    auto* at = static_cast<char*>(to);
    while (size > 0) {
      const ssize_t done = ::read(in_, at, size);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) _exit(0);
      at += done;
      size -= static_cast<std::size_t>(done);
    }
  }
  template <class T>
  T number() {
    T value{};
    read(&value, sizeof(value));
    return value;
  }
  void write(const void* from, std::size_t size) {
    auto* at = static_cast<const char*>(from);
    while (size > 0) {
      const ssize_t done = ::write(out_, at, size);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) _exit(0);
      at += done;
      size -= static_cast<std::size_t>(done);
    }
  }
  void begin_answer(std::uint8_t outcome, std::uint64_t size) {
    char head[9] = {static_cast<char>(outcome)};
    std::memcpy(head + 1, &size, sizeof(size));
    write(head, sizeof(head));
  }
  void answer(std::uint8_t outcome, std::string_view bytes) {
    begin_answer(outcome, bytes.size());
    write(bytes.data(), bytes.size());
  }

 private:
  int in_, out_;
};

constexpr std::int32_t kFailed = std::numeric_limits<std::int32_t>::min();

template <class T>
void add(std::string& bytes, const T& number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

// What is thrown in `work`, by strangers' code too, as a sentence; nothing where it goes well.
template <class Work>
std::optional<std::string> failure_of(std::uint64_t memory, Work&& work) {
  try {
    work();
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return fmt::format("takes more memory than {} MiB; give it more: --set memory=BYTES",
                       memory >> 20);
  } catch (const Error& e) {
    return e.what();
  } catch (const std::exception& e) {
    return fmt::format("throws an exception: {}", std::string(e.what()).substr(0, 500));
  } catch (...) {
    return "throws an exception of its own";
  }
}

[[noreturn]] void end_with(Channel& channel, const std::string& failure) {
  channel.answer(1, failure);
  _exit(0);
}

void answer_template(Channel& channel, const Library& library) {
  const auto role = static_cast<Role>(channel.number<std::uint32_t>());
  std::vector<Library::Pixels> photos(channel.number<std::uint32_t>());
  for (auto& photo : photos) {
    photo.width = channel.number<std::uint32_t>();
    photo.height = channel.number<std::uint32_t>();
  }
  for (auto& photo : photos) {
    const std::size_t size = std::size_t{3} * photo.width * photo.height;
    photo.data = {new std::uint8_t[size], std::default_delete<std::uint8_t[]>()};
    channel.read(photo.data.get(), size);
  }
  Bytes made;
  const Status status = library.create(photos, role, made);
  std::string answer;
  add(answer, std::int32_t{status.code});
  add(answer, std::uint64_t{made.size()});
  answer.append(made.begin(), made.end());
  answer += status.info.substr(0, 1024);
  channel.answer(0, answer);
}

void answer_comparisons(Channel& channel, const Library& library, std::uint64_t memory) {
  std::vector<Bytes> templates(channel.number<std::uint32_t>());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(channel.number<std::uint32_t>());
  for (Bytes& bytes : templates) bytes.resize(channel.number<std::uint64_t>());
  for (auto& [enrolment, verification] : pairs) {
    enrolment = channel.number<std::uint32_t>();
    verification = channel.number<std::uint32_t>();
  }
  for (Bytes& bytes : templates) channel.read(bytes.data(), bytes.size());
  channel.begin_answer(0, 12 * pairs.size());
  for (const auto& [enrolment, verification] : pairs) {
    double similarity = -1;
    Status status;
    const auto failure = failure_of(memory, [&] {
      status = library.match(templates.at(verification), templates.at(enrolment), similarity);
    });
    if (failure) status.code = kFailed;
    std::string answer;
    add(answer, std::int32_t{status.code});
    add(answer, similarity);
    channel.write(answer.data(), answer.size());
    if (failure) end_with(channel, *failure);
  }
}

}  // namespace

void serve_frte_library(const fs::path& path, const fs::path& configuration, std::uint64_t memory) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // it ends with its parent
  Channel channel(dup(STDIN_FILENO), dup(STDOUT_FILENO));
  const int nothing = open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, standard);

  Library library;
  auto failure = failure_of(memory, [&] {
    confine_foreign_code(memory);
    library = open_library(path);
    const Status status = library.initialize(configuration.string());
    if (status.code != 0)
      throw Error(fmt::format("its initialize(\"{}\") returned {}{}{}", configuration.string(),
                              code_text(status.code), status.info.empty() ? "" : ": ",
                              status.info.substr(0, 500)));
  });
  if (failure) end_with(channel, *failure);
  channel.answer(0, {reinterpret_cast<const char*>(library.versions.data()), 16});
  for (;;) {
    const auto kind = channel.number<std::uint32_t>();
    failure = failure_of(memory, [&] {
      if (kind == 1) return answer_template(channel, library);
      if (kind == 2) return answer_comparisons(channel, library, memory);
      channel.answer(0, refused_calls());
    });
    if (failure) end_with(channel, *failure);
  }
}

}  // namespace facebench

// A library of NIST's FRTE 1:1 for tests: it correlates small grey pictures. Compiled with
// -DVERSION=4, 5 or 6 of the interface, whose declarations are written here in our own words
// (github.com/usnistgov/frvt, 11/src/include/frvt11.h). What it does wrong is the first word of the
// file "fault" in the folder of its configuration.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace FRVT {
struct Image {
  std::uint16_t width, height;
  std::uint8_t depth;
  std::shared_ptr<std::uint8_t> data;
  int description;
#if VERSION > 4
  int illuminant, iris;
#endif
};
enum class TemplateRole { Enrollment_11, Verification_11 };
enum class ReturnCode { Success, UnknownError, ConfigError, RefuseInput, ExtractError };
struct ReturnStatus {
  ReturnCode code;
  std::string info;
  ReturnStatus(ReturnCode c = ReturnCode::Success, std::string text = "") : code(c), info(text) {}
};
struct EyePair {
  bool left, right;
  std::uint16_t xleft, yleft, xright, yright;
};
struct IrisAnnulus {
  std::uint16_t x, y, pupil, limbus;
};
std::uint16_t FRVT_STRUCTS_MAJOR_VERSION = VERSION > 4 ? 3 : 1;
std::uint16_t FRVT_STRUCTS_MINOR_VERSION = 1;
}  // namespace FRVT

namespace FRVT_11 {
using namespace FRVT;
using Bytes = std::vector<std::uint8_t>;
class Interface {
 public:
  virtual ~Interface() {}
  virtual ReturnStatus initialize(const std::string&) = 0;
  virtual ReturnStatus createTemplate(const std::vector<Image>&, TemplateRole, Bytes&,
                                      std::vector<EyePair>&) = 0;
#if VERSION == 6
  virtual ReturnStatus createIrisTemplate(const std::vector<Image>&, TemplateRole, Bytes&,
                                          std::vector<IrisAnnulus>&) = 0;
#endif
#if VERSION > 4
  virtual ReturnStatus createTemplate(const Image&, TemplateRole, std::vector<Bytes>&,
                                      std::vector<EyePair>&) = 0;
#endif
  virtual ReturnStatus matchTemplates(const Bytes&, const Bytes&, double&) = 0;
  static std::shared_ptr<Interface> getImplementation();
};
std::uint16_t API_MAJOR_VERSION = VERSION > 6 ? 9 : VERSION;
std::uint16_t API_MINOR_VERSION = 0;

constexpr int kSide = 12;

class Correlation : public Interface {
 public:
  ReturnStatus initialize(const std::string& folder) override {
    std::ifstream(folder + "/fault") >> fault_ >> argument_;
    if (fault_ == "initialize") return {ReturnCode::ConfigError, "no model file"};
    if (fault_ == "hang_at_once")
      for (;;) usleep(1000);
    return {};
  }

  ReturnStatus createTemplate(const std::vector<Image>& faces, TemplateRole role, Bytes& made,
                              std::vector<EyePair>& eyes) override {
    if (const ReturnStatus status = fail(faces); status.code != ReturnCode::Success) return status;
    std::vector<float> mean(kSide * kSide + 1);
    mean.back() = static_cast<float>(role == TemplateRole::Verification_11);
    std::vector<float> count(mean.size());
    for (const Image& face : faces) {
      eyes.push_back({true, true, 1, 2, 3, 4});
      for (int i = 0; i < face.width * face.height; ++i) {
        const int x = i % face.width * kSide / face.width, y = i / face.width * kSide / face.height;
        for (int c = 0; c < 3; ++c) mean[y * kSide + x] += face.data.get()[3 * i + c];
        ++count[y * kSide + x];
      }
    }
    for (int i = 0; i < kSide * kSide; ++i) mean[i] /= std::max(count[i], 1.0f);
    made.resize(mean.size() * sizeof(float));
    std::memcpy(made.data(), mean.data(), made.size());
    return {};
  }
#if VERSION == 6
  ReturnStatus createIrisTemplate(const std::vector<Image>&, TemplateRole, Bytes&,
                                  std::vector<IrisAnnulus>&) override {
    std::abort();  // never called
  }
#endif
#if VERSION > 4
  ReturnStatus createTemplate(const Image&, TemplateRole, std::vector<Bytes>&,
                              std::vector<EyePair>&) override {
    std::abort();
  }
#endif
  ReturnStatus matchTemplates(const Bytes& verification, const Bytes& enrolment,
                              double& score) override {
    const auto *a = reinterpret_cast<const float*>(verification.data()),
               *b = reinterpret_cast<const float*>(enrolment.data());
    constexpr int n = kSide * kSide;
    if (a[n] != 1 || b[n] != 0) std::abort();  // the roles are not those of the arguments
    ++compared_;
    if (fault_ == "nan") score = std::numeric_limits<double>::quiet_NaN();
    if (fault_ == "nan") return {};
    if (fault_ == "match") return ReturnStatus(ReturnCode::UnknownError);
    if (fault_ == "match_crash" && compared_ == 3) std::raise(SIGSEGV);
    if (fault_ == "match_throw") throw 7;
    double sa = 0, sb = 0, ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < n; ++i) sa += a[i] / n, sb += b[i] / n;
    for (int i = 0; i < n; ++i) {
      ab += (a[i] - sa) * (b[i] - sb);
      aa += (a[i] - sa) * (a[i] - sa);
      bb += (b[i] - sb) * (b[i] - sb);
    }
    score = 1 + ab / std::sqrt(aa * bb + 1e-12);
    return {};
  }

 private:
  ReturnStatus fail(const std::vector<Image>& faces) {
    if (fault_ == "crash") std::raise(SIGSEGV);
    if (fault_ == "abort") std::abort();
    if (fault_ == "exit") exit(0);
    if (fault_ == "hang")
      for (;;) {
      }
    if (fault_ == "throw") throw std::runtime_error("no such \x1b[31mlayer");
    if (fault_ == "prints") {
      std::printf("%s\n", std::string(1 << 20, 'x').c_str());
      std::fprintf(stderr, "an error\n");
      std::fflush(stdout);
    }
    if (fault_ == "memory") {
      std::vector<char*> kept;
      for (;;) kept.push_back(new char[1 << 26]);
    }
    if (fault_ == "large") throw std::bad_alloc();
    // What is refused: it goes on where it is, and stops where it is not.
    if (fault_ == "write" && open(argument_.c_str(), O_CREAT | O_WRONLY, 0600) >= 0) std::abort();
    if (fault_ == "append" && std::ofstream(argument_, std::ios::app)) std::abort();
    if (fault_ == "remove" && unlink(argument_.c_str()) == 0) std::abort();
    if (fault_ == "folder" && mkdir(argument_.c_str(), 0700) == 0) std::abort();
    if (fault_ == "socket" && socket(AF_INET, SOCK_STREAM, 0) >= 0) std::abort();
    if (fault_ == "program" && std::system("true") == 0) std::abort();
    if (fault_ == "fork" && fork() >= 0) std::abort();
    if (fault_ == "signal" && kill(getppid(), SIGTERM) == 0) std::abort();
    if (fault_ == "environment" && std::getenv("HOME")) std::abort();
    if (fault_ == "thread") std::thread([this] { fault_ = "none"; }).join();
    if (fault_ == "no_face" && faces[0].data.get()[0] % 2 == 0)
      return ReturnStatus(static_cast<ReturnCode>(8));
    if (fault_ == "refuse") return ReturnStatus(ReturnCode::RefuseInput, "too small");
    return {};
  }

  std::string fault_, argument_;
  int compared_ = 0;
};

#if !defined(WITHOUT_SYMBOL)
std::shared_ptr<Interface> Interface::getImplementation() {
  return std::make_shared<Correlation>();
}
#endif
}  // namespace FRVT_11

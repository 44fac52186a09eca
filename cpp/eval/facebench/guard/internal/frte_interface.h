#pragma once

// How libraries of NIST's FRTE 1:1 (until 2023 FRVT 1:1) are called: the functions of their class
// `Interface` in the order of its table, and the structures that these take. Written after the
// headers frvt11.h of the versions 4.0, 5.1 and 6.0 and frvt_structs.h 1.0 to 3.1, which NIST has
// put into the public domain (github.com/usnistgov/frvt, 11/src/include and common/src/include).
// Names are ours: only order and layout matter here.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace facebench::frte {

using Bytes = std::vector<std::uint8_t>;

enum class Role : int { enrolment = 0, verification = 1 };

struct Status {
  int code = 1;      // 0 is success
  std::string info;  // further words, often none
};

struct EyePair {
  bool left_is_set = false, right_is_set = false;
  std::uint16_t left_x = 0, left_y = 0, right_x = 0, right_y = 0;
};

struct Iris {
  std::uint16_t x = 0, y = 0, pupil_radius = 0, iris_radius = 0;
};

// One label (how the photograph was taken) in structures 1.x; three (that, the light, which iris)
// in 3.x. All 0: unknown, not stated.
template <int Labels>
struct Image {
  std::uint16_t width = 0, height = 0;
  std::uint8_t depth = 24;             // bits of a pixel
  std::shared_ptr<std::uint8_t> data;  // rows of R, G, B
  int labels[Labels] = {};
};

// Version 4.
template <class Photo>
class Interface4 {
 public:
  virtual ~Interface4() = default;
  virtual Status initialize(const std::string& folder) = 0;
  virtual Status create(const std::vector<Photo>& photos, Role role, Bytes& made,
                        std::vector<EyePair>& eyes) = 0;
  virtual Status match(const Bytes& verification, const Bytes& enrolment, double& similarity) = 0;
};

// Version 5 adds a template for each person of one photograph, which is not called here.
template <class Photo>
class Interface5 {
 public:
  virtual ~Interface5() = default;
  virtual Status initialize(const std::string& folder) = 0;
  virtual Status create(const std::vector<Photo>& photos, Role role, Bytes& made,
                        std::vector<EyePair>& eyes) = 0;
  virtual Status create_of_each(const Photo& photo, Role role, std::vector<Bytes>& made,
                                std::vector<EyePair>& eyes) = 0;
  virtual Status match(const Bytes& verification, const Bytes& enrolment, double& similarity) = 0;
};

// Version 6 adds irises, which are not called here.
template <class Photo>
class Interface6 {
 public:
  virtual ~Interface6() = default;
  virtual Status initialize(const std::string& folder) = 0;
  virtual Status create(const std::vector<Photo>& photos, Role role, Bytes& made,
                        std::vector<EyePair>& eyes) = 0;
  virtual Status create_of_irises(const std::vector<Photo>& photos, Role role, Bytes& made,
                                  std::vector<Iris>& irises) = 0;
  virtual Status create_of_each(const Photo& photo, Role role, std::vector<Bytes>& made,
                                std::vector<EyePair>& eyes) = 0;
  virtual Status match(const Bytes& verification, const Bytes& enrolment, double& similarity) = 0;
};

}  // namespace facebench::frte

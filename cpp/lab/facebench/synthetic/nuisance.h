#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "facebench/core/options_fwd.h"
#include "facebench/core/random.h"
#include "facebench/core/registry.h"

namespace facebench {

enum class Disguise : std::uint8_t { none, glasses, sunglasses, mask, scarf, hat };
std::string_view disguise_name(Disguise disguise);

// The two groups of the age protocols.
enum class AgeGroup : std::uint8_t { young, mature };
std::string_view age_group_name(AgeGroup group);

// The three groups of the image-quality protocols.
enum class QualityGroup : std::uint8_t { low, middle, high };
std::string_view quality_group_name(QualityGroup group);

// Everything that differs between two images of one person.
struct FaceNuisance {
  // Head pose in degrees: positive yaw turns the nose to the right of the image, positive pitch
  // raises the chin, positive roll turns clockwise.
  double yaw = 0, pitch = 0, roll = 0;
  double light_azimuth = 20;    // degrees from the camera's axis, positive = from the right
  double light_elevation = 30;  // degrees above the horizon
  double key_light = 0.8, ambient_light = 0.35;
  double exposure = 1.0, warmth = 0;
  double smile = 0;       // -0.5 (down) to 1
  double mouth_open = 0;  // 0 to 1
  double brow_raise = 0;  // -1 (frown) to 1
  double eyelids = 0;     // 0 open to 1 closed
  double gaze_x = 0, gaze_y = 0;
  double age = 0.3;  // 0 child, 0.3 adult, 1 old
  std::string disguise = "none";
  double face_size = 0.22;                 // half the head's width in parts of the image's width
  double center_x = 0.5, center_y = 0.47;  // the point between the eyes, in parts of the image
  std::int64_t background_seed = 0;        // background and clothing
  std::int64_t disguise_seed = 0;          // shape and colour of the disguise
  double blur = 0.5;                       // standard deviation in pixels of a 160-pixel image
  double resolution = 1.0;                 // scale to which detail was lost, (0, 1]
  double noise = 2;                        // standard deviation in 8-bit steps
  std::int64_t noise_seed = 0;
  std::int64_t jpeg_quality = 90;

  static void describe(OptionsBuilder<FaceNuisance>& o);
};

Disguise disguise_of(const FaceNuisance& nuisance);
AgeGroup age_group_of(const FaceNuisance& nuisance);
// 100 (perfect) to 0, from blur, resolution, noise, compression, pose and covering; the groups are
// cut at 30 and 60 as in the IJB-A quality protocol of Guo and Zhang (FG 2018).
double quality_score(const FaceNuisance& nuisance);
QualityGroup quality_group(double score);

// One way of photographing people.
struct NuisanceKind {
  std::string name;
  std::string doc;
  void (*change)(FaceNuisance&, Random&);  // on top of the ordinary variation
};
const Table<NuisanceKind>& nuisance_kinds();

// A photograph of the given kind ("frontal", "wild", "mask", ...), drawn from `random`. Throws
// std::invalid_argument with "did you mean".
FaceNuisance make_nuisance(std::string_view kind, Random& random);

}  // namespace facebench

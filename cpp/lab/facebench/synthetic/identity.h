#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace facebench {

// What makes one synthetic person different from another. Each trait is a standard normal number
// times the spread, cut at +-2.2; 0 is the average face.
enum class FaceTrait : std::uint8_t {
  masculinity,
  head_width,
  face_length,
  jaw_width,
  chin_width,
  chin_projection,
  skull_height,
  forehead,
  cheeks,
  fatness,
  eye_distance,
  eye_size,
  eye_opening,
  eye_tilt,
  eye_depth,
  eye_bags,
  eyelid_crease,
  eye_height,
  brow_height,
  brow_thickness,
  brow_arch,
  brow_tilt,
  brow_length,
  brow_ridge,
  nose_length,
  nose_width,
  nose_projection,
  nose_bridge,
  nose_bridge_width,
  nose_tip,
  mouth_width,
  mouth_height,
  upper_lip,
  lower_lip,
  cupid_bow,
  philtrum,
  asymmetry,
  mouth_asymmetry,
  ears,
  skin_tone,
  skin_redness,
  freckles,
  lip_color,
  iris_hue,
  iris_lightness,
  hair_lightness,
  hair_redness,
  hair_length,
  hair_volume,
  hairline,
  widows_peak,
  greying,
  beard,
  count
};

inline constexpr int kFaceTraits = static_cast<int>(FaceTrait::count);

// The names of all traits, in the order of the enumeration.
const std::vector<std::string>& face_trait_names();

// A synthetic person: the traits, and a seed for details that no trait describes (moles, the grain
// of skin and hair).
struct FaceIdentity {
  std::int64_t index = 0;
  std::uint32_t texture_seed = 0;
  std::array<float, kFaceTraits> traits{};

  float operator[](FaceTrait trait) const { return traits[static_cast<std::size_t>(trait)]; }
};

// Person number `index` (>= 0) of the population `seed`. `spread` in [0, 2] scales the differences
// between people: 0 makes everybody the average face, 1 makes recognition easy; 0.6 leaves room
// between good and bad systems. Throws std::invalid_argument outside these ranges.
FaceIdentity make_identity(std::uint64_t seed, std::int64_t index, double spread = 0.6);

}  // namespace facebench

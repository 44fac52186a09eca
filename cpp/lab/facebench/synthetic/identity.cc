#include "facebench/synthetic/identity.h"

#include <algorithm>
#include <stdexcept>

#include "facebench/core/random.h"

namespace facebench {

const std::vector<std::string>& face_trait_names() {
  static const std::vector<std::string> names = {"masculinity",
                                                 "head_width",
                                                 "face_length",
                                                 "jaw_width",
                                                 "chin_width",
                                                 "chin_projection",
                                                 "skull_height",
                                                 "forehead",
                                                 "cheeks",
                                                 "fatness",
                                                 "eye_distance",
                                                 "eye_size",
                                                 "eye_opening",
                                                 "eye_tilt",
                                                 "eye_depth",
                                                 "eye_bags",
                                                 "eyelid_crease",
                                                 "eye_height",
                                                 "brow_height",
                                                 "brow_thickness",
                                                 "brow_arch",
                                                 "brow_tilt",
                                                 "brow_length",
                                                 "brow_ridge",
                                                 "nose_length",
                                                 "nose_width",
                                                 "nose_projection",
                                                 "nose_bridge",
                                                 "nose_bridge_width",
                                                 "nose_tip",
                                                 "mouth_width",
                                                 "mouth_height",
                                                 "upper_lip",
                                                 "lower_lip",
                                                 "cupid_bow",
                                                 "philtrum",
                                                 "asymmetry",
                                                 "mouth_asymmetry",
                                                 "ears",
                                                 "skin_tone",
                                                 "skin_redness",
                                                 "freckles",
                                                 "lip_color",
                                                 "iris_hue",
                                                 "iris_lightness",
                                                 "hair_lightness",
                                                 "hair_redness",
                                                 "hair_length",
                                                 "hair_volume",
                                                 "hairline",
                                                 "widows_peak",
                                                 "greying",
                                                 "beard"};
  return names;
}

FaceIdentity make_identity(std::uint64_t seed, std::int64_t index, double spread) {
  if (index < 0) throw std::invalid_argument("make_identity: index must not be negative");
  if (!(spread >= 0 && spread <= 2))
    throw std::invalid_argument("make_identity: spread must lie in [0, 2]");
  Random random(seed, "synthetic.identity", {static_cast<std::uint64_t>(index)});
  FaceIdentity identity;
  identity.index = index;
  identity.texture_seed = random.next_u32();
  for (float& trait : identity.traits)
    trait = static_cast<float>(std::clamp(random.normal() * spread, -2.2, 2.2));
  return identity;
}

}  // namespace facebench

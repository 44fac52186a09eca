#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "facebench/core/registry.h"
#include "facebench/detection/face.h"

namespace facebench {

// Which of several faces is the subject. The first of equal faces wins.
//   largest          largest box, not clipped to the image (facenet-pytorch's default)
//   center_weighted  largest area - 2 d^2, d the distance of the box's centre from the image's
//                    (width / 2, height / 2) (facenet's align script)
//   nearest_center   smallest d
//   best_score       highest score
struct SelectionRule {
  std::string name;
  std::string doc;
  // How much a face deserves to be taken.
  std::function<double(const Face&, int width, int height)> merit;
};
const Table<SelectionRule>& selection_rules();

// The index of the face to take, or nothing where there is none. Throws std::invalid_argument for
// an unknown rule (did you mean).
std::optional<std::size_t> select_face(std::span<const Face> faces, int width, int height,
                                       std::string_view rule);

}  // namespace facebench

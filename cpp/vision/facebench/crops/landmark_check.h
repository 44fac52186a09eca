#pragma once

#include <string_view>

#include "facebench/detection/face.h"

namespace facebench {

// What seems wrong with the five landmarks of a face.
enum class LandmarkDoubt {
  none,
  left_right,   // left and right exchanged, or mirrored
  x_y,          // x and y exchanged
  upside_down,  // y counted from below
  nose_first,   // the nose before the eyes
  mouth_first,  // the mouth before the eyes
  no_face,      // none of these: not as a face in any order that is known
  box           // as a face, but not where the box is, or of another size
};

// As a sentence ends: "left and right are exchanged, or mirrored"; empty for none.
std::string_view landmark_doubt_text(LandmarkDoubt doubt);

// What is left of the distances to a template after the similarity that fits best, as a root mean
// square, tells landmarks of another convention. They are doubtful beyond 0.6 of the template's own
// spread (0.40 of the distance between the eyes of ArcFace's), and where their mean leaves the
// middle of the box by more than 0.75 of its side, or their spread is less than 0.05 or more than 1
// of it. Of 9,095 faces that MTCNN found in LFW the most are 0.36 (profile faces) and 0.52, and
// spreads are 0.18 to 0.38; every exchange leaves 0.40 at least, of frontal faces 0.5 to 0.66.
// docs/detection.md has the table. Reads `face.landmarks` and `face.box`.
LandmarkDoubt doubt_of_landmarks(const Face& face, const Landmarks& target);

}  // namespace facebench

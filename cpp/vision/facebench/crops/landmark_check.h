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
  box,          // as a face, but not where the box is, or of another size
  turned,       // as a face that lies on its side or is upside down
  other_kind    // the points of the other LandmarkKind
};

// As a sentence ends: "left and right are exchanged, or mirrored"; empty for none.
std::string_view landmark_doubt_text(LandmarkDoubt doubt);

// A template of an aligned crop, and what its points are.
struct LandmarkTemplate {
  Landmarks points;
  LandmarkKind kind;
};

// What is left of the distances to a template after the similarity that fits best, as a root mean
// square, tells landmarks of another convention. They are doubtful beyond 0.6 of the template's own
// spread (0.40 of the distance between the eyes of ArcFace's), where that similarity turns them by
// more than 60 degrees, where their mean leaves the middle of the box by more than 0.6 of its width
// or 0.35 of its height, and where their spread is not between 0.15 and 0.45 of the box's side
// (eyes_and_mouth) or 0.12 and 0.4 (eye_corners). Of 9,095 faces that MTCNN found in LFW the most
// are 0.36 (profile faces), 44 degrees, 0.52 and 0.22, and spreads are 0.18 to 0.38; of 6,897 in
// boxes of HOG with dlib's points 0.37 of the spread, 41 degrees, 0.14 and 0.26, and 0.14 to 0.32.
// docs/detection.md has the table. `other`, a template of the other kind, tells its points. Reads
// `face.landmarks` and `face.box`.
LandmarkDoubt doubt_of_landmarks(const Face& face, const LandmarkTemplate& target,
                                 const Landmarks& other);

}  // namespace facebench

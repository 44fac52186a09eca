#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/options_fwd.h"
#include "facebench/detection/detector.h"
#include "facebench/io/sample_status.h"

namespace facebench {

// Faces that somebody else found, looked up by sample id. A row of the file is one face; several
// rows may share a name. Columns, by name, in any order; others are ignored:
//   name                        the sample id
//   x0 y0 x1 y1, or x y width height    the box; where absent, the extent of the landmarks
//   score                       1 where absent
//   left_eye_x left_eye_y right_eye_x right_eye_y nose_x nose_y
//   left_mouth_x left_mouth_y right_mouth_x right_mouth_y   all or none
//   status                      what is neither empty nor "ok" is not a face; its other cells are
//   not read
// A row whose landmark cells are all empty has none. A sample that no row names has no face.
struct GivenOptions {
  std::string file;
  std::vector<std::string> columns;
  std::vector<std::string> rename;
  std::string separator = "comma";
  std::string match = "exact";
  double scale = 1;

  static void describe(OptionsBuilder<GivenOptions>& o);
};

// Reads the whole file. Throws Error with file and line for what is malformed, a number that is not
// finite, a box without area.
std::unique_ptr<Detector> make_given(const GivenOptions& options);

// What a file of faces looks like when this library writes it, so that `given` reads it again.
std::string face_csv_header();
std::string face_csv_record(std::string_view name, const Face& face);
// {"box": [x0, y0, x1, y1], "landmarks": five times [x, y], or null, "score": ...}, each number the
// shortest that reads back as the same float. face_of_json: the same face again; throws what the
// JSON library does for anything else.
Json face_json(const Face& face);
Face face_of_json(const Json& json);
// A sample without a face: its name, its status, and empty cells.
std::string faceless_csv_record(std::string_view name, SampleStatus status);

}  // namespace facebench

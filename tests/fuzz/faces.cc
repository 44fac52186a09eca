// A file of faces, as the detector `given` reads it: with names of columns or without, with other
// names, and with blanks between cells.
// Sources: cpp/vision/facebench/detection/given.cc
// Not of the reader: face_csv_header face_csv_record faceless_csv_record
#include "facebench/detection/given.h"

#include <string>
#include <vector>

#include "ask.h"
#include "facebench/images/image.h"
#include "fuzz.h"
#include "memory_file.h"

namespace {

void read_faces(facebench::GivenOptions options) {
  const auto detector = facebench::make_given(options);
  const std::vector<std::string> samples = {"a.jpg", "b.png", "x/c#1.jpg"};
  ask([&] { detector->check_samples(samples); });
  const facebench::Image image(8, 8, facebench::ColorOrder::rgb);
  for (const std::string& sample : samples) detector->detect(image, sample);
  detector->description();
}

}  // namespace

FACEBENCH_FUZZ_TARGET(faces, bytes) {
  const MemoryFile file(bytes);
  const std::string path = file.path().string();
  ask([&] { read_faces({.file = path, .rename = {"name=FILE", "x0=X", "y0=Y"}}); });
  ask([&] { read_faces({.file = path, .separator = "blanks", .match = "stem", .scale = 0.5}); });
  ask([&] {
    read_faces(
        {.file = path, .columns = {"name", "x", "y", "width", "height"}, .separator = "tab"});
  });
  ask([&] {
    read_faces({.file = path, .columns = {"name", "x0", "y0", "x1", "y1"}, .separator = "blanks"});
  });
  read_faces({.file = path});
}

#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/registry.h"
#include "facebench/detection/detector.h"
#include "facebench/detection/face.h"
#include "facebench/images/decode.h"
#include "facebench/images/image_location.h"
#include "facebench/io/sample_status.h"

namespace facebench {

struct ImageFile {
  std::string name;               // the sample id
  ImageLocation image;            // where it lies
  std::filesystem::path drawing;  // where its faces are drawn; empty = nowhere
};

struct ImageFiles {
  std::vector<ImageFile> files;
  std::vector<std::filesystem::path> skipped;  // in folders, and no images
};

// The images in a list of files and folders. A file counts as an image, whatever its name. A folder
// stands for all images below it (list_images), in natural order, an archive (io/archive.h) for its
// entries in their order, whose names follow the archive's. Names are the paths as given, or
// relative to the folder if a single folder is given. With `draw`, the drawing of a file is
// draw/FILENAME, and those of a folder have the same folder structure below draw (below
// draw/FOLDERNAME if several paths are given). A file without the extension of an image gets .png.
// Images below `draw` itself are left out. Throws Error for a folder that cannot be read or has no
// image, std::invalid_argument where two drawings would get one path or a drawing that of its
// image.
ImageFiles list_image_files(std::span<const std::filesystem::path> paths,
                            const std::filesystem::path& draw = {}, const Job& job = {});

// The result for one file. A file that cannot be read is a row with a status, not an exception.
struct DetectedFile {
  std::string name;
  SampleStatus status = SampleStatus::ok;  // ok, no_face, unreadable or missing
  std::string reason;                      // where the status is unreadable or missing
  std::vector<Face> faces;                 // best first
  int orientation = 1;                     // what its Exif tag asks for: exif_orientation()

  bool operator==(const DetectedFile&) const = default;
};

// Reads each file (as rgb; turned as its Exif tag says where asked to), finds its faces and draws
// them, over detector.callers(job) threads; few images are in memory at a time. `take` gets the
// results in the order of the files, one at a time, on any thread. Throws Error where a drawing
// cannot be written, and what `take` throws.
void detect_files(const Detector& detector, std::span<const ImageFile> files,
                  const std::function<void(DetectedFile&&)>& take, const Job& job = {},
                  const DecodeOptions& decode = {});
// The results as a list.
std::vector<DetectedFile> detect_files(const Detector& detector, std::span<const ImageFile> files,
                                       const Job& job = {}, const DecodeOptions& decode = {});

struct DetectionSummary {
  std::int64_t images = 0;
  std::int64_t faces = 0;
  std::int64_t tagged = 0;  // images whose Exif tag asks for them to be turned
  std::array<std::int64_t, kSampleStatusCount> counts{};  // by status
  std::vector<DetectedFile> failures;                     // what is not ok, in order
};

// How results are written. csv: face_csv_header(), one row a face, and for a file that has none one
// row with its status and empty cells; the detector `given` reads it. json: a list of objects
// {"name", "status", "reason" (where there is one), "faces": [{"box": [x0, y0, x1, y1], "score",
// "landmarks": [[x, y] x 5] or null}]}, one a line.
struct FaceFormat {
  std::string name;
  std::string doc;
  std::string_view begin, between, end;
  std::function<std::string(const DetectedFile&)> record;
};
const Table<FaceFormat>& face_formats();

// detect_files() into a file that appears only when it is complete. Rows are written as they come.
// Throws as detect_files() does, std::invalid_argument for an unknown format (did you mean), and
// Error where the file cannot be written.
DetectionSummary detect_to_file(const Detector& detector, std::span<const ImageFile> files,
                                const std::filesystem::path& out, std::string_view format,
                                const Job& job = {}, const DecodeOptions& decode = {});

}  // namespace facebench

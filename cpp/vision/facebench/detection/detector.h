#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/registry.h"
#include "facebench/detection/face.h"
#include "facebench/images/image.h"
#include "facebench/io/json.h"

namespace facebench {

// Finds the faces of an image. Thread-safe once made: any number of threads may call detect() on
// one object. The answer depends on the image (and the sample id) alone.
class Detector {
 public:
  virtual ~Detector() = default;

  // All faces, best score first; empty where there is none. `sample_id` is the sample's name in its
  // data set (the path relative to the root); only detectors that look faces up by name use it. Any
  // colour order. Throws std::invalid_argument for an empty image.
  std::vector<Face> detect(const Image& image, std::string_view sample_id = {}) const;

  // detect() on every image; the answers are those of single calls. `sample_ids` is empty or as
  // long as `images`. On the processor images are the unit of parallelism, over job.workers()
  // threads.
  virtual std::vector<std::vector<Face>> detect_all(std::span<const Image> images,
                                                    std::span<const std::string> sample_ids = {},
                                                    const Job& job = {}) const;
  // How many threads should call detect() at once: a device answers what they ask together.
  virtual int callers(const Job& job) const { return job.workers(); }

  // Throws Error if none of these samples can have a face: if faces come from a file that names
  // none of them. Called once, before a data set is processed.
  virtual void check_samples(std::span<const std::string> /*sample_ids*/) const {}

  // {"detector": NAME, "options": {...}, ...}: all that decides the result, for manifests.
  virtual Json description() const = 0;
  // Whether description() decides the faces. A function of Python's does not: what it found is not
  // kept for later runs.
  virtual bool is_described() const { return true; }

 protected:
  // Throws std::invalid_argument unless there are no ids, or as many as images.
  static void check_sample_ids(std::span<const Image> images,
                               std::span<const std::string> sample_ids);

 private:
  // `image` is rgb.
  virtual std::vector<Face> find(const Image& image, std::string_view sample_id) const = 0;
};

struct DetectorEntry {
  std::string name;
  std::string doc;
  const OptionsSchema* schema;  // null: of a detector that is not in the table; options are texts
  std::function<std::unique_ptr<Detector>(const Json& options)> make;
  LandmarkKind landmarks = LandmarkKind::eyes_and_mouth;  // that its faces can have
};
// mtcnn, hog, dlib, dlib_cnn, given.
const Table<DetectorEntry>& detectors();

// Detectors that are not in the table, by name: what the Python package brings. It throws
// std::invalid_argument for a name that it does not know.
using DetectorFinder = std::function<DetectorEntry(std::string_view name)>;
void set_detector_finder(DetectorFinder finder);

// The entry of the table, else of the finder. Throws std::invalid_argument (did you mean).
DetectorEntry detector_named(std::string_view name);

// The name of a detector that a file states, which is data: throws Error where it names code that
// would be imported or a file that would be opened. `who` states it, for the message: "model".
void check_stated_detector(std::string_view name, std::string_view who);

// Throws std::invalid_argument for an unknown name or option (did you mean) or a value out of
// range, Error where a file that it needs is missing or damaged.
std::unique_ptr<Detector> make_detector(std::string_view name,
                                        const Json& options = Json::object());

// A copy of the image (as rgb) with each face's box and landmarks drawn on it; the face `selected`
// (an index, or -1) in another colour.
Image draw_faces(const Image& image, std::span<const Face> faces, int selected = -1);

}  // namespace facebench

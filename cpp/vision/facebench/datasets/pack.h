#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/core/shard.h"
#include "facebench/crops/crop.h"
#include "facebench/datasets/dataset.h"
#include "facebench/datasets/image_source.h"
#include "facebench/detection/detector.h"
#include "facebench/io/file.h"
#include "facebench/io/json.h"
#include "facebench/io/sample_status.h"

namespace facebench {

struct PackOptions {
  std::int64_t max_pixels = 200'000'000;
  bool exif_orientation = false;

  static void describe(OptionsBuilder<PackOptions>& o);
};

struct PackFailure {
  std::string id;
  SampleStatus status = SampleStatus::ok;
  std::string reason;
};

// Faces that reach beyond their image. Where there are many, the photographs are tight, and a
// detector may misjudge them.
struct OutsideFaces {
  std::int64_t faces = 0;      // that were cut out
  std::int64_t boxes = 0;      // of them with a box that leaves by more than a fifth of its side
  std::int64_t landmarks = 0;  // with a landmark outside
  std::vector<std::string> names;  // of both, in the order of the samples
};
// A sentence with the counts and the first names, where more than one face in a hundred is outside;
// else empty.
std::string outside_warning(const OutsideFaces& outside);

// Images in which a detector looked for a face although they have exactly the crop's size: where
// nearly all do, they are crops already, and cutting them again loses what was aligned.
struct CropSizedImages {
  std::int64_t images = 0;   // of exactly that size
  std::int64_t decoded = 0;  // in which a face was looked for
  ImageShape shape;          // the crop's
};
// A sentence that asks for the detector `none`, where at least 19 of 20 images have that size; else
// empty.
std::string crop_sized_warning(const CropSizedImages& sized);

// Images whose Exif tag asks for them to be turned or mirrored.
struct TaggedImages {
  std::int64_t images = 0;   // with such a tag
  std::int64_t decoded = 0;  // that could be read
  bool turned = false;       // as the tags say: PackOptions::exif_orientation
};
// A sentence with the counts and the option that turns them, where they were not turned and there
// are some; else empty.
std::string tagged_warning(const TaggedImages& tagged);
// Faces that were aligned by landmarks that do not lie as those of a face do (LandmarkDoubt).
struct DoubtfulLandmarks {
  std::int64_t faces = 0;                      // that were cut out by landmarks
  std::map<std::string, std::int64_t> causes;  // landmark_doubt_text() -> number of faces
  std::vector<std::string> names;              // in the order of the samples
};
// A sentence with the counts and the likely causes, where more than one face in a hundred is
// doubtful; else empty.
std::string doubtful_landmarks_warning(const DoubtfulLandmarks& doubtful);

struct PackSummary {
  std::filesystem::path path;
  std::int64_t images = 0;
  ImageShape shape;
  std::array<std::int64_t, kSampleStatusCount> counts{};  // by status
  std::vector<PackFailure> failures;                      // in the order of the samples
  std::vector<std::string> damaged;                       // Dataset::damaged, not among the images
  std::vector<std::string> passed_over;                   // Dataset::passed_over
  std::vector<std::string> notes;                         // Dataset::notes
  OutsideFaces outside;
  CropSizedImages crop_sized;
  TaggedImages tagged;
  DoubtfulLandmarks doubtful_landmarks;
  // SHA-256 over "HASH  ID\n" of every sample in order, HASH that of the file's bytes (64 zeros for
  // a missing one): what `sha256sum` prints for the same files.
  std::string tree_sha256;
};

// Decodes every image of a data set, finds its faces, takes the one that `selection` chooses, cuts
// it out, and writes all crops into one HDF5 file:
//   /images      uint8   (N, H, W, 3) RGB, contiguous
//   /label       int32   (N)          person
//   /name        text    (N)          sample id
//   /box         float32 (N, 4)       x0 y0 x1 y1 of the chosen face in the original image
//   /landmarks   float32 (N, 5, 2)
//   /status      uint8   (N)          see SampleStatus
//   /file_sha256 uint8   (N, 32)      of the file's bytes; zeros where it is missing
//   /manifest    JSON: everything that decides the content, counts, failures with their reasons,
//                faces outside of their images, images that seem to be crops already or
//                ask to be turned, landmarks that are not those of a face
// Without a detector (null) the whole image is resized to the crop's size and `selection` is not
// used: for sets that are cropped already.
// A sample that fails is a row with its status and zeros. The bytes of the file are the same for
// any number of threads; it appears under its name only when it is complete. Throws
// std::invalid_argument for wrong options, Error where the file cannot be written or the data set
// is empty.
PackSummary pack_dataset(const Dataset& dataset, const Detector* detector,
                         std::string_view selection, const CropOptions& crop,
                         const PackOptions& options, const std::filesystem::path& out,
                         const Job& job = {});

// pack_dataset() of a part of the images, neighbours in their order: a pack by itself, which
// merge_packs() joins with the others to the bytes that pack_dataset() writes of all.
PackSummary pack_shard(const Dataset& dataset, const Detector* detector, std::string_view selection,
                       const CropOptions& crop, const PackOptions& options, const Shard& shard,
                       const std::filesystem::path& out, const Job& job = {});
// Shards in any order. Throws std::invalid_argument where one is missing or there twice, Error
// where one is of another data set or was made with other options. What is odd about the data set
// (passed_over, notes) each shard has told.
PackSummary merge_packs(std::span<const std::filesystem::path> shards,
                        const std::filesystem::path& out, const Job& job = {});

// A pack, its images mapped into memory. Everything is checked against the file's size first.
class Pack : public ImageSource {
 public:
  // Throws Error where the file is not a whole pack.
  explicit Pack(const std::filesystem::path& path);

  std::int64_t size() const override { return static_cast<std::int64_t>(names_.size()); }
  ImageShape shape() const override { return shape_; }
  SampleStatus status(std::int64_t index) const override;
  std::string name(std::int64_t index) const override;
  const std::uint8_t* pixels(std::int64_t index) const override;

  // A view of one image, without a copy; valid as long as the pack. Throws std::out_of_range.
  std::span<const std::uint8_t> image(std::int64_t index) const;
  std::int32_t label(std::int64_t index) const;
  Box box(std::int64_t index) const;
  Landmarks landmarks(std::int64_t index) const;

  const std::filesystem::path& path() const { return path_; }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::int32_t>& labels() const { return labels_; }
  const std::vector<std::uint8_t>& statuses() const { return statuses_; }
  const std::vector<float>& boxes() const { return boxes_; }              // (N, 4)
  const std::vector<float>& all_landmarks() const { return landmarks_; }  // (N, 5, 2)
  const std::vector<std::string>& label_names() const { return label_names_; }
  const Json& manifest() const { return manifest_; }

 private:
  std::size_t checked(std::int64_t index) const;

  std::filesystem::path path_;
  MappedFile file_;
  const std::uint8_t* images_ = nullptr;
  ImageShape shape_;
  std::vector<std::string> names_, label_names_;
  std::vector<std::int32_t> labels_;
  std::vector<std::uint8_t> statuses_;
  std::vector<float> boxes_, landmarks_;
  Json manifest_;
};

}  // namespace facebench

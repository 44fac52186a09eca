#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/core/registry.h"
#include "facebench/synthetic/render.h"

namespace facebench {

struct SyntheticOptions {
  std::int64_t people = 150;
  std::int64_t images = 12;
  std::int64_t size = 160;
  double spread = 0.6;
  std::int64_t supersampling = 2;
  std::int64_t seed = 0;
  std::int64_t first_person = 0;
  std::string protocol = "lfw";
  std::string kind = "wild";
  std::int64_t pairs_per_fold = 300;

  static void describe(OptionsBuilder<SyntheticOptions>& o);
};

// One image that a data set will hold.
struct PlannedImage {
  std::string id;      // path below images/
  std::string person;  // name
  std::int64_t identity = 0;
  std::int64_t number = 0;  // of the person's images, from 1
  std::string kind;         // of photograph
};

// What is known of it once it is drawn; see SyntheticFace.
struct ImageTruth {
  Box box;
  Landmarks landmarks;
  double yaw = 0, pitch = 0, roll = 0;  // degrees
  double quality = 0;                   // 0 to 100
};

// The layout and lists of one protocol's data set.
struct SyntheticLayout {
  std::string name;
  std::string doc;
  // Which images there are. Throws std::invalid_argument where the options give too few.
  std::function<std::vector<PlannedImage>(const SyntheticOptions&)> plan;
  // Writes the official lists below `folder`; `truth` is of the images in their order.
  std::function<void(const SyntheticOptions&, const std::vector<PlannedImage>&,
                     const std::vector<ImageTruth>& truth, const std::filesystem::path& folder)>
      write_lists;
};
// lfw, vggface2, ijba_quality, dfw, umdfaces.
const Table<SyntheticLayout>& synthetic_layouts();

// The person and the photograph behind a planned image.
FaceIdentity planned_identity(const SyntheticOptions& options, const PlannedImage& image);
FaceNuisance planned_nuisance(const SyntheticOptions& options, const PlannedImage& image);

struct SyntheticSummary {
  std::filesystem::path folder;
  std::int64_t people = 0;
  std::int64_t images = 0;
  std::string tree_sha256;  // over the images, as a pack's
};

// Writes a data set that makes itself: images/ and protocol/ as the protocol's authors lay them
// out, truth.csv with all that is known of each image, manifest.json with the options. The same
// options give the same bytes in every file, with any number of threads. The folder appears when it
// is complete; throws Error where it exists and is not empty, or cannot be written, and
// std::invalid_argument for wrong options.
SyntheticSummary write_synthetic_dataset(const SyntheticOptions& options,
                                         const std::filesystem::path& folder, const Job& job = {});

struct SheetOptions {
  std::int64_t people = 6;
  std::int64_t size = 140;
  double spread = 0.6;
  std::int64_t supersampling = 2;
  std::int64_t seed = 0;

  static void describe(OptionsBuilder<SheetOptions>& o);
};

// A contact sheet: a row for each person, a column for each kind of photograph.
Image render_sheet(const SheetOptions& options = {}, const Job& job = {});

}  // namespace facebench

#include "facebench/synthetic/writer.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/images/encode.h"
#include "facebench/io/file.h"
#include "facebench/io/json.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/io/tree_hash.h"
#include "facebench/synthetic/layouts/layouts.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kTruthColumns = {
    "id",           "person",       "kind",         "box_x0",        "box_y0",        "box_x1",
    "box_y1",       "left_eye_x",   "left_eye_y",   "right_eye_x",   "right_eye_y",   "nose_x",
    "nose_y",       "mouth_left_x", "mouth_left_y", "mouth_right_x", "mouth_right_y", "yaw",
    "pitch",        "roll",         "age",          "age_group",     "disguise",      "quality",
    "quality_group"};

std::string truth_record(const PlannedImage& image, const FaceNuisance& nuisance,
                         const SyntheticFace& face) {
  const auto number = [](double v) { return fmt::format("{:.3f}", v); };
  std::vector<std::string> fields = {image.id,
                                     image.person,
                                     image.kind,
                                     number(face.box.x0),
                                     number(face.box.y0),
                                     number(face.box.x1),
                                     number(face.box.y1)};
  for (const Point& p : face.landmarks) {
    fields.push_back(number(p.x));
    fields.push_back(number(p.y));
  }
  for (const double v : {face.yaw, nuisance.pitch, nuisance.roll, nuisance.age})
    fields.push_back(number(v));
  fields.emplace_back(age_group_name(face.age_group));
  fields.emplace_back(disguise_name(face.disguise));
  fields.push_back(number(face.quality));
  fields.emplace_back(quality_group_name(quality_group(face.quality)));
  return csv_record(fields);
}

}  // namespace

namespace synthetic {

void write_new_file(const fs::path& path, std::string_view bytes) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file)
    fail(path.string(), fmt::format("cannot write: {}", std::strerror(errno)),
         "Is there room on the disk?");
}

std::string person_name(std::int64_t identity) {
  return fmt::format("Person_{:05d}", identity + 1);
}

}  // namespace synthetic

void SyntheticOptions::describe(OptionsBuilder<SyntheticOptions>& o) {
  using S = SyntheticOptions;
  o.name("SyntheticOptions", "A data set of synthetic faces.");
  o.field("people", &S::people, "number of people", 1, 1'000'000);
  o.field("images", &S::images, "images of each person", 1, 100'000);
  o.field("size", &S::size, "side of the images, pixels", 32, 2048);
  o.field("spread", &S::spread,
          "differences between people: 0 none, 1 so large that recognition is easy", 0, 2);
  o.field("supersampling", &S::supersampling, "samples a pixel along each side", 1, 4);
  o.field("seed", &S::seed, "which population and which photographs", 0, 9007199254740992.0);
  o.field("first_person", &S::first_person,
          "index of the first person: sets that do not overlap in index share nobody", 0,
          1'000'000'000);
  o.choice("protocol", &S::protocol, "layout and lists", synthetic_layouts().names());
  o.choice("kind", &S::kind, "of photograph, where the protocol does not say",
           nuisance_kinds().names());
  o.field("pairs_per_fold", &S::pairs_per_fold,
          "genuine, and as many impostor, pairs in a fold; fewer where the people do not give them",
          1, 1'000'000);
}

const Table<SyntheticLayout>& synthetic_layouts() {
  static const Table<SyntheticLayout> table(
      "protocol",
      {synthetic::lfw_layout(), synthetic::vggface2_layout(), synthetic::ijba_quality_layout(),
       synthetic::dfw_layout(), synthetic::umdfaces_layout()});
  return table;
}

FaceIdentity planned_identity(const SyntheticOptions& options, const PlannedImage& image) {
  return make_identity(static_cast<std::uint64_t>(options.seed), image.identity, options.spread);
}

FaceNuisance planned_nuisance(const SyntheticOptions& options, const PlannedImage& image) {
  Random random(
      static_cast<std::uint64_t>(options.seed), "synthetic.nuisance",
      {static_cast<std::uint64_t>(image.identity), static_cast<std::uint64_t>(image.number)});
  return make_nuisance(image.kind, random);
}

SyntheticSummary write_synthetic_dataset(const SyntheticOptions& options, const fs::path& folder,
                                         const Job& job) {
  check_options(options);
  const SyntheticLayout& layout = synthetic_layouts().at(options.protocol);
  const std::vector<PlannedImage> images = layout.plan(options);
  const auto n = static_cast<std::int64_t>(images.size());

  AtomicFolder atomic(folder);
  const fs::path& root = atomic.temporary();
  std::set<std::string> people;
  for (const PlannedImage& image : images) people.insert(image.person);

  std::vector<std::string> records(images.size()), hashes(images.size());
  std::vector<ImageTruth> truth(images.size());
  {
    Stage stage(job, "draw", n, "images");
    parallel_for(
        n, job,
        [&](std::int64_t i, int) {
          const PlannedImage& image = images[static_cast<std::size_t>(i)];
          const FaceNuisance nuisance = planned_nuisance(options, image);
          const SyntheticFace face =
              render_face(planned_identity(options, image), nuisance,
                          static_cast<int>(options.size), static_cast<int>(options.supersampling));
          const std::string bytes =
              encode_jpeg(face.image, static_cast<int>(nuisance.jpeg_quality));
          // Only now, so that a stopped call has little to remove.
          fs::create_directories((root / "images" / image.id).parent_path());
          synthetic::write_new_file(root / "images" / image.id, bytes);
          records[i] = truth_record(image, nuisance, face);
          truth[i] = {face.box,       face.landmarks, face.yaw,
                      nuisance.pitch, nuisance.roll,  face.quality};
          hashes[i] = sha256_hex(bytes);
        },
        &stage);
  }

  std::string table = csv_record(kTruthColumns);
  std::vector<std::string> ids;
  ids.reserve(images.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    table += records[i];
    ids.push_back(images[i].id);
  }
  synthetic::write_new_file(root / "truth.csv", table);
  fs::create_directories(root / "protocol");
  layout.write_lists(options, images, truth, root / "protocol");

  SyntheticSummary summary{folder, static_cast<std::int64_t>(people.size()), n,
                           tree_sha256(hashes, ids)};
  synthetic::write_new_file(root / "manifest.json",
                            pretty_json({{"kind", "synthetic"},
                                         {"format", 1},
                                         {"options", options_to_json(options)},
                                         {"people", summary.people},
                                         {"images", summary.images},
                                         {"tree_sha256", summary.tree_sha256}}));
  atomic.commit();
  return summary;
}

}  // namespace facebench

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "facebench/io/text.h"
#include "facebench/synthetic/layouts/layouts.h"

namespace facebench::synthetic {
namespace {

std::vector<PlannedImage> plan_umdfaces(const SyntheticOptions& o) {
  if (o.people < 2 || o.images < 2)
    throw std::invalid_argument("protocol umdfaces needs 2 people and 2 images of each");
  constexpr std::array<const char*, 6> kinds = {"frontal", "wild", "yaw30",
                                                "yaw45",   "wild", "yaw60"};
  std::vector<PlannedImage> images;
  for (std::int64_t p = 0; p < o.people; ++p) {
    const std::int64_t identity = o.first_person + p;
    const std::string name = person_name(identity);
    for (std::int64_t i = 1; i <= o.images; ++i)
      images.push_back({fmt::format("{0}/{0}_{1:04d}.jpg", name, i), name, identity, i,
                        kinds[static_cast<std::size_t>(i - 1) % kinds.size()]});
  }
  return images;
}

void write_umdfaces_lists(const SyntheticOptions&, const std::vector<PlannedImage>& images,
                          const std::vector<ImageTruth>& truth,
                          const std::filesystem::path& folder) {
  // Of the official columns those that the renderer knows.
  std::string csv = csv_record({"SUBJECT_ID", "FILE", "FACE_X", "FACE_Y", "FACE_WIDTH",
                                "FACE_HEIGHT", "YAW", "PITCH", "ROLL"});
  const auto number = [](double v) { return fmt::format("{:.3f}", v); };
  for (std::size_t i = 0; i < images.size(); ++i) {
    const ImageTruth& t = truth[i];
    csv += csv_record({fmt::format("{}", images[i].identity + 1), images[i].id, number(t.box.x0),
                       number(t.box.y0), number(t.box.width()), number(t.box.height()),
                       number(t.yaw), number(t.pitch), number(t.roll)});
  }
  write_new_file(folder / "umdfaces_batch3_ultraface.csv", csv);
}

}  // namespace

SyntheticLayout umdfaces_layout() {
  return {"umdfaces", "UMDFaces: NAME/NAME_0001.jpg in many poses, one CSV file with boxes",
          plan_umdfaces, write_umdfaces_lists};
}

}  // namespace facebench::synthetic

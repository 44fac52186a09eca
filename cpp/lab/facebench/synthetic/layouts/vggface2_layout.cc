#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "facebench/synthetic/layouts/layouts.h"

namespace facebench::synthetic {
namespace {

constexpr std::int64_t kTemplate = 5;  // images, as the data set has it

// The groups of one list in its order; each has two templates.
struct List {
  const char* file;
  std::vector<const char*> kinds;  // of photograph
};

const std::array<List, 2>& lists() {
  static const std::array<List, 2> all = {
      List{"test_posetemp_imglist.txt", {"frontal", "yaw45", "yaw60"}},
      List{"test_agetemp_imglist.txt", {"frontal", "old"}}};
  return all;
}

// Each list has images of its own, as nothing says that the official ones share any.
std::vector<PlannedImage> plan_vggface2(const SyntheticOptions& o) {
  if (o.people < 2) throw std::invalid_argument("protocol vggface2 needs 2 people at least");
  std::vector<PlannedImage> images;
  for (std::int64_t p = 0; p < o.people; ++p) {
    const std::int64_t identity = o.first_person + p;
    const std::string name = fmt::format("n{:06d}", identity + 1);
    std::int64_t number = 0;
    for (const List& list : lists())
      for (const char* kind : list.kinds)
        for (std::int64_t k = 0; k < 2 * kTemplate; ++k) {
          ++number;
          images.push_back(
              {fmt::format("{}/{:04d}_01.jpg", name, number), name, identity, number, kind});
        }
  }
  return images;
}

void write_vggface2_lists(const SyntheticOptions&, const std::vector<PlannedImage>& images,
                          const std::vector<ImageTruth>&, const std::filesystem::path& folder) {
  std::array<std::string, 2> text;
  std::array<std::size_t, 2> length{};  // images of a person in each list
  std::size_t run = 0;
  for (std::size_t l = 0; l < 2; ++l) run += length[l] = lists()[l].kinds.size() * 2 * kTemplate;
  for (std::size_t i = 0; i < images.size(); ++i)
    text[i % run < length[0] ? 0 : 1] += images[i].id + "\n";
  for (std::size_t l = 0; l < 2; ++l) write_new_file(folder / lists()[l].file, text[l]);
}

}  // namespace

SyntheticLayout vggface2_layout() {
  return {"vggface2",
          "VGGFace2: pose and age template lists; 30 + 20 images a person, whatever `images` says",
          plan_vggface2, write_vggface2_lists};
}

}  // namespace facebench::synthetic

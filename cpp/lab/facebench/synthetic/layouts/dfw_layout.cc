#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "facebench/detection/given.h"
#include "facebench/synthetic/layouts/layouts.h"

namespace facebench::synthetic {
namespace {

// Of each subject: one genuine image, one for validation, disguised ones, one of an impersonator.
std::vector<PlannedImage> plan_dfw(const SyntheticOptions& o) {
  if (o.people < 2 || o.images < 4)
    throw std::invalid_argument("protocol dfw needs 2 people and 4 images of each");
  constexpr std::array<const char*, 5> disguises = {"sunglasses", "scarf", "hat", "mask",
                                                    "glasses"};
  std::vector<PlannedImage> images;
  for (std::int64_t p = 0; p < o.people; ++p) {
    const std::int64_t identity = o.first_person + p;
    const std::string name = person_name(identity);
    images.push_back({fmt::format("{0}/{0}.jpg", name), name, identity, 1, "frontal"});
    images.push_back({fmt::format("{0}/{0}_a.jpg", name), name, identity, 2, "wild"});
    for (std::int64_t i = 3; i < o.images; ++i)
      images.push_back({fmt::format("{0}/{0}_h_{1:03d}.jpg", name, i - 2), name, identity, i,
                        disguises[static_cast<std::size_t>(p + i) % disguises.size()]});
    // Impersonators are the people behind the last subject: as many again.
    const std::int64_t other = identity + o.people;
    images.push_back(
        {fmt::format("{0}/{0}_I_001.jpg", name), person_name(other), other, 1, "frontal"});
  }
  return images;
}

enum class Role : std::uint8_t { plain, disguised, impersonator };

// Which of the mask's values a pair has: 1 and 3 genuine and impostor of the impersonation track, 2
// and 4 of obfuscation, 0 not compared.
char mask_value(Role a, Role b, bool same_folder) {
  if (a == Role::impersonator || b == Role::impersonator)
    return same_folder && (a == Role::plain || b == Role::plain) ? '3' : '0';
  if (!same_folder) return '4';
  return a == Role::plain && b == Role::plain ? '1' : '2';
}

void write_dfw_lists(const SyntheticOptions& o, const std::vector<PlannedImage>& images,
                     const std::vector<ImageTruth>& truth, const std::filesystem::path& folder) {
  const auto per_subject = static_cast<std::size_t>(o.images);
  const auto role = [&](std::size_t i) {
    const std::size_t k = i % per_subject;
    return k < 2 ? Role::plain : k + 1 < per_subject ? Role::disguised : Role::impersonator;
  };
  std::string names, mask, faces = face_csv_header();
  for (std::size_t i = 0; i < images.size(); ++i) {
    names += images[i].id + "\n";
    faces += face_csv_record(images[i].id, Face{truth[i].box, 1, true, truth[i].landmarks});
    for (std::size_t j = 0; j < images.size(); ++j) {
      mask += mask_value(role(i), role(j), i / per_subject == j / per_subject);
      mask += j + 1 < images.size() ? ' ' : '\n';
    }
  }
  write_new_file(folder / "Testing_data_face_name.txt", names);
  write_new_file(folder / "updated_testing_mask.txt", mask);
  write_new_file(folder / "faces.csv", faces);
}

}  // namespace

SyntheticLayout dfw_layout() {
  return {"dfw",
          "Disguised Faces in the Wild: names, mask, face boxes; the last image of each subject "
          "is of an impersonator",
          plan_dfw, write_dfw_lists};
}

}  // namespace facebench::synthetic

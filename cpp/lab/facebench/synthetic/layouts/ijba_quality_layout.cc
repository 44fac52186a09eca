#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "facebench/io/mat5.h"
#include "facebench/io/text.h"
#include "facebench/synthetic/layouts/layouts.h"

namespace facebench::synthetic {
namespace {

std::vector<PlannedImage> plan_ijba_quality(const SyntheticOptions& o) {
  if (o.people < 2 || o.images < 3)
    throw std::invalid_argument(
        "protocol ijba_quality needs 2 people and 3 images of each, one of every quality");
  // In turn what becomes high, middle and low quality; the lists go by the score itself.
  constexpr std::array<const char*, 3> kinds = {"frontal", "blur", "low_resolution"};
  std::vector<PlannedImage> images;
  for (std::int64_t p = 0; p < o.people; ++p) {
    const std::int64_t identity = o.first_person + p;
    for (std::int64_t i = 1; i <= o.images; ++i)
      images.push_back({fmt::format("img/{}.jpg", identity * o.images + i), person_name(identity),
                        identity, i, kinds[static_cast<std::size_t>((i - 1) % 3)]});
  }
  return images;
}

std::string file_name(const std::string& id) { return id.substr(id.rfind('/') + 1); }

void write_ijba_quality_lists(const SyntheticOptions&, const std::vector<PlannedImage>& images,
                              const std::vector<ImageTruth>& truth,
                              const std::filesystem::path& folder) {
  std::array<std::vector<std::size_t>, 3> members;
  std::string scores = csv_record({"sample", "identity", "quality"});
  for (std::size_t i = 0; i < images.size(); ++i) {
    members[static_cast<std::size_t>(quality_group(truth[i].quality))].push_back(i);
    scores += csv_record({images[i].id, fmt::format("{}", images[i].identity + 1),
                          fmt::format("{:.3f}", truth[i].quality)});
  }
  write_new_file(folder / "quality.csv", scores);
  for (std::size_t g = 0; g < 3; ++g) {
    const auto rows = static_cast<std::int64_t>(members[g].size());
    std::vector<MatArray> cells;  // the first column, then the second
    for (const std::size_t i : members[g])
      cells.push_back(mat_text(fmt::format("{}", images[i].identity + 1)));
    for (const std::size_t i : members[g]) cells.push_back(mat_text(file_name(images[i].id)));
    write_new_file(
        folder / fmt::format("namelist_{}.mat", quality_group_name(static_cast<QualityGroup>(g))),
        mat5_bytes({{"namelist", mat_cells({rows, 2}, std::move(cells))}}));
  }
}

}  // namespace

SyntheticLayout ijba_quality_layout() {
  return {"ijba_quality",
          "IJB-A quality: name lists of high, middle and low quality as MAT files, scores as CSV",
          plan_ijba_quality, write_ijba_quality_lists};
}

}  // namespace facebench::synthetic

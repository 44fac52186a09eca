#include <algorithm>

#include "facebench/synthetic/writer.h"

#include "facebench/core/options.h"

namespace facebench {

void SheetOptions::describe(OptionsBuilder<SheetOptions>& o) {
  using S = SheetOptions;
  o.name("SheetOptions", "A contact sheet of synthetic faces.");
  o.field("people", &S::people, "rows", 1, 100);
  o.field("size", &S::size, "side of one image, pixels", 32, 512);
  o.field("spread", &S::spread, "differences between people; see SyntheticOptions", 0, 2);
  o.field("supersampling", &S::supersampling, "samples a pixel along each side", 1, 4);
  o.field("seed", &S::seed, "which people", 0, 9007199254740992.0);
}

Image render_sheet(const SheetOptions& options, const Job& job) {
  check_options(options);
  const auto& kinds = nuisance_kinds().entries();
  const auto columns = static_cast<std::int64_t>(kinds.size());
  const int size = static_cast<int>(options.size);
  Image sheet(size * static_cast<int>(columns), size * static_cast<int>(options.people));
  Stage stage(job, "sheet", columns * options.people, "images");
  parallel_for(
      columns * options.people, job,
      [&](std::int64_t i, int) {
        const std::int64_t person = i / columns, column = i % columns;
        const auto seed = static_cast<std::uint64_t>(options.seed);
        Random random(seed, "synthetic.sheet",
                      {static_cast<std::uint64_t>(person), static_cast<std::uint64_t>(column)});
        const SyntheticFace face =
            render_face(make_identity(seed, person, options.spread),
                        make_nuisance(kinds[static_cast<std::size_t>(column)].name, random), size,
                        static_cast<int>(options.supersampling));
        for (int y = 0; y < size; ++y)
          std::copy_n(face.image.row(y), face.image.stride(),
                      sheet.row(static_cast<int>(person) * size + y) + column * 3 * size);
      },
      &stage);
  return sheet;
}

}  // namespace facebench

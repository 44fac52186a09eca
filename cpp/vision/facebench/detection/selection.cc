#include "facebench/detection/selection.h"

namespace facebench {
namespace {

double area(const Face& face) { return static_cast<double>(face.box.width()) * face.box.height(); }

double squared_distance(const Face& face, int width, int height) {
  const double dx = (static_cast<double>(face.box.x0) + face.box.x1) / 2 - width / 2.0;
  const double dy = (static_cast<double>(face.box.y0) + face.box.y1) / 2 - height / 2.0;
  return dx * dx + dy * dy;
}

}  // namespace

const Table<SelectionRule>& selection_rules() {
  static const Table<SelectionRule> table(
      "selection rule",
      {{"largest", "largest box, not clipped to the image",
        [](const Face& f, int, int) { return area(f); }},
       {"center_weighted", "largest area - 2 d^2, d = distance from the image's centre",
        [](const Face& f, int w, int h) { return area(f) - 2 * squared_distance(f, w, h); }},
       {"nearest_center", "box centre nearest to the image's centre",
        [](const Face& f, int w, int h) { return -squared_distance(f, w, h); }},
       {"best_score", "highest score of the detector",
        [](const Face& f, int, int) { return static_cast<double>(f.score); }}});
  return table;
}

std::optional<std::size_t> select_face(std::span<const Face> faces, int width, int height,
                                       std::string_view rule) {
  const SelectionRule& r = selection_rules().at(rule);
  std::optional<std::size_t> best;
  double best_merit = 0;
  for (std::size_t i = 0; i < faces.size(); ++i) {
    const double merit = r.merit(faces[i], width, height);
    if (best && !(merit > best_merit)) continue;
    best = i;
    best_merit = merit;
  }
  return best;
}

}  // namespace facebench

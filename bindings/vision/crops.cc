#include <array>
#include <optional>
#include <string>
#include <vector>

#include "facebench/crops/crop.h"
#include "images.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

std::vector<Point> points_of(const std::vector<std::array<float, 2>>& values) {
  std::vector<Point> points;
  for (const auto& v : values) points.push_back({v[0], v[1]});
  return points;
}

}  // namespace

void bind_crops(py::module_& m) {
  bind_options<CropOptions>(m);
  m.def(
      "crop_face",
      [](const py::array& image, const Face& face, const CropOptions& options) {
        Crop crop = crop_face(image_from_numpy(image), face, options);
        py::object pixels = py::none();
        if (crop.status == SampleStatus::ok) pixels = image_to_numpy(std::move(crop.image));
        return py::make_tuple(pixels, crop.reason, std::string(landmark_doubt_text(crop.doubt)));
      },
      py::arg("image"), py::arg("face"), py::arg("options") = CropOptions{});
  m.def(
      "crop_window",
      [](int width, int height, const Face& face,
         const CropOptions& options) -> std::optional<std::array<int, 4>> {
        const auto w = crop_window(width, height, face, options);
        if (!w) return std::nullopt;
        return std::array<int, 4>{w->x0, w->y0, w->x1, w->y1};
      },
      py::arg("width"), py::arg("height"), py::arg("face"), py::arg("options") = CropOptions{});
  m.def("resolve_crop", &resolve_crop, py::arg("options"));
  m.def("require_landmarks", &require_landmarks, py::arg("detector"), py::arg("crop"));
  m.def(
      "crops", [] { return table_docs(crops()); }, "Crop name -> one line about it.");
  m.def(
      "fit_similarity",
      [](const std::vector<std::array<float, 2>>& from,
         const std::vector<std::array<float, 2>>& to) {
        const Affine m = fit_similarity(points_of(from), points_of(to));
        return to_numpy(std::vector<double>(m.begin(), m.end()), {2, 3});
      },
      py::arg("from_"), py::arg("to"));
}

}  // namespace facebench

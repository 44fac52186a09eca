#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facebench/detection/detector.h"
#include "facebench/detection/given.h"
#include "facebench/detection/hog.h"
#include "facebench/detection/mtcnn.h"
#include "facebench/detection/selection.h"
#include "images.h"
#include "modules.h"

namespace facebench {
namespace {

Json to_json(const py::dict& options) {
  Json result = Json::object();
  for (const auto& [key, value] : options)
    result[py::cast<std::string>(key)] = json_of_option(py::cast<OptionValue>(value));
  return result;
}

Face make_face(const std::array<float, 4>& box, float score,
               const std::optional<std::array<std::array<float, 2>, 5>>& landmarks) {
  Face face;
  face.box = {box[0], box[1], box[2], box[3]};
  face.score = score;
  face.has_landmarks = landmarks.has_value();
  if (landmarks)
    for (std::size_t k = 0; k < 5; ++k)
      face.landmarks[k] = {(*landmarks)[k][0], (*landmarks)[k][1]};
  return face;
}

py::array_t<float> box_of(const Face& f) {
  return to_numpy(std::vector<float>{f.box.x0, f.box.y0, f.box.x1, f.box.y1});
}

py::object landmarks_of(const Face& f) {
  if (!f.has_landmarks) return py::none();
  std::vector<float> values;
  for (const Point& p : f.landmarks) values.insert(values.end(), {p.x, p.y});
  return to_numpy(std::move(values), {5, 2});
}

std::string face_text(const Face& f) {
  char text[200];
  std::snprintf(text, sizeof text, "Face(box=[%.2f, %.2f, %.2f, %.2f], score=%.4f, landmarks=%s)",
                f.box.x0, f.box.y0, f.box.x1, f.box.y1, f.score, f.has_landmarks ? "yes" : "None");
  return text;
}

}  // namespace

void bind_detection(py::module_& m) {
  bind_options<MtcnnOptions>(m);
  bind_options<HogOptions>(m);
  bind_options<GivenOptions>(m);

  py::class_<Face>(m, "Face", "A face: box, score and, where the detector gives them, landmarks.")
      .def(py::init(&make_face), py::arg("box"), py::arg("score") = 1.0f,
           py::arg("landmarks") = py::none())
      .def_property_readonly("box", &box_of, "x0, y0, x1, y1 in pixels, float32")
      .def_readonly("score", &Face::score)
      .def_property_readonly("landmarks", &landmarks_of,
                             "(5, 2) float32: left eye, right eye, nose, left and right mouth "
                             "corner as seen in the image; None where there are none")
      .def("__eq__", [](const Face& a, const Face& b) { return a == b; })
      .def("__repr__", &face_text)
      .def(py::pickle(
          [](const Face& f) { return py::make_tuple(box_of(f), f.score, landmarks_of(f)); },
          [](const py::tuple& t) {
            return make_face(t[0].cast<std::array<float, 4>>(), t[1].cast<float>(),
                             t[2].cast<std::optional<std::array<std::array<float, 2>, 5>>>());
          }));

  py::class_<Detector, std::shared_ptr<Detector>>(
      m, "Detector", "Finds the faces of images. Thread-safe; made by make_detector().")
      .def(
          "detect",
          [](const Detector& self, const py::array& image, const std::string& sample_id,
             const std::string& color) {
            const Image pixels = image_from_numpy(image, parse_color_order(color));
            py::gil_scoped_release release;
            return self.detect(pixels, sample_id);
          },
          py::arg("image"), py::arg("sample_id") = "", py::arg("color") = "rgb",
          "The faces of one image (height, width, 3), best first.")
      .def(
          "detect_all",
          [](const Detector& self, const std::vector<py::array>& images,
             const std::vector<std::string>& sample_ids, const std::string& color, int threads,
             py::object progress) {
            const ColorOrder order = parse_color_order(color);
            std::vector<Image> pixels;
            for (const py::array& image : images) pixels.push_back(image_from_numpy(image, order));
            return with_job(threads, std::move(progress), [&](const Job& job) {
              return detect_all(self, pixels, sample_ids, job);
            });
          },
          py::arg("images"), py::arg("sample_ids") = std::vector<std::string>{},
          py::arg("color") = "rgb", py::arg("threads") = 0, py::arg("progress") = py::none(),
          "A list of faces for each image, whatever their sizes, on several threads.")
      .def(
          "description", [](const Detector& self) { return canonical_json(self.description()); },
          "Everything that decides the result, as JSON text.");

  m.def(
      "make_detector",
      [](const std::string& name, const py::kwargs& options) {
        const Json json = to_json(options);
        py::gil_scoped_release release;
        return std::shared_ptr<Detector>(make_detector(name, json));
      },
      py::arg("name"));
  m.def("detectors", [] {
    py::dict result;
    for (const DetectorEntry& e : detectors().entries()) result[py::str(e.name)] = e.doc;
    return result;
  });
  m.def("mtcnn_modes", [] {
    py::dict result;
    for (const MtcnnMode& e : mtcnn_modes().entries()) result[py::str(e.name)] = e.doc;
    return result;
  });
  m.def("mtcnn_preset", &mtcnn_preset, py::arg("mode") = "facenet_pytorch");
  m.def("default_mtcnn_weights", &default_mtcnn_weights);
  m.def("selection_rules", [] {
    py::dict result;
    for (const SelectionRule& e : selection_rules().entries()) result[py::str(e.name)] = e.doc;
    return result;
  });
  m.def(
      "select_face",
      [](const std::vector<Face>& faces, int width, int height, const std::string& rule) {
        return select_face(faces, width, height, rule);
      },
      py::arg("faces"), py::arg("width"), py::arg("height"), py::arg("rule") = "largest");
  m.def(
      "draw_faces",
      [](const py::array& image, const std::vector<Face>& faces, int selected) {
        return image_to_numpy(draw_faces(image_from_numpy(image), faces, selected));
      },
      py::arg("image"), py::arg("faces"), py::arg("selected") = -1);
  m.def("face_csv_header", &face_csv_header);
  m.def("face_csv_record", &face_csv_record, py::arg("name"), py::arg("face"));
  m.def(
      "intersection_over_union",
      [](const Face& a, const Face& b) { return intersection_over_union(a.box, b.box); },
      py::arg("a"), py::arg("b"));
}

}  // namespace facebench

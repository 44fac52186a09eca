#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facebench/detection/detect_files.h"
#include "facebench/detection/detector.h"
#include "facebench/detection/dlib.h"
#include "facebench/detection/given.h"
#include "facebench/detection/mtcnn.h"
#include "facebench/detection/selection.h"
#include "images.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

Json to_json(const py::dict& options) {
  Json result = Json::object();
  for (const auto& [key, value] : options) {
    const auto name = py::cast<std::string>(key);
    result[name] = json_of_option(option_value(name, value));
  }
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
  return fmt::format("Face(box=[{:.2f}, {:.2f}, {:.2f}, {:.2f}], score={:.4f}, landmarks={})",
                     f.box.x0, f.box.y0, f.box.x1, f.box.y1, f.score,
                     f.has_landmarks ? "yes" : "None");
}

// A detector that Python brings: an object with find(image), description(), described. Its find is
// called under the GIL, from any thread.
class PythonDetector : public Detector {
 public:
  explicit PythonDetector(py::object detector)
      : detector_(std::move(detector)),
        description_(json_from_python(detector_.attr("description")())),
        described_(detector_.attr("described").cast<bool>()) {}
  ~PythonDetector() override {
    const py::gil_scoped_acquire gil;
    detector_.release().dec_ref();
  }
  PythonDetector(const PythonDetector&) = delete;
  PythonDetector& operator=(const PythonDetector&) = delete;

  Json description() const override { return description_; }
  bool is_described() const override { return described_; }

 private:
  std::vector<Face> find(const Image& image, std::string_view) const override {
    const py::gil_scoped_acquire gil;
    try {
      return detector_.attr("find")(image_to_numpy(Image(image))).cast<std::vector<Face>>();
    } catch (const py::error_already_set& e) {
      if (e.matches(PyExc_KeyboardInterrupt)) throw Cancelled();
      throw;
    }
  }

  py::object detector_;
  Json description_;
  bool described_;
};

LandmarkKind landmark_kind(const std::string& name) {
  if (name == "eyes_and_mouth") return LandmarkKind::eyes_and_mouth;
  if (name == "none") return LandmarkKind::none;
  return LandmarkKind::any;
}

// `find`: of Python, a name to (its landmarks, a function that makes it of a dict of options).
void bind_python_detectors(py::module_& m) {
  m.def(
      "set_detector_finder",
      [](const py::function& find) {
        // Never destroyed: the interpreter may be gone by then.
        auto* const kept = new py::function(find);
        set_detector_finder([kept](std::string_view name) {
          const py::gil_scoped_acquire gil;
          const std::string text(name);
          const py::tuple found = (*kept)(text);
          DetectorEntry entry{text, "", nullptr, {}, landmark_kind(found[0].cast<std::string>())};
          entry.make = [kept, text](const Json& options) -> std::unique_ptr<Detector> {
            const py::gil_scoped_acquire gil;
            const py::tuple again = (*kept)(text);
            return std::make_unique<PythonDetector>(again[1](json_to_python(options)));
          };
          return entry;
        });
      },
      py::arg("find"));
  m.def("check_stated_detector", &check_stated_detector, py::arg("name"), py::arg("who"));
  m.def(
      "python_detector",
      [](py::object detector) -> std::shared_ptr<Detector> {
        return std::make_shared<PythonDetector>(std::move(detector));
      },
      py::arg("detector"));
}

// As Python spells the names of files, which need not be UTF-8.
py::str file_name(const std::string& name) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<py::ssize_t>(name.size())));
}

void bind_detected_files(py::module_& m) {
  py::class_<DetectedFile>(m, "DetectedFile", "The result for one image file.")
      .def_property_readonly(
          "name", [](const DetectedFile& f) { return file_name(f.name); }, "the sample id")
      .def_property_readonly(
          "status", [](const DetectedFile& f) { return std::string(sample_status_name(f.status)); },
          "'ok', 'no_face', 'unreadable' or 'missing'")
      .def_readonly("reason", &DetectedFile::reason, "what is wrong with the file; often empty")
      .def_readonly("faces", &DetectedFile::faces, "the faces, best first")
      .def_readonly("orientation", &DetectedFile::orientation,
                    "which way its Exif tag asks for it to be turned, 1 (as it lies) to 8")
      .def("__eq__", [](const DetectedFile& a, const DetectedFile& b) { return a == b; })
      .def("__repr__", [](const DetectedFile& f) {
        return fmt::format("DetectedFile('{}', {}, {} faces)", f.name, sample_status_name(f.status),
                           f.faces.size());
      });
  py::class_<DetectionSummary>(m, "DetectionSummary", "What detect_to_file() found.")
      .def_readonly("images", &DetectionSummary::images)
      .def_readonly("faces", &DetectionSummary::faces)
      .def_readonly("tagged", &DetectionSummary::tagged,
                    "images whose Exif tag asks for them to be turned")
      .def_property_readonly(
          "counts",
          [](const DetectionSummary& s) {
            py::dict counts;
            for (int k = 0; k < kSampleStatusCount; ++k)
              counts[py::str(sample_status_name(static_cast<SampleStatus>(k)))] = s.counts[k];
            return counts;
          },
          "images by status")
      .def_readonly("failures", &DetectionSummary::failures, "the DetectedFile that are not ok");
  py::class_<ImageFile>(m, "ImageFile", "An image file: its name, where it lies, its drawing.")
      .def_property_readonly(
          "name", [](const ImageFile& f) { return file_name(f.name); }, "the sample id")
      .def_property_readonly(
          "path", [](const ImageFile& f) { return f.image.path(); }, "the file, or the archive")
      .def_readonly("drawing", &ImageFile::drawing, "where its faces are drawn; '.' = nowhere");
  m.def(
      "list_image_files",
      [](const std::vector<std::filesystem::path>& paths, const std::filesystem::path& draw) {
        const ImageFiles listed = with_job(
            1, py::none(), [&](const Job& job) { return list_image_files(paths, draw, job); });
        return py::make_tuple(listed.files, listed.skipped);
      },
      py::arg("paths"), py::arg("draw") = "");
  m.def(
      "detect_files",
      [](const Detector& detector, const std::vector<ImageFile>& files, int threads,
         py::object progress, const DecodeOptions& decode) {
        return with_job(threads, std::move(progress),
                        [&](const Job& job) { return detect_files(detector, files, job, decode); });
      },
      py::arg("detector"), py::arg("files"), py::arg("threads") = 0,
      py::arg("progress") = py::none(), py::arg("decode") = DecodeOptions{});
  m.def(
      "detect_to_file",
      [](const Detector& detector, const std::vector<ImageFile>& files,
         const std::filesystem::path& out, const std::string& format, int threads,
         py::object progress, const DecodeOptions& decode) {
        return with_job(threads, std::move(progress), [&](const Job& job) {
          return detect_to_file(detector, files, out, format, job, decode);
        });
      },
      py::arg("detector"), py::arg("files"), py::arg("out"), py::arg("format"),
      py::arg("threads") = 0, py::arg("progress") = py::none(),
      py::arg("decode") = DecodeOptions{});
  m.def(
      "face_formats", [] { return table_docs(face_formats()); },
      "Format name -> one line about it.");
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
                             "corner as seen in the image (dlib: outer corners of the eyes, "
                             "nose, inner corners); None where there are none")
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
            const WithoutGil without_gil;
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
              return self.detect_all(pixels, sample_ids, job);
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
        const WithoutGil without_gil;
        return std::shared_ptr<Detector>(make_detector(name, json));
      },
      py::arg("name"));
  m.def(
      "detectors", [] { return table_docs(detectors()); }, "Detector name -> one line about it.");
  m.def(
      "mtcnn_modes", [] { return table_docs(mtcnn_modes()); }, "Mode name -> one line about it.");
  m.def("default_mtcnn_weights", &default_mtcnn_weights);
  m.def(
      "selection_rules", [] { return table_docs(selection_rules()); },
      "Rule name -> one line about it.");
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
      py::arg("a"), py::arg("b"), "How much two faces' boxes share, 0 to 1.");
  bind_detected_files(m);
  bind_python_detectors(m);
}

}  // namespace facebench

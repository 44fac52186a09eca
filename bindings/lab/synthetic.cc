#include "arrays.h"
#include "common.h"
#include "facebench/synthetic/demo.h"
#include "facebench/synthetic/render.h"
#include "facebench/synthetic/writer.h"
#include "images.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

py::dict demo_to_python(const DemoResult& result) {
  const py::list runs = dicts_of(result.runs, "folder", &DemoRun::folder, "protocol",
                                 &DemoRun::protocol, "title", &DemoRun::title);
  const py::list steps = dicts_of(result.steps, "name", &DemoStep::name, "detail",
                                  &DemoStep::detail, "seconds", &DemoStep::seconds);
  return py::dict(py::arg("folder") = result.folder, py::arg("runs") = runs,
                  py::arg("steps") = steps);
}

}  // namespace

void bind_synthetic(py::module_& m) {
  bind_options<DemoOptions>(m);
  bind_options<FaceNuisance>(m);
  bind_options<SyntheticOptions>(m);
  bind_options<SheetOptions>(m);
  py::class_<FaceIdentity>(m, "FaceIdentity", "What makes one synthetic person.")
      .def_readonly("index", &FaceIdentity::index)
      .def_property_readonly("traits", [](const FaceIdentity& identity) {
        py::dict traits;
        for (int i = 0; i < kFaceTraits; ++i)
          traits[py::str(face_trait_names()[i])] = identity.traits[i];
        return traits;
      });
  m.def("make_identity", &make_identity, py::arg("seed"), py::arg("index"),
        py::arg("spread") = 0.6);
  m.def("nuisance_kinds", [] { return table_docs(nuisance_kinds()); });
  m.def("synthetic_layouts", [] { return table_docs(synthetic_layouts()); });
  m.def(
      "make_nuisance",
      [](const std::string& kind, std::uint64_t seed, std::uint64_t number) {
        Random random(seed, "synthetic.nuisance", {number});
        return make_nuisance(kind, random);
      },
      py::arg("kind"), py::arg("seed") = 0, py::arg("number") = 0);
  py::class_<SyntheticFace>(m, "SyntheticFace", "A picture and everything known about it.")
      .def_property_readonly(
          "image",
          [](const py::object& self) {
            const Image& image = self.cast<const SyntheticFace&>().image;
            return view_of(self, image.data.data(), {image.height, image.width, py::ssize_t{3}});
          },
          "uint8 (size, size, 3) RGB")
      .def_property_readonly("box",
                             [](const SyntheticFace& f) {
                               return py::make_tuple(f.box.x0, f.box.y0, f.box.x1, f.box.y1);
                             })
      .def_property_readonly("landmarks",
                             [](const SyntheticFace& f) {
                               std::vector<float> values;
                               for (const Point& p : f.landmarks) {
                                 values.push_back(p.x);
                                 values.push_back(p.y);
                               }
                               return to_numpy(std::move(values), {5, 2});
                             })
      .def_readonly("yaw", &SyntheticFace::yaw)
      .def_readonly("quality", &SyntheticFace::quality)
      .def_property_readonly(
          "age_group",
          [](const SyntheticFace& f) { return std::string(age_group_name(f.age_group)); })
      .def_property_readonly("disguise", [](const SyntheticFace& f) {
        return std::string(disguise_name(f.disguise));
      });
  m.def("render_face", &render_face, py::arg("identity"), py::arg("nuisance"),
        py::arg("size") = 160, py::arg("supersampling") = 2, py::call_guard<WithoutGil>());
  m.def(
      "render_sheet",
      [](const SheetOptions& options, int threads, py::object progress) {
        return image_to_numpy(with_job(threads, std::move(progress),
                                       [&](const Job& job) { return render_sheet(options, job); }));
      },
      py::arg("options") = SheetOptions{}, py::arg("threads") = 0,
      py::arg("progress") = py::none());
  py::class_<SyntheticSummary>(m, "SyntheticSummary", "What write_synthetic_dataset wrote.")
      .def_readonly("folder", &SyntheticSummary::folder)
      .def_readonly("people", &SyntheticSummary::people)
      .def_readonly("images", &SyntheticSummary::images)
      .def_readonly("tree_sha256", &SyntheticSummary::tree_sha256);
  m.def(
      "write_synthetic_dataset",
      [](const SyntheticOptions& options, const std::filesystem::path& folder, int threads,
         py::object progress) {
        return with_job(threads, std::move(progress), [&](const Job& job) {
          return write_synthetic_dataset(options, folder, job);
        });
      },
      py::arg("options"), py::arg("folder"), py::arg("threads") = 0,
      py::arg("progress") = py::none());

  m.def(
      "demo",
      [](const DemoOptions& options, const std::filesystem::path& out, int threads,
         py::object progress) {
        return demo_to_python(with_job(threads, std::move(progress),
                                       [&](const Job& job) { return demo(options, out, job); }));
      },
      py::arg("options"), py::arg("out"), py::arg("threads") = 0, py::arg("progress") = py::none(),
      "See facebench.demo.");
}

}  // namespace facebench

#include "common.h"
#include "facebench/datasets/image_source.h"
#include "modules.h"

namespace facebench {
namespace {

// A view of one image that keeps its source alive.
py::array pixels_of(const py::object& self, std::int64_t index) {
  const auto& source = self.cast<const ImageSource&>();
  const ImageShape shape = source.shape();
  const py::array_t<std::uint8_t> view({shape.height, shape.width, 3}, source.pixels(index), self);
  view.attr("flags").attr("writeable") = false;
  return view;
}

}  // namespace

void bind_datasets(py::module_& m) {
  py::class_<ImageSource>(m, "ImageSource", "Equally large RGB crops, by index.")
      .def("__len__", &ImageSource::size)
      .def_property_readonly(
          "shape",
          [](const ImageSource& s) {
            return py::make_tuple(s.size(), s.shape().height, s.shape().width, 3);
          },
          "(N, H, W, 3).")
      .def("name", &ImageSource::name, py::arg("index"), "The sample's id.")
      .def(
          "status",
          [](const ImageSource& s, std::int64_t i) { return static_cast<int>(s.status(i)); },
          py::arg("index"), "What became of the sample; a number of SampleStatus.")
      .def("pixels", &pixels_of, py::arg("index"), "uint8 (H, W, 3), a read-only view.");
}

}  // namespace facebench

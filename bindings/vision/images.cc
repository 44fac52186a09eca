#include "images.h"

#include <span>
#include <string_view>

#include "arrays.h"
#include "facebench/images/area_sampler.h"
#include "facebench/images/decode.h"
#include "facebench/images/draw.h"
#include "facebench/images/encode.h"
#include "facebench/images/resize.h"
#include "facebench/images/warp.h"
#include "facebench/io/image_files.h"
#include "modules.h"
#include "tables.h"

namespace facebench {

Image image_from_numpy(const py::array& array, ColorOrder order) {
  check_unmasked(array, "an image");
  if (!py::dtype::of<std::uint8_t>().equal(array.dtype()))
    throw py::type_error("an image is an array of uint8 (0 to 255), not of " +
                         std::string(py::str(array.dtype())));
  const bool gray = array.ndim() == 2;
  if (!gray && (array.ndim() != 3 || array.shape(2) != 3))
    throw py::value_error("an image has the shape (height, width, 3) or (height, width)");
  if (array.shape(0) > INT32_MAX || array.shape(1) > INT32_MAX)
    throw py::value_error("the image is too large");
  const auto pixels = PixelArray::ensure(array);
  Image image(static_cast<int>(array.shape(1)), static_cast<int>(array.shape(0)),
              gray ? ColorOrder::gray : order);
  std::copy_n(pixels.data(), image.data.size(), image.data.data());
  return image;
}

PixelArray image_to_numpy(Image&& image) {
  if (image.empty()) return PixelArray(std::vector<py::ssize_t>{0, 0, 3});
  std::vector<py::ssize_t> shape{image.height, image.width};
  if (image.order != ColorOrder::gray) shape.push_back(3);
  return to_numpy(std::move(image.data), shape);
}

void bind_images(py::module_& m) {
  bind_options<DecodeOptions>(m);
  const auto bytes_of = [](const py::bytes& data) {
    const std::string_view view = data;
    return std::as_bytes(std::span(view.data(), view.size()));
  };
  m.def(
      "decode_image",
      [bytes_of](const py::bytes& data, const DecodeOptions& options, const std::string& where) {
        const auto bytes = bytes_of(data);
        Image image;
        {
          const WithoutGil without_gil;
          image = decode_image(bytes, options, where);
        }
        return image_to_numpy(std::move(image));
      },
      py::arg("data"), py::arg("options") = DecodeOptions{}, py::arg("where") = "image");
  m.def(
      "exif_orientation",
      [bytes_of](const py::bytes& data) { return exif_orientation(bytes_of(data)); },
      py::arg("data"));
  m.def("image_formats", &known_image_formats, "The formats that are read, for messages.");
  m.def(
      "read_image",
      [](const std::filesystem::path& path, const DecodeOptions& options) {
        Image image;
        {
          const WithoutGil without_gil;
          image = read_image(path, options);
        }
        return image_to_numpy(std::move(image));
      },
      py::arg("path"), py::arg("options") = DecodeOptions{});
  m.def(
      "write_image",
      [](const std::filesystem::path& path, const py::array& array, const std::string& color,
         int jpeg_quality) {
        const Image image = image_from_numpy(array, parse_color_order(color));
        const WithoutGil without_gil;
        write_image(path, image, jpeg_quality);
      },
      py::arg("path"), py::arg("image"), py::arg("color") = "rgb", py::arg("jpeg_quality") = 95);
  m.def(
      "encode_jpeg",
      [](const py::array& array, int quality, const std::string& color) {
        return py::bytes(encode_jpeg(image_from_numpy(array, parse_color_order(color)), quality));
      },
      py::arg("image"), py::arg("quality") = 95, py::arg("color") = "rgb");
  m.def(
      "encode_png",
      [](const py::array& array, const std::string& color) {
        return py::bytes(encode_png(image_from_numpy(array, parse_color_order(color))));
      },
      py::arg("image"), py::arg("color") = "rgb");
  m.def(
      "encode_pnm",
      [](const py::array& array, const std::string& color) {
        return py::bytes(encode_pnm(image_from_numpy(array, parse_color_order(color))));
      },
      py::arg("image"), py::arg("color") = "rgb");
  m.def(
      "convert_color",
      [](const py::array& array, const std::string& to, const std::string& from) {
        return image_to_numpy(
            convert_color(image_from_numpy(array, parse_color_order(from)), parse_color_order(to)));
      },
      py::arg("image"), py::arg("to"), py::arg("from_") = "rgb");
  m.def(
      "resize",
      [](const py::array& array, int width, int height, const std::string& interpolation) {
        return image_to_numpy(
            resize(image_from_numpy(array), width, height, parse_interpolation(interpolation)));
      },
      py::arg("image"), py::arg("width"), py::arg("height"), py::arg("interpolation") = "bilinear");
  m.def(
      "interpolations", [] { return table_docs(interpolations()); },
      "Filter name -> one line about it.");
  m.def(
      "area_mean",
      [](const py::array& array, int width, int height) {
        if (width < 1 || height < 1) throw py::value_error("the size is at least 1 x 1");
        const Image image = image_from_numpy(array);
        AreaSampler sampler(image);
        sampler.cover(0, 0, image.width, image.height, width, height, 0, 1);
        std::vector<float> out(static_cast<std::size_t>(width) * height * 3);
        sampler.all(out.data());
        return to_numpy(std::move(out), {height, width, 3});
      },
      py::arg("image"), py::arg("width"), py::arg("height"));
  m.def(
      "warp_affine",
      [](const py::array& array, const std::array<std::array<double, 3>, 2>& matrix, int width,
         int height, int border, const std::string& rule) {
        if (border < 0 || border > 255) throw py::value_error("border is 0 to 255");
        const Affine affine{matrix[0][0], matrix[0][1], matrix[0][2],
                            matrix[1][0], matrix[1][1], matrix[1][2]};
        return image_to_numpy(warp_affine(image_from_numpy(array), affine, width, height,
                                          static_cast<std::uint8_t>(border),
                                          parse_warp_rule(rule)));
      },
      py::arg("image"), py::arg("matrix"), py::arg("width"), py::arg("height"),
      py::arg("border") = 0, py::arg("rule") = "opencv4");
  m.def(
      "warp_rules", [] { return table_docs(warp_rules()); }, "Rule of warps -> one line about it.");
}

}  // namespace facebench

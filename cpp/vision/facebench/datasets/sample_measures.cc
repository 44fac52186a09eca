#include "facebench/datasets/sample_measures.h"

#include <cmath>
#include <limits>

namespace facebench {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double box_size(const Pack& pack, std::int64_t index) {
  const Box b = pack.box(index);
  const double area = static_cast<double>(b.x1 - b.x0) * static_cast<double>(b.y1 - b.y0);
  return area > 0 ? std::sqrt(area) : kNan;
}

double eye_distance(const Pack& pack, std::int64_t index) {
  const Landmarks l = pack.landmarks(index);
  const double distance = std::hypot(l[1].x - l[0].x, l[1].y - l[0].y);
  return distance > 0 ? distance : kNan;
}

// How far the nose's foot on the line of the eyes is from the middle between them.
double frontality(const Pack& pack, std::int64_t index) {
  const Landmarks l = pack.landmarks(index);
  const double x = l[1].x - l[0].x, y = l[1].y - l[0].y, square = x * x + y * y;
  if (!(square > 0)) return kNan;
  const double along = ((l[2].x - l[0].x) * x + (l[2].y - l[0].y) * y) / square;
  return -std::abs(along - 0.5);
}

// The Laplacian of four neighbours, inside of the border, on the luma of ITU-R BT.601.
double sharpness(const Pack& pack, std::int64_t index) {
  const auto [height, width] = pack.shape();
  const std::uint8_t* pixels = pack.pixels(index);
  // Clang 14 takes no structured binding into a lambda by itself.
  const auto grey = [pixels, width = width](int x, int y) {
    const std::uint8_t* p = pixels + 3 * (std::ptrdiff_t{y} * width + x);
    return 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
  };
  double sum = 0, squares = 0;
  for (int y = 1; y + 1 < height; ++y)
    for (int x = 1; x + 1 < width; ++x) {
      const double value =
          grey(x - 1, y) + grey(x + 1, y) + grey(x, y - 1) + grey(x, y + 1) - 4 * grey(x, y);
      sum += value;
      squares += value * value;
    }
  const double count = static_cast<double>(height - 2) * (width - 2);
  return count > 0 ? squares / count - sum / count * (sum / count) : kNan;
}

}  // namespace

const Table<SampleMeasure>& sample_measures() {
  static const Table<SampleMeasure> table(
      "measure of quality",
      {{"box_size", "side of a square as large as the face's box, pixels of the photograph", "",
        box_size},
       {"eye_distance", "distance of the eyes, pixels of the photograph",
        "ISO/IEC 29794-5 (inter-eye distance)", eye_distance},
       {"sharpness", "variance of the Laplacian of the grey crop",
        "Pech-Pacheco et al., ICPR 2000 (variance of the Laplacian)", sharpness},
       {"frontality",
        "minus the nose's distance, along the line of the eyes, from the middle between them, in "
        "eye distances: 0 is frontal, yaw lowers it",
        "", frontality}});
  return table;
}

std::vector<double> measure_samples(const Pack& pack, std::string_view name, const Job& job) {
  const SampleMeasure& measure = sample_measures().at(name);
  std::vector<double> values(static_cast<std::size_t>(pack.size()), kNan);
  parallel_for(pack.size(), job, [&](std::int64_t i, int) {
    if (pack.status(i) == SampleStatus::ok)
      values[static_cast<std::size_t>(i)] = measure.value(pack, i);
  });
  return values;
}

}  // namespace facebench

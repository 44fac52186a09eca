#include "facebench/detection/internal/mtcnn_cascade.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "facebench/detection/internal/mtcnn_inputs.h"
#include "facebench/detection/internal/mtcnn_pyramid.h"

namespace facebench {
namespace {

constexpr int kStride = 2, kCell = 12;

// One image on its way through the cascade, with box coordinates in the precision T.
template <class T>
class Cascade {
 public:
  Cascade(const Image& image, const MtcnnOptions& options, const MtcnnRules& rules,
          MtcnnNetworks& networks)
      : image_(image),
        options_(options),
        rules_(rules),
        nms_(rules.nms(options)),
        networks_(networks),
        inputs_(image, rules, options.path == "plain") {}

  std::vector<Face> run() {
    std::vector<Candidate<T>> boxes = propose();
    boxes = refine(std::move(boxes));
    boxes = output(std::move(boxes));
    std::vector<Face> faces;
    faces.reserve(boxes.size());
    const T offset = static_cast<T>(options_.box_offset);
    for (const Candidate<T>& c : boxes) {
      Face face;
      face.box = {static_cast<float>(c.x0 + offset), static_cast<float>(c.y0 + offset),
                  static_cast<float>(c.x1 + offset), static_cast<float>(c.y1 + offset)};
      face.score = c.score;
      face.has_landmarks = true;
      for (int k = 0; k < 5; ++k)
        face.landmarks[k] = {c.landmarks[k] + static_cast<float>(offset),
                             c.landmarks[5 + k] + static_cast<float>(offset)};
      faces.push_back(face);
    }
    return faces;
  }

 private:
  // P-Net over the pyramid.
  std::vector<Candidate<T>> propose() {
    std::vector<Candidate<T>> all;
    const MtcnnPyramid pyramid{options_.min_face, options_.max_face.value_or(0), options_.factor,
                               rules_.power_scales, rules_.ceil_size};
    for (const auto& [scale, width, height] : mtcnn_levels(pyramid, image_.width, image_.height)) {
      const auto kept = suppress(candidates(width, height, scale), nms_[0]);
      all.insert(all.end(), kept.begin(), kept.end());
    }
    all = suppress(all, nms_[1]);
    for (Candidate<T>& c : all) {
      apply_correction(c, T{0});
      make_square(c, rules_.round_square);
    }
    return all;
  }

  std::vector<MtcnnCell> cells(int width, int height) {
    const MtcnnNetworks::LevelRows rows = inputs_.level(width, height);
    auto cells_found =
        networks_.pnet(rows, width, height, static_cast<float>(options_.thresholds[0]));
    if (cells_found.size() != 1 || !(rules_.mirror_single || rules_.transpose_single))
      return cells_found;
    // Errors of the original programs, reproduced: they take the corrections of another cell.
    MtcnnCell& cell = cells_found[0];
    const int columns = MtcnnNetworks::pnet_cells(width);
    const int rows_of_cells = MtcnnNetworks::pnet_cells(height);
    const int index = cell.y * columns + cell.x;
    const int x = rules_.mirror_single ? columns - 1 - cell.x : index / rows_of_cells;
    const int y = rules_.mirror_single ? cell.y : index % rows_of_cells;
    const MtcnnCell other = cell_at(rows, width, height, x, y);
    std::copy_n(other.correction, 4, cell.correction);
    return cells_found;
  }

  // One cell of a level, from the pixels that it sees. They begin in an even row of cells, so that
  // rows are paired as in the whole level.
  MtcnnCell cell_at(const MtcnnNetworks::LevelRows& rows, int width, int height, int x, int y) {
    const int left = kStride * x, top = kStride * (y - y % 2);
    const int columns = std::min(kCell, width - left);
    const int count = std::min(kCell + kStride * (y % 2), height - top);
    std::vector<float> row(3 * static_cast<std::size_t>(width));
    const auto part = [&](int j, float* planes, long stride) {
      rows(top + j, row.data(), width);
      for (int c = 0; c < 3; ++c)
        std::copy_n(&row[static_cast<std::size_t>(c) * width + left], columns, planes + c * stride);
    };
    return networks_.pnet(part, columns, count, 0).back();
  }

  std::vector<Candidate<T>> candidates(int width, int height, double scale) {
    std::vector<MtcnnCell> cells_found = cells(width, height);
    if (rules_.columns_first)
      std::stable_sort(cells_found.begin(), cells_found.end(),
                       [](const MtcnnCell& a, const MtcnnCell& b) { return a.x < b.x; });
    std::vector<Candidate<T>> result;
    result.reserve(cells_found.size());
    const T s = static_cast<T>(scale);
    for (const MtcnnCell& cell : cells_found) {
      Candidate<T> c{};
      c.x0 = std::floor(static_cast<T>(kStride * cell.x + 1) / s);
      c.y0 = std::floor(static_cast<T>(kStride * cell.y + 1) / s);
      c.x1 = std::floor(static_cast<T>(kStride * cell.x + kCell) / s);
      c.y1 = std::floor(static_cast<T>(kStride * cell.y + kCell) / s);
      c.score = cell.score;
      std::copy_n(cell.correction, 4, c.correction);
      result.push_back(c);
    }
    return result;
  }

  // R-Net on the crops of the boxes.
  std::vector<Candidate<T>> refine(std::vector<Candidate<T>> boxes) {
    const std::vector<MtcnnWindow> windows = cut(boxes);
    const int count = static_cast<int>(boxes.size());
    probability_.resize(boxes.size());
    correction_.resize(4 * boxes.size());
    networks_.rnet(
        count, [&](int i, float* out) { inputs_.crop(windows[i], 24, out); }, probability_.data(),
        correction_.data());
    boxes = suppress(passed(boxes, options_.thresholds[1]), nms_[2]);
    for (Candidate<T>& c : boxes) {
      apply_correction(c, T{1});
      make_square(c, rules_.round_square);
    }
    return boxes;
  }

  // O-Net on the crops of the boxes.
  std::vector<Candidate<T>> output(std::vector<Candidate<T>> boxes) {
    const std::vector<MtcnnWindow> windows = cut(boxes);
    const int count = static_cast<int>(boxes.size());
    probability_.resize(boxes.size());
    correction_.resize(4 * boxes.size());
    std::vector<float> landmarks(10 * boxes.size());
    networks_.onet(
        count, [&](int i, float* out) { inputs_.crop(windows[i], 48, out); }, probability_.data(),
        correction_.data(), landmarks.data());
    if (rules_.mirror_landmarks) average_mirrored(windows, landmarks);
    const T offset = static_cast<T>(rules_.landmark_offset);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      Candidate<T>& c = boxes[i];
      const T w = c.x1 - c.x0 + 1, h = c.y1 - c.y0 + 1;
      for (int k = 0; k < 5; ++k) {
        c.landmarks[k] =
            static_cast<float>(w * static_cast<T>(landmarks[10 * i + k]) + c.x0 + offset);
        c.landmarks[5 + k] =
            static_cast<float>(h * static_cast<T>(landmarks[10 * i + 5 + k]) + c.y0 + offset);
      }
    }
    boxes = passed(boxes, options_.thresholds[2]);
    for (Candidate<T>& c : boxes) apply_correction(c, T{1});
    return suppress(boxes, nms_[3]);
  }

  // The mean of the landmarks and of those that O-Net sees in the mirrored crops.
  void average_mirrored(const std::vector<MtcnnWindow>& windows, std::vector<float>& landmarks) {
    constexpr int side = 48;
    std::vector<float> mirrored(landmarks.size()), ignored(5 * windows.size());
    networks_.onet(
        static_cast<int>(windows.size()),
        [&](int i, float* out) {
          inputs_.crop(windows[i], side, out);
          for (int y = 0; y < side; ++y)
            for (int x = 0; x < side / 2; ++x)
              std::swap_ranges(out + 3 * (y * side + x), out + 3 * (y * side + x) + 3,
                               out + 3 * (y * side + side - 1 - x));
        },
        ignored.data(), ignored.data() + windows.size(), mirrored.data());
    constexpr int other[] = {1, 0, 2, 4, 3};  // left is right
    for (std::size_t i = 0; i < landmarks.size(); i += 10) {
      for (int k = 0; k < 5; ++k) {
        float &x = landmarks[i + k], &y = landmarks[i + 5 + k];
        x = (x + 1 - mirrored[i + other[k]]) / 2;
        y = (y + mirrored[i + 5 + other[k]]) / 2;
      }
    }
  }

  // Those whose new score passes, with the new score and corrections.
  std::vector<Candidate<T>> passed(const std::vector<Candidate<T>>& boxes, double threshold) const {
    std::vector<Candidate<T>> result;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (!(probability_[i] > static_cast<float>(threshold))) continue;
      Candidate<T> c = boxes[i];
      c.score = probability_[i];
      std::copy_n(&correction_[4 * i], 4, c.correction);
      result.push_back(c);
    }
    return result;
  }

  // Keeps those boxes that have pixels, and returns what to cut out for each.
  std::vector<MtcnnWindow> cut(std::vector<Candidate<T>>& boxes) const {
    std::vector<MtcnnWindow> windows;
    windows.reserve(boxes.size());
    for (const Candidate<T>& c : boxes) {
      if (!c.within(2 * static_cast<T>(std::max(image_.width, image_.height)))) continue;
      const MtcnnWindow box{static_cast<int>(c.x0), static_cast<int>(c.y0), static_cast<int>(c.x1),
                            static_cast<int>(c.y1)};
      const MtcnnWindow window = rules_.zero_pad ? box : inputs_.inside(box);
      if (window.empty()) continue;
      boxes[windows.size()] = c;
      windows.push_back(window);
    }
    boxes.resize(windows.size());
    return windows;
  }

  const Image& image_;
  const MtcnnOptions& options_;
  const MtcnnRules& rules_;
  std::array<NmsRule, 4> nms_;  // within a level, over all levels, after R-Net, after O-Net
  MtcnnNetworks& networks_;
  MtcnnInputs inputs_;
  std::vector<float> probability_, correction_;
};

}  // namespace

std::vector<Face> run_mtcnn(const Image& image, const MtcnnOptions& options,
                            const MtcnnRules& rules, MtcnnNetworks& networks) {
  if (rules.double_arithmetic) return Cascade<double>(image, options, rules, networks).run();
  return Cascade<float>(image, options, rules, networks).run();
}

}  // namespace facebench

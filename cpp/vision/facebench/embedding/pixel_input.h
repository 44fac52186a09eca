#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/datasets/image_source.h"

namespace facebench {

// The last step from an RGB image to a network's input, the same in training and embedding: colour
// order, then (value - mean) / std with values 0..255. `mean` and `std` are in the order of the
// network's channels (blue first with "bgr"), one number for all or one for each.
class PixelInput {
 public:
  // color: "rgb", "bgr" or "gray" (ITU-R BT.601 luma). Throws std::invalid_argument for another
  // one, or numbers that do not fit.
  PixelInput(std::string_view color, const std::vector<double>& mean,
             const std::vector<double>& std);

  int channels() const { return gray_ ? 1 : 3; }

  // What is done to an image on its way: mirrored left to right first, then moved right by dx and
  // down by dy pixels; what is uncovered repeats the edge.
  struct Placement {
    bool mirror = false;
    int dx = 0;
    int dy = 0;
    bool operator==(const Placement&) const = default;
  };

  // H x W x channels (interleaved) or channels x H x W (planar) numbers into `out`.
  void write(const std::uint8_t* rgb, const ImageShape& shape, const Placement& placement,
             bool interleaved, float* out) const;
  // The same of an image in floats 0..255, interleaved.
  void write(const float* rgb, const ImageShape& shape, const Placement& placement,
             bool interleaved, float* out) const;

 private:
  // Means and factors of the values of a row, as PixelKernels takes them.
  struct Pattern {
    std::array<float, 48> mean, factor;
  };
  enum class Way { multiply, divide, table };

  void choose_way();
  // `count` bytes of channel c, or of all channels in turn (c = channels()).
  void scale(const std::uint8_t* bytes, std::int64_t count, int c, float* out) const;
  float channel(const float* rgb, int c) const;

  bool gray_ = false;
  std::array<int, 3> from_{0, 1, 2};  // which of R, G, B a channel is
  std::array<double, 3> mean_{}, std_{};
  std::array<std::array<float, 256>, 3> table_{};  // of all values of a byte
  // How float arithmetic gives the table's numbers to the bit; if it does not, the table is used.
  Way way_ = Way::table;
  std::array<Pattern, 4> patterns_{};  // of each channel, then of all in turn
};

}  // namespace facebench

#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "detection/mtcnn_kernels.h"
#include "facebench/core/isa.h"

namespace facebench {

// The three networks of MTCNN. Inputs are [y][x][rgb], (value - 127.5) / 128. Thread-safe: scratch
// memory belongs to the caller.
class MtcnnNetworks {
 public:
  using Scratch = std::array<std::vector<float>, 2>;

  // Throws Error where a tensor is missing or has another shape or type.
  explicit MtcnnNetworks(const std::filesystem::path& weights);

  // Of the weights file, for manifests.
  const std::string& sha256() const { return sha256_; }
  // That the kernels use: the one active when the object was made.
  Isa isa() const { return isa_; }

  // Cells along a side of P-Net's answer: one for every second pixel, windows of 12 pixels, one
  // more where the side is odd. At least 1 from 12 pixels on.
  static int pnet_cells(int side) { return (side - 1) / 2 - 4; }
  // The probability of a face and four box corrections for each cell of a level.
  void pnet(const float* level, int height, int width, Scratch& scratch,
            std::vector<float>& probability, std::vector<float>& correction) const;
  // `count` crops of 24 x 24.
  void rnet(const float* crops, int count, Scratch& scratch, float* probability,
            float* correction) const;
  // `count` crops of 48 x 48; ten landmark coordinates each, x1..x5 y1..y5, as shares of the box.
  void onet(const float* crops, int count, Scratch& scratch, float* probability, float* correction,
            float* landmarks) const;

 private:
  // A layer's own memory, as the kernels want it.
  struct Layer {
    std::vector<float> weights, bias, slope;
    ConvLayer shape;
    ConvLayer view() const;
  };
  class Loader;

  Isa isa_;
  const MtcnnKernels* kernels_;
  std::string sha256_;
  std::array<Layer, 4> p_;
  std::array<Layer, 5> r_;
  std::array<Layer, 6> o_;
};

}  // namespace facebench

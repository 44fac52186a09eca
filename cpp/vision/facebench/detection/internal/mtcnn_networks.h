#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "facebench/core/isa.h"
#include "facebench/detection/internal/mtcnn_weights.h"

namespace facebench {

// A cell of P-Net's answer that may hold a face.
struct MtcnnCell {
  int x, y;
  float score;
  float correction[4];
};

// One way of computing MTCNN's three networks, for one image at a time: it holds scratch memory, so
// a thread makes its own. Inputs are rgb, (value - 127.5) / 128.
class MtcnnNetworks {
 public:
  virtual ~MtcnnNetworks() = default;

  // Cells along a side of P-Net's answer: one for every second pixel, windows of 12 pixels, one
  // more where the side is odd. At least 1 from 12 pixels on.
  static int pnet_cells(int side) { return (side - 1) / 2 - 4; }

  // Writes row y of a level as three planes that lie `stride` values apart.
  using LevelRows = std::function<void(int y, float* planes, long stride)>;
  // The cells of a level that score at least `threshold`, row by row.
  virtual std::vector<MtcnnCell> pnet(const LevelRows& rows, int width, int height,
                                      float threshold) = 0;
  // Writes crop i as [side][side][3]; called once for each crop, from the first.
  using Crops = std::function<void(int i, float* crop)>;
  // R-Net on `count` crops of 24 pixels: probability[count], correction[count][4].
  virtual void rnet(int count, const Crops& crops, float* probability, float* correction) = 0;
  // O-Net on `count` crops of 48 pixels; landmarks[count][10] are x1..x5 y1..y5 as shares of the
  // box.
  virtual void onet(int count, const Crops& crops, float* probability, float* correction,
                    float* landmarks) = 0;
};

// Makes the networks of one thread. Holds the weights as the path wants them; thread-safe.
using MtcnnNetworksFactory = std::function<std::unique_ptr<MtcnnNetworks>()>;
// Simple loops, the reference for the kernels.
MtcnnNetworksFactory plain_mtcnn(const MtcnnWeights& weights);
// Kernels for an instruction set.
MtcnnNetworksFactory fast_mtcnn(const MtcnnWeights& weights, Isa isa);

}  // namespace facebench

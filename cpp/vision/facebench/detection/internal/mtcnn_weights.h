#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace facebench {

// A convolution (kernel x kernel, stride 1, no padding) or a dense layer on a map of that size,
// with the PReLU that follows it.
struct MtcnnLayer {
  int kernel = 1;
  int inputs = 0;
  int outputs = 0;
  std::vector<float> weights;  // [y][x][input][output]
  std::vector<float> bias;     // [output]
  std::vector<float> slope;    // [output]; 1 = no activation
};

// The three networks of MTCNN (Zhang et al. 2016, figure 2). The last layer of each holds all of
// its heads: two logits (face is the second), four box corrections, and O-Net's ten landmark
// coordinates, x1..x5 y1..y5.
struct MtcnnWeights {
  std::array<MtcnnLayer, 4> p;
  std::array<MtcnnLayer, 5> r;
  std::array<MtcnnLayer, 6> o;
  std::string sha256;  // of the file
};

// Throws Error where a tensor is missing, not finite, or has another shape or type.
MtcnnWeights read_mtcnn_weights(const std::filesystem::path& path);

}  // namespace facebench

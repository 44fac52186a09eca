#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "facebench/core/isa.h"
#include "facebench/detection/dlib_layers.h"
#include "facebench/detection/internal/conv_layer.h"
#include "facebench/images/image.h"

namespace facebench {

struct DlibCnnKernels;

// A box in whole pixels as dlib's: right and bottom belong to it.
struct DlibBox {
  long left, top, right, bottom;
  long width() const { return right - left + 1; }
  long height() const { return bottom - top + 1; }
};

// dlib's CNN detector: seven convolutions over an image and its copies, each 5/6 of the one before,
// which lie side by side in one picture; a face is where the last of them is above a threshold and
// no better one overlaps it. Source: dlib 19, dnn_mmod_face_detection_ex.cpp, loss_mmod_ in
// dnn/loss.h, input_rgb_image_pyramid in dnn/input.h; King, "Max-margin object detection",
// arXiv:1502.00046.
class DlibCnn {
 public:
  // Throws Error where the layers are not those of the detector. `where` names their file.
  DlibCnn(std::span<const DlibConvolution> convolutions, Isa isa, std::string_view where);

  struct Found {
    double score;
    DlibBox box;
  };
  // Of an rgb image, best first. Safe to call from several threads at once.
  std::vector<Found> find(const Image& image, double threshold) const;

 private:
  // The batch norm is folded into the weights; the outputs beyond the layer's own are 0.
  struct Layer {
    std::vector<float> weights, bias, slope;
    ConvLayer shape;  // its pointers are set where it is used: layers move
    long stride, padding;
  };
  // [y][x][channel], with the zeros around it that the layer which reads it wants.
  struct Map {
    long height, width, channels, padding;
    std::vector<float> values;
    Map(long height, long width, long channels, long padding);
    float* at(long y, long x) {
      return &values[((y + padding) * (width + 2 * padding) + x + padding) * channels];
    }
    long row() const { return (width + 2 * padding) * channels; }
  };

  Map scores(Map input) const;

  const DlibCnnKernels& kernels_;
  std::vector<Layer> layers_;
};

// Where an image and its smaller copies lie in the one picture, largest first.
struct DlibTiles {
  long height, width;
  std::vector<DlibBox> levels;
};
DlibTiles dlib_tiles(long height, long width);

}  // namespace facebench

#pragma once

// The C interface between the library and libfacebench_cuda for MTCNN. Texts are ended by 0.
extern "C" {

// A convolution or a dense layer, as MtcnnLayer.
struct facebench_mtcnn_layer {
  int kernel, inputs, outputs;
  const float *weights, *bias, *slope;  // weights [y][x][input][output]
};

// The layers of P-Net (4), R-Net (5) and O-Net (6), one after the other.
constexpr int facebench_mtcnn_layers = 15;

// One of the four suppressions: within a level, over all levels, after R-Net, after O-Net.
struct facebench_mtcnn_nms {
  double limit;  // overlap above it suppresses
  int of_smaller, plus_one, last_of_equal;
};

struct facebench_mtcnn_rules {
  double min_face, max_face, factor;
  float thresholds[3];
  facebench_mtcnn_nms nms[4];
  int power_scales, ceil_size, zero_pad, round_square, columns_first;
  int opencv_area;        // levels by OpenCV's area filter in 8 bits, crops in floating point
  int mirror_single;      // a level with one candidate reads the cell mirrored left to right
  int double_arithmetic;  // of box coordinates
  float landmark_offset, box_offset;
};

struct facebench_mtcnn_image {
  const unsigned char* pixels;  // rgb, no padding; on the host
  int width, height;
};

struct facebench_mtcnn_face {
  float box[4];
  float score;
  float landmarks[10];  // x1..x5 y1..y5
};

// What images may have at most in the mean; an image for which there is no place is told by its
// count.
constexpr int facebench_mtcnn_most_faces = 1024;

// A detector on a device; 0: none, and `reason` says why.
void* facebench_mtcnn_open(int device, const facebench_mtcnn_rules* rules,
                           const facebench_mtcnn_layer* layers, char* reason, int reason_size);
// The faces of `count` images, one image after the other, best first, and how many each has; -1
// where an image had more candidates than the device's memory was laid out for: it must be detected
// otherwise. `faces` has room for count * facebench_mtcnn_most_faces. One call at a time. Returns
// 0, or -1 and the reason.
int facebench_mtcnn_detect(void* detector, const facebench_mtcnn_image* images, int count,
                           facebench_mtcnn_face* faces, int* counts, char* reason, int reason_size);
void facebench_mtcnn_close(void* detector);
}

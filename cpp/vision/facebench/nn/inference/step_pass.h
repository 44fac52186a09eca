#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "facebench/nn/inference/plan.h"
#include "facebench/nn/internal/memory_cache.h"

namespace facebench {

// Memory for some images at once and what one thread needs beside it. What is walked through for
// each image has large pages, as weights do (plan.h).
struct InferenceWorkspace {
  std::vector<at::Tensor> arenas;  // of the images of a group
  at::Tensor scratch;

  float* arena(std::size_t i, long size) {
    while (arenas.size() <= i) arenas.push_back(in_large_pages(size));
    return arenas[i].data_ptr<float>();
  }
  float* floats(long size) {
    if (!scratch.defined() || scratch.numel() < size) scratch = in_large_pages(size);
    return scratch.data_ptr<float>();
  }
};

// One step for some images, or one of several threads' part of it.
class StepPass {
 public:
  StepPass(const Plan& plan, const at::Tensor& images, InferenceWorkspace& workspace, int part,
           int parts)
      : plan_(plan),
        kernels_(*plan.kernels),
        images_(images),
        workspace_(workspace),
        part_(part),
        parts_(parts) {}

  // arenas[i] is that of image first + i.
  void run(const Step& step, const std::vector<float*>& arenas, std::int64_t first);
  // The value as torch has it, channel by channel.
  void read(int value, float* arena, float* out) const;

 private:
  const ValueShape& shape(int value) const { return plan_.values[at_index(value)]; }
  const Home& home(int value) const {
    return plan_.homes[at_index(plan_.places[at_index(value)].home)];
  }
  const ConvKernel& kernel(const Step& step) const { return plan_.conv_kernel(step); }
  // Of a block's pixel.
  long words(const Step& step) const { return plan_.lanes() / kernel(step).per_word; }
  long blocks(int value) const {
    return (shape(value).channels + plan_.lanes() - 1) / plan_.lanes();
  }
  BlockView view(int value, float* arena) const;

  void clear_border(int value, float* arena) const;
  void patches(const Step& step, float* arena, std::int64_t image);
  // Of `pixel` floats or words a pixel.
  Window window(const Step& step, const BlockView& in, long pixel);
  static ConvWork conv_work(const Step& step);
  // Points the work at one slab.
  void set_slab(ConvWork& w, const Step& step, const Slab& slab) const;
  void conv(const Step& step, const std::vector<float*>& arenas);
  // The input of rows [from, to) of outputs, from the pixel under the first tap of the first row of
  // all: where it lies, or its words, which go to scratch as those of image i of `images`.
  BlockView input_rows(const Step& step, const ConvWork& w, float* arena, long from, long to,
                       std::size_t i, std::size_t images) const;
  // Tiles of one image that are computed together with those of others.
  struct Strip {
    float* arena;
    long from, to;
  };
  void winograd(const Step& step, const std::vector<float*>& arenas);
  void winograd_strips(const Step& step, const std::vector<Strip>& strips,
                       std::pair<long, long> slabs, long across, long tiles);
  // Points the work at one slab of one image, whose input is `in`.
  void point(ConvWork& w, const Step& step, const Slab& slab, float* arena, const BlockView& in);
  // The images are the pixels of a 1x1 convolution; their numbers are brought together first.
  void linear(const Step& step, const std::vector<float*>& arenas);
  void depthwise(const Step& step, float* arena);
  void pool(const Step& step, float* arena) const;
  void pointwise(const Step& step, float* arena) const;
  void shift(const Step& step, float* arena) const;

  const Plan& plan_;
  const InferenceKernels& kernels_;
  const at::Tensor& images_;
  InferenceWorkspace& workspace_;
  std::vector<long> taps_;  // of the window in use
  int part_, parts_;
};

}  // namespace facebench

#pragma once

// Kernels of inference on values laid out in channel blocks: a value is blocks of `lanes` channels
// (a vector register of floats), each block rows of pixels, each pixel its `lanes` channels. What
// the last block has beyond the value's channels is finite, and no result depends on it. Included
// by files that are compiled for several instruction sets, so it includes nothing (head_kernels.h
// says why).

namespace facebench {

// The first pixel of a value, and the floats between blocks of channels and between rows.
struct BlockView {
  float* data = nullptr;
  long block = 0;
  long row = 0;
};

// A window that slides over a value: its taps, row by row, as floats from the first one, and its
// steps.
struct Window {
  const long* taps = nullptr;
  int count = 0;
  int step_down = 1, step_right = 1;
};

enum class Activation : int { none, relu, relu6, prelu };

// A vector of slopes is read for prelu alone.
struct ActivationStage {
  Activation kind = Activation::none;
  const float* slope = nullptr;
};

// A convolution multiplies floats, or numbers of lower precision, of which a word of 32 bits holds
// several: two bfloat16, four bytes, or two bytes as 16 bits where no instruction multiplies four;
// neighbouring channels, the first in the lowest bits. What a word has beyond the channels is zero
// in the weights.
constexpr int kPrecisions = 3;  // float32, bfloat16, int8 (nn/inference_precision.h)

// A float x as a byte: x * scale + zero, rounded to nearest and limited to 0..255.
struct ByteScale {
  float scale = 1;
  float zero = 0;  // a whole number
};

// A convolution for one slab: 1 to 3 neighbouring blocks of output channels. With s the sum of bias
// and products, the result is s, with the larger of two blocks taken, `residual` added and the
// activation applied (which of both comes first is said); `affine` is the result times a scale plus
// a shift, and an activation of its own.
struct ConvWork {
  BlockView in;  // the pixel under the first tap of the first output; words, as the window's taps
  int in_blocks = 0;
  int last_words = 0;  // of the last block
  Window window;
  const void* weights = nullptr;  // words: (in_blocks, window, words, slab's blocks, lanes)
  // The next call's weights lie behind these and are asked of memory meanwhile.
  bool weights_follow = false;
  const float* bias = nullptr;
  // Of bytes, whose sums are integers: what these begin with, and what they are multiplied by
  // before the bias is added.
  const int* begin = nullptr;
  const float* scale = nullptr;
  bool larger_of_two = false;  // of the slab's two blocks; the outputs have one
  BlockView residual;          // data null: none
  bool residual_first = true;
  ActivationStage activation;
  BlockView out;     // data null: not wanted
  BlockView affine;  // data null: not wanted
  const float* affine_scale = nullptr;
  const float* affine_shift = nullptr;
  ActivationStage affine_activation;
  // Outputs in all, and in a row; the last row may be shorter.
  long pixels = 0;
  long width = 0;
};

// Winograd's method along one axis: so many neighbouring outputs of a window of so many taps come
// from the products of `values` = outputs + taps - 1 numbers, in place of outputs * taps.
struct WinogradAxis {
  int outputs = 1, taps = 1, values = 1;
};
struct WinogradForm {
  WinogradAxis down, across;
  int parts = 1;  // values of a tile
};
namespace {  // of its own in each file, as all that is compiled for several instruction sets
constexpr WinogradForm winograd_form(WinogradAxis down, WinogradAxis across) {
  down.values = down.outputs + down.taps - 1;
  across.values = across.outputs + across.taps - 1;
  return {down, across, down.values * across.values};
}
}  // namespace
constexpr int kWinogradForms = 7;
constexpr WinogradForm kWinogradForm[kWinogradForms] = {
    winograd_form({2, 3}, {2, 3}),  // the one that bfloat16 has too
    winograd_form({4, 3}, {4, 3}), winograd_form({2, 5}, {2, 5}), winograd_form({}, {4, 3}),
    winograd_form({4, 3}, {}),     winograd_form({}, {2, 7}),     winograd_form({2, 7}, {})};
// The points p at which the polynomials of an axis are taken, by pairs of them: p and -p, beside
// zero and infinity. They are exact in few bits, and lie closer to each other in size than the
// usual 1, 2 and 1/2, which halves the rounding errors.
constexpr double kWinogradPoints[4][3] = {{}, {1}, {0.75, 1.5}, {0.5, 0.875, 1.5}};

// A convolution of stride 1 by Winograd's method: each tile of inputs, of which the next begins as
// many pixels on as there are outputs, becomes values; a product of matrices for each part of these
// makes sums, which become outputs. Source: Lavin & Gray, "Fast algorithms for convolutional neural
// networks", CVPR 2016, section 4.1; Barabasz et al., "Error analysis and improving the accuracy of
// Winograd convolution for deep neural networks", 2020, on the points.
struct WinogradWork {
  BlockView in;  // the pixel under the first tap of the first output
  int in_blocks = 0;
  long across = 0;  // tiles in a row of them
  // The values of some tiles, (parts, in_blocks, tiles, lanes), and the sums of one slab, (parts,
  // blocks, tiles, lanes): the floats between their parts and blocks.
  float* inputs = nullptr;  // or words of bfloat16
  long inputs_part = 0, inputs_block = 0;
  const float* sums = nullptr;
  long sums_part = 0, sums_block = 0;
  float* rows = nullptr;  // room for a tile's rows of outputs of a slab
};

// A convolution of each channel with its own weights, for some blocks.
struct DepthwiseWork {
  BlockView in;
  Window window;
  const float* weights = nullptr;  // (blocks, window, lanes)
  const float* bias = nullptr;
  ActivationStage activation;
  BlockView out;
  long height = 0, width = 0;
};

// For each output row and column the range of input rows and columns in its window. The average is
// the sum divided by the product of the divisors.
struct PoolWork {
  BlockView in, out;
  long height = 0, width = 0;
  const int* top = nullptr;
  const int* bottom = nullptr;
  const int* left = nullptr;
  const int* right = nullptr;
  const float* row_divisor = nullptr;  // null: the largest
  const float* column_divisor = nullptr;
};

// out = activation(scale x + shift + residual); null: 1 and 0.
struct PointwiseWork {
  BlockView in, residual, out;
  bool residual_is_a_pixel = false;  // for all
  long height = 0, width = 0;
  const float* scale = nullptr;
  const float* shift = nullptr;
  ActivationStage activation;
};

// A value brought to where its channels begin at lane `shift` of the first block of `out`, whose
// lanes before stay. Reads up to a pixel before and behind the value, for lanes that it drops.
struct ShiftWork {
  BlockView in, out;
  int shift = 0;
  long in_blocks = 0, height = 0, width = 0;
};

// What conv_kernels.cc, pair_kernels.cc, byte_kernels.cc and winograd_kernels.cc add to the others.
struct ConvKernel {
  int per_word;
  // Rows [from, to) of one slab of `blocks` blocks.
  void (*run)(const ConvWork& work, int blocks, long from, long to);
  // The words of so many neighbouring pixels of one block; null for floats.
  void (*words)(const float* in, long pixels, const ByteScale& bytes, void* out);
};
struct WinogradKernels {
  // Tiles [from, to); theirs are the first of the inputs and sums. By form, and by precision; null:
  // none.
  void (*inputs[kWinogradForms][kPrecisions])(const WinogradWork& work, long from, long to);
  void (*outputs[kWinogradForms])(const WinogradWork& work, const ConvWork& conv, int blocks,
                                  long from, long to);
};

struct InferenceKernels {
  int lanes;
  const ConvKernel* conv[kPrecisions];
  const WinogradKernels* winograd;
  // Blocks and rows [from, to).
  void (*depthwise)(const DepthwiseWork& work, long from, long to, long row_from, long row_to);
  // Blocks [from, to).
  void (*pool)(const PoolWork& work, long from, long to);
  void (*pointwise)(const PointwiseWork& work, long from, long to);
  // The larger of x's and the residual's blocks.
  void (*larger)(const PointwiseWork& work, long from, long to);
  // activation(x times the residual).
  void (*multiply)(const PointwiseWork& work, long from, long to);
  void (*sigmoid)(const PointwiseWork& work, long from, long to);
  // Blocks [from, to) of what it gives.
  void (*shift)(const ShiftWork& work, long from, long to);
};

// Those of the instruction set in use (core/isa.h).
const InferenceKernels& inference_kernels();

extern const InferenceKernels kInferenceKernelsPlain;
extern const InferenceKernels kInferenceKernelsAvx2;
extern const InferenceKernels kInferenceKernelsAvx512;
extern const InferenceKernels kInferenceKernelsAvx512Bf16;

}  // namespace facebench

#pragma once

// The arithmetic of a classifier's cross entropy over tiles of classes (class_cross_entropy.h).
// Included by files that are compiled for several instruction sets, so it includes no headers: the
// linker might keep an inline function that was compiled there for the whole program, and older
// processors cannot run it.

namespace facebench {

// Matrices are made of groups along the direction that a product sums over. A group is 32 bits: one
// float32, or two bfloat16 (the earlier value in the lower half).
//
// Images lie in lanes: a panel is `width` neighbouring images (or features), and what belongs to an
// image is an array of `width` values.
struct HeadKernels {
  int rows;   // most rows of one product
  int width;  // columns of one product
  int group;  // values in a group: 1 float32 or 2 bfloat16

  // out[r * out_stride + c] = sum over g of row r's group g times column c's group g; adds to what
  // is there where `add`. Column c's group g is columns[g * width + c]; row r's group g is
  // rows[r * stride + g] in product_along, rows[g * stride + r] in product_across.
  void (*product_along)(const void* rows, long stride, int row_count, const void* columns,
                        long groups, float* out, long out_stride, bool add);
  void (*product_across)(const void* rows, long stride, int row_count, const void* columns,
                         long groups, float* out, long out_stride, bool add);

  // Values to groups along the values; an odd last one is paired with zero.
  void (*along)(const float* values, long count, void* out);
  // Rows to groups across the rows: group g of column c goes to out[g * out_stride + c]; an odd
  // last row is paired with zeros. Fills up to `out_width` columns with zeros.
  void (*across)(const float* values, long stride, long row_count, long width, void* out,
                 long out_stride, long out_width);

  float (*squares)(const float* values, long count);  // the sum of them

  // One tile of classes, first_class and following, for one panel of images.
  //   products[j * width + i] are scaled by scale[j], `bias[j]` added where bias is not null, and
  //   stored to logits[j * logit_stride + i]. Then without the image's own class: highest[i] and
  //   winner[i] (its class, the earliest of equals) take in the tile, and sum[i] is the sum of
  //   exp(logit - highest[i]). Start with highest = lowest float, winner = -1, sum = 0.
  // `products` is overwritten.
  void (*tally)(float* products, int classes, int first_class, const float* scale,
                const float* bias, const int* labels, float* logits, long logit_stride,
                float* highest, int* winner, float* sum);

  // One row of gradients for one class: out[i] = factor * share[i] * exp(logit[i] - log_sum[i]),
  // zero for images of the class itself. Adds to *total the sum of out, to *dot the sum of out *
  // logit. `images` is a multiple of width.
  void (*gradient)(const float* logits, const float* log_sum, const float* share, const int* labels,
                   int of_class, float factor, long images, float* out, float* total, float* dot);

  // out[k] = sums[k] - factor * values[k].
  void (*minus)(const float* sums, const float* values, float factor, long count, float* out);
};

// Those of the instruction set in use (core/isa.h); with bfloat16 groups where `bfloat16` is wanted
// and the processor has them.
const HeadKernels& head_kernels(bool bfloat16);

extern const HeadKernels kHeadKernelsPlain;
extern const HeadKernels kHeadKernelsAvx2;  // where the compiler can make them
extern const HeadKernels kHeadKernelsAvx512;
extern const HeadKernels kHeadKernelsAvx512Bf16;

}  // namespace facebench

#pragma once

// The arithmetic of a classifier's cross entropy over tiles of classes (class_cross_entropy.h).
// Included by files that are compiled for several instruction sets, so it includes no headers: the
// linker might keep an inline function that was compiled there for the whole program, and older
// processors cannot run it.

namespace facebench {

// What the logits of an image's other classes count as. `bound` has a value for each image.
struct OtherTerms {
  enum Kind {
    softmax,    // the logarithm of the sum of exp(z)
    hard,       // the same of z (linear + square z) where z > bound, of z elsewhere
    threshold,  // the sum of log(1 + exp(x)), x = z - bound held in [-limit, limit]
  };
  Kind kind;
  const float* bound;
  float linear, square, limit;
};

// What a thread has counted for the images of a panel, without their own classes.
struct HeadTally {
  float* highest;  // logit; start with the lowest float
  int* winner;     // its class, the earliest of equals; start with -1
  float* top;      // what `sum` is scaled by: start with the lowest float
  float* sum;      // of exp(term - top), or of the threshold's terms; start with 0
  float* slope;    // of the threshold's terms, the sum of their derivatives; start with 0
};

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
  //   stored to logits[j * logit_stride + i]. `tally` takes them in.
  // `products` is overwritten; the bound of `terms` is that of the panel.
  void (*tally)(const OtherTerms& terms, float* products, int classes, int first_class,
                const float* scale, const float* bias, const int* labels, float* logits,
                long logit_stride, const HeadTally& tally);

  // One row of gradients for one class: out[i] = factor * share[i] * the derivative by the logit of
  // what the image's logits count as, given their log_sum[i] (not read for a threshold); zero for
  // images of the class itself. Adds to *total the sum of out, to *dot the sum of out * logit.
  // `images` is a multiple of width.
  void (*gradient)(const OtherTerms& terms, const float* logits, const float* log_sum,
                   const float* share, const int* labels, int of_class, float factor, long images,
                   float* out, float* total, float* dot);

  // Classes of several centres, for one panel of images. products[(j * centers + k) * width + i] is
  // scaled by scale[j * centers + k]; the highest of a class's goes to products[j * width + i], and
  // its k, the first of equals, to nearest[j * stride + i].
  void (*nearest)(float* products, int classes, int centers, const float* scale,
                  unsigned char* nearest, long stride);
  // The gradient of a class's logits to that of its centres: out[k * images + i] is gradient[i] *
  // factor[k] where nearest[i] is k, zero elsewhere; dot[k] the sum of out * logit.
  void (*to_centers)(const float* gradient, const float* logits, const unsigned char* nearest,
                     int centers, const float* factor, long images, float* out, float* dot);

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

#pragma once

// The arithmetic of comparing many embeddings. Included by files that are compiled for several
// instruction sets, so it includes nothing: an inline function of a standard header, compiled
// there, could be the copy that the linker keeps for everybody.

namespace facebench {

// Dot products in double, the same bits on every instruction set. The product of two float32
// values is exact in double, so that fusing it with the addition changes nothing; the order of the
// sum is fixed: partial sum l = 0..7 takes the products k = l, l + 8, l + 16, ... in this order,
// and the dot product is ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)).
struct DotKernels {
  // out[i] = dot of vector first[i] of `rows` and vector second[i] of `columns`; vectors are `dim`
  // values long and lie one behind the other.
  void (*listed)(const float* rows, const float* columns, long dim, const int* first,
                 const int* second, long count, double* out);
  // out[i * out_stride + j] = dot of row i and column j. Both hold float32 values as double, padded
  // with zeros to `depth` values, a multiple of 8; from one vector to the next are `stride`.
  void (*block)(const double* rows, long row_count, const double* columns, long column_count,
                long depth, long stride, double* out, long out_stride);
};

// Dot products in low precision, to find the few pairs that are worth a DotKernel. Vectors are
// packed into panels of `rows` or `columns` vectors: group k of all the panel's vectors, then group
// k + 1. A group is 32 bits: one float32, or two bfloat16 (the earlier value in the lower half).
struct FilterKernels {
  int rows;
  int columns;  // rows * columns is a multiple of 16
  int group;    // values in a group: 1 float32 or 2 bfloat16
  // scores[i * columns + j] of one panel of rows and one of columns.
  void (*tile)(const void* row_panel, const void* column_panel, long groups, float* scores);
  // Writes the indices of the scores >= bound, ascending, and returns their number.
  int (*above)(const float* scores, int count, float bound, unsigned short* where);
  // ++counts[bin] of each score, bin = score * scale + offset rounded down and clamped to
  // [0, bins).
  void (*tally)(const float* scores, int count, float scale, float offset, int bins,
                unsigned* counts);
};

// Those of the instruction set in use (core/isa.h).
const DotKernels& dot_kernels();
const FilterKernels& filter_kernels();

extern const DotKernels kDotKernelsPlain;
extern const DotKernels kDotKernelsAvx2;  // where the compiler can make them
extern const DotKernels kDotKernelsAvx512;
extern const FilterKernels kFilterKernelsPlain;
extern const FilterKernels kFilterKernelsAvx2;
extern const FilterKernels kFilterKernelsAvx512;
extern const FilterKernels kFilterKernelsAvx512Bf16;

}  // namespace facebench

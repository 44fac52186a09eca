#pragma once

// The search for high scores among many pairs. Included by a file that is compiled
// for several instruction sets, so it includes nothing: an inline function of a standard header,
// compiled there, could be the copy that the linker keeps for everybody.

namespace facebench {

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
const FilterKernels& filter_kernels();

extern const FilterKernels kFilterKernelsPlain;
extern const FilterKernels kFilterKernelsAvx2;  // where the compiler can make them
extern const FilterKernels kFilterKernelsAvx512;
extern const FilterKernels kFilterKernelsAvx512Bf16;

}  // namespace facebench

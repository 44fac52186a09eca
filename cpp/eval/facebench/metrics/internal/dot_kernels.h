#pragma once

// The exact scores of pairs of embeddings. Included by a file that is compiled
// for several instruction sets, so it includes nothing: an inline function of a standard header,
// compiled there, could be the copy that the linker keeps for everybody.

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

// Those of the instruction set in use (core/isa.h).
const DotKernels& dot_kernels();

extern const DotKernels kDotKernelsPlain;
extern const DotKernels kDotKernelsAvx2;  // where the compiler can make them
extern const DotKernels kDotKernelsAvx512;

}  // namespace facebench

#pragma once

// The arithmetic of AreaSampler. Included by files that are compiled for several instruction sets,
// so it includes no headers: the linker might keep an inline function that was compiled there for
// the whole program, and older processors cannot run it.

namespace facebench {

struct AreaKernels {
  // What sum_rows may write beyond the last value.
  static constexpr int slack = 64;
  // sums[values] = sums over `rows` rows that lie `stride` bytes apart. Reads nothing from `end`
  // on.
  void (*sum_rows)(const unsigned char* top, long stride, int rows, int values,
                   const unsigned char* end, float* sums);
  // Output column i is made of count[i] pixels from first[i] on; inverse[i] is 1 / count[i].
  struct Columns {
    const int* first;
    const int* count;
    const float* inverse;
    int size;
  };
  // out[i * step + c] = sum over column i * inverse * factor + offset, for c < 3; step is 3 or 4.
  // sums are interleaved, three values a pixel, with one more behind the last.
  void (*average)(const float* sums, const Columns& columns, float factor, float offset, int step,
                  float* out);
  // Four values a pixel become three planes.
  void (*separate)(const float* in, int count, long stride, float* out);
};

extern const AreaKernels kAreaKernelsPlain;
extern const AreaKernels kAreaKernelsAvx2;  // where the compiler can make them
extern const AreaKernels kAreaKernelsAvx512;

}  // namespace facebench

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
  // The same, each row times its weight: that of the first, of those between, of the last. One row
  // has the weight of the first.
  struct Weights {
    float low, middle, high;
  };
  void (*weigh_rows)(const unsigned char* top, long stride, int rows, const Weights& weights,
                     int values, const unsigned char* end, float* sums);
  // Output column i is made of count[i] pixels from first[i] on, with the weights low[i] of the
  // first, high[i] of the last, middle[i] of those between.
  struct Columns {
    const int *first, *count;
    const float *low, *middle, *high;
    int size;
  };
  // out[i * step + c] = sum over column i * factor + offset, for c < 3; step is 3 or 4. sums are
  // interleaved, three values a pixel, with one more behind the last. `average` is for columns
  // whose weights are all alike.
  using Columned = void (*)(const float* sums, const Columns& columns, float factor, float offset,
                            int step, float* out);
  Columned average, weigh;
  // Each of `count` values becomes (the nearest whole number - shift) * scale. Writes the indices
  // of those that are more than `limit` away from it, and returns how many there are. May do so
  // with a few values (slack) behind the last.
  int (*round)(float* values, int count, float limit, float shift, float scale, int* far);
  // Four values a pixel become three planes.
  void (*separate)(const float* in, int count, long stride, float* out);
};

extern const AreaKernels kAreaKernelsPlain;
extern const AreaKernels kAreaKernelsAvx2;  // where the compiler can make them
extern const AreaKernels kAreaKernelsAvx512;

}  // namespace facebench

// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#include "images/area_kernels.h"

#if FACEBENCH_LANES > 4
#include <immintrin.h>
#endif

namespace facebench {
namespace {

constexpr int kLanes = FACEBENCH_LANES;

typedef float Lanes __attribute__((vector_size(4 * FACEBENCH_LANES), aligned(4), may_alias));
typedef unsigned short Shorts __attribute__((vector_size(4 * FACEBENCH_LANES)));
// A pixel: three values and one that nobody reads.
typedef float Pixel __attribute__((vector_size(16), aligned(4), may_alias));

constexpr int kShorts = 2 * kLanes;
constexpr int kChunk = 2 * kShorts;
constexpr int kRows = 257;  // that a sum of 16 bits holds

#if FACEBENCH_LANES == 16
Shorts load_bytes(const unsigned char* p) {
  return reinterpret_cast<Shorts>(_mm512_maskz_cvtepu8_epi16(
      0xffffffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))));
}
// GCC takes the unmasked forms of some intrinsics for uses of uninitialised values.
template <int kPart>
Lanes half(const Shorts& s) {
  const __m256i part =
      _mm512_maskz_extracti64x4_epi64(0xff, reinterpret_cast<const __m512i&>(s), kPart);
  return _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_cvtepu16_epi32(0xffff, part));
}
#elif FACEBENCH_LANES == 8
Shorts load_bytes(const unsigned char* p) {
  return reinterpret_cast<Shorts>(
      _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
template <int kPart>
Lanes half(const Shorts& s) {
  const __m128i part = _mm256_extracti128_si256(reinterpret_cast<const __m256i&>(s), kPart);
  return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(part));
}
#else
Shorts load_bytes(const unsigned char* p) {
  return Shorts{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]};
}
template <int kPart>
Lanes half(const Shorts& s) {
  constexpr int k = 4 * kPart;
  return Lanes{1.f * s[k], 1.f * s[k + 1], 1.f * s[k + 2], 1.f * s[k + 3]};
}
#endif

Lanes& at(float* p) { return *reinterpret_cast<Lanes*>(p); }

// Up to kRows rows of kChunks chunks, added to what is there.
template <int kChunks>
void add_chunks(const unsigned char* in, long stride, int rows, float* sums) {
  Shorts parts[2 * kChunks];
#pragma GCC unroll 8
  for (int k = 0; k < 2 * kChunks; ++k) parts[k] = load_bytes(in + k * kShorts);
  for (int r = 1; r < rows; ++r) {
    in += stride;
#pragma GCC unroll 8
    for (int k = 0; k < 2 * kChunks; ++k) parts[k] += load_bytes(in + k * kShorts);
  }
#pragma GCC unroll 8
  for (int k = 0; k < 2 * kChunks; ++k) {
    at(sums + k * kShorts) += half<0>(parts[k]);
    at(sums + k * kShorts + kLanes) += half<1>(parts[k]);
  }
}

void sum_rows(const unsigned char* top, long stride, int rows, int values, const unsigned char* end,
              float* sums) {
  for (int i = 0; i < values; i += kLanes) at(sums + i) = Lanes{};
  for (int first = 0; first < rows; first += kRows) {
    const unsigned char* in = top + first * stride;
    const int count = rows - first < kRows ? rows - first : kRows;
    const long room = end - (in + (count - 1) * stride);
    int i = 0;
    // Long pieces of a row at a time: short ones, far apart, come late from memory.
    for (; i + 4 * kChunk <= values && i + 4 * kChunk <= room; i += 4 * kChunk)
      add_chunks<4>(in + i, stride, count, sums + i);
    for (; i < values && i + kChunk <= room; i += kChunk)
      add_chunks<1>(in + i, stride, count, sums + i);
    for (; i < values; ++i) {
      int sum = 0;
      for (int r = 0; r < count; ++r) sum += in[r * stride + i];
      sums[i] += static_cast<float>(sum);
    }
  }
}

Pixel average_column(const float* sums, const AreaKernels::Columns& columns, int i, float factor,
                     Pixel offset) {
  const float* in = sums + 3L * columns.first[i];
  Pixel sum = *reinterpret_cast<const Pixel*>(in);
  for (int k = 1; k < columns.count[i]; ++k) sum += *reinterpret_cast<const Pixel*>(in + 3L * k);
  return sum * (factor * columns.inverse[i]) + offset;
}

void average(const float* sums, const AreaKernels::Columns& columns, float factor, float offset,
             int step, float* out) {
  const Pixel offsets = {offset, offset, offset, 0};
  const int last = columns.size - 1;
  // A store of four values may reach into the pixel that comes next, but not beyond the last.
  for (int i = 0; i < last; ++i, out += step)
    *reinterpret_cast<Pixel*>(out) = average_column(sums, columns, i, factor, offsets);
  const Pixel value = average_column(sums, columns, last, factor, offsets);
  for (int c = 0; c < 3; ++c) out[c] = value[c];
}

void separate(const float* in, int count, long stride, float* out) {
  float *a = out, *b = out + stride, *c = out + 2 * stride;
  for (int i = 0; i < count; ++i) {
    a[i] = in[4 * i];
    b[i] = in[4 * i + 1];
    c[i] = in[4 * i + 2];
  }
}

}  // namespace

extern const AreaKernels FACEBENCH_FOR_ISA(kAreaKernels);
const AreaKernels FACEBENCH_FOR_ISA(kAreaKernels){sum_rows, average, separate};

}  // namespace facebench

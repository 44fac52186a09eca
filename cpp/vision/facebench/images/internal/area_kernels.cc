// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#include "facebench/images/internal/area_kernels.h"
#include "facebench/core/internal/vectors.h"

#if FACEBENCH_LANES > 4
#include <immintrin.h>
#endif

namespace facebench {
namespace {

typedef unsigned short Shorts __attribute__((vector_size(4 * FACEBENCH_LANES)));
// A pixel: three values and one that nobody reads.
typedef float Pixel __attribute__((vector_size(16)));

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
Floats half(const Shorts& s) {
  const __m256i part =
      _mm512_maskz_extracti64x4_epi64(0xff, reinterpret_cast<const __m512i&>(s), kPart);
  return _mm512_maskz_cvtepi32_ps(0xffff, _mm512_maskz_cvtepu16_epi32(0xffff, part));
}
Floats load_floats(const unsigned char* p) {
  return _mm512_maskz_cvtepi32_ps(
      0xffff,
      _mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
#elif FACEBENCH_LANES == 8
Shorts load_bytes(const unsigned char* p) {
  return reinterpret_cast<Shorts>(
      _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}
template <int kPart>
Floats half(const Shorts& s) {
  const __m128i part = _mm256_extracti128_si256(reinterpret_cast<const __m256i&>(s), kPart);
  return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(part));
}
Floats load_floats(const unsigned char* p) {
  return _mm256_cvtepi32_ps(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
#else
Shorts load_bytes(const unsigned char* p) {
  return Shorts{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]};
}
template <int kPart>
Floats half(const Shorts& s) {
  constexpr int k = 4 * kPart;
  return Floats{1.f * s[k], 1.f * s[k + 1], 1.f * s[k + 2], 1.f * s[k + 3]};
}
Floats load_floats(const unsigned char* p) {
  return Floats{1.f * p[0], 1.f * p[1], 1.f * p[2], 1.f * p[3]};
}
#endif

// a * b + c, rounded once where the instruction set can; the compiler would choose which of two
// products to fuse.
float fused(float a, float b, float c) {
#if FACEBENCH_LANES > 4
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
Pixel fused(Pixel a, float b, Pixel c) {
#if FACEBENCH_LANES > 4
  return reinterpret_cast<Pixel>(
      _mm_fmadd_ps(reinterpret_cast<__m128>(a), _mm_set1_ps(b), reinterpret_cast<__m128>(c)));
#else
  return a * b + c;
#endif
}
#if FACEBENCH_LANES > 4
Floats fused(Floats a, float b, Floats c) {
#if FACEBENCH_LANES == 16
  return reinterpret_cast<Floats>(
      _mm512_fmadd_ps(reinterpret_cast<__m512>(a), _mm512_set1_ps(b), reinterpret_cast<__m512>(c)));
#else
  return reinterpret_cast<Floats>(
      _mm256_fmadd_ps(reinterpret_cast<__m256>(a), _mm256_set1_ps(b), reinterpret_cast<__m256>(c)));
#endif
}
#endif

void add_to(float* p, Floats v) { store(p, load(p) + v); }

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
    add_to(sums + k * kShorts, half<0>(parts[k]));
    add_to(sums + k * kShorts + kLanes, half<1>(parts[k]));
  }
}

void sum_rows(const unsigned char* top, long stride, int rows, int values, const unsigned char* end,
              float* sums) {
  for (int i = 0; i < values; i += kLanes) store(sums + i, Floats{});
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

// As add_chunks(), the rows weighted: kChunks chunks of rows from `in` to `last`, those between
// added up in 16 bits. Every value is first row, rows between, last row, in this order.
template <int kChunks>
void weigh_chunks(const unsigned char* in, long stride, const unsigned char* last,
                  const AreaKernels::Weights& w, float* sums) {
  Shorts parts[2 * kChunks];
#pragma GCC unroll 8
  for (int k = 0; k < 2 * kChunks; ++k) parts[k] = load_bytes(in + stride + k * kShorts);
  for (const unsigned char* p = in + 2 * stride; p < last; p += stride) {
#pragma GCC unroll 8
    for (int k = 0; k < 2 * kChunks; ++k) parts[k] += load_bytes(p + k * kShorts);
  }
#pragma GCC unroll 8
  for (int k = 0; k < 2 * kChunks; ++k) {
    const unsigned char *top = in + k * kShorts, *bottom = last + k * kShorts;
    float* const out = sums + k * kShorts;
    const Floats a = fused(half<0>(parts[k]), w.middle, load_floats(top) * w.low);
    const Floats b = fused(half<1>(parts[k]), w.middle, load_floats(top + kLanes) * w.low);
    store(out, fused(load_floats(bottom), w.high, a));
    store(out + kLanes, fused(load_floats(bottom + kLanes), w.high, b));
  }
}

// The same for one to three rows.
template <int kRowCount>
void weigh_few(const unsigned char* in, long stride, const AreaKernels::Weights& w, float* sums) {
#pragma GCC unroll 4
  for (int k = 0; k < kChunk; k += kLanes) {
    Floats a = load_floats(in + k) * w.low;
    if (kRowCount == 3) a = fused(load_floats(in + stride + k), w.middle, a);
    if (kRowCount > 1) a = fused(load_floats(in + (kRowCount - 1) * stride + k), w.high, a);
    store(sums + k, a);
  }
}

void weigh_rows(const unsigned char* in, long stride, int rows, const AreaKernels::Weights& w,
                int values, const unsigned char* end, float* sums) {
  const unsigned char* const last = in + (rows - 1) * stride;
  int i = 0;
  if (rows > kRows) {
    sum_rows(in + stride, stride, rows - 2, values, end, sums);
    for (; i < values; ++i)
      sums[i] = fused(last[i], w.high, fused(sums[i], w.middle, w.low * in[i]));
    return;
  }
  const long room = end - last;
  if (rows > 3) {
    for (; i + 4 * kChunk <= values && i + 4 * kChunk <= room; i += 4 * kChunk)
      weigh_chunks<4>(in + i, stride, last + i, w, sums + i);
    for (; i < values && i + kChunk <= room; i += kChunk)
      weigh_chunks<1>(in + i, stride, last + i, w, sums + i);
  } else {
    const auto few = rows == 1 ? weigh_few<1> : rows == 2 ? weigh_few<2> : weigh_few<3>;
    for (; i < values && i + kChunk <= room; i += kChunk) few(in + i, stride, w, sums + i);
  }
  for (; i < values; ++i) {
    float sum = w.low * in[i];
    int between = 0;
    for (int r = 1; r < rows - 1; ++r) between += in[r * stride + i];
    if (rows > 2) sum = fused(static_cast<float>(between), w.middle, sum);
    if (rows > 1) sum = fused(last[i], w.high, sum);
    sums[i] = sum;
  }
}

Pixel average_column(const float* sums, const AreaKernels::Columns& columns, int i, float factor,
                     Pixel offset) {
  const float* in = sums + 3L * columns.first[i];
  Pixel sum = load<Pixel>(in);
  for (int k = 1; k < columns.count[i]; ++k) sum += load<Pixel>(in + 3L * k);
  return fused(sum, factor * columns.middle[i], offset);
}

Pixel weigh_column(const float* sums, const AreaKernels::Columns& columns, int i, float factor,
                   Pixel offset) {
  const float* in = sums + 3L * columns.first[i];
  const int last = columns.count[i] - 1;
  Pixel sum = load<Pixel>(in) * columns.low[i];
  if (last > 1) {
    Pixel between = load<Pixel>(in + 3);
    for (int k = 2; k < last; ++k) between += load<Pixel>(in + 3L * k);
    sum = fused(between, columns.middle[i], sum);
  }
  if (last > 0) sum = fused(load<Pixel>(in + 3L * last), columns.high[i], sum);
  return fused(sum, factor, offset);
}

template <Pixel (*column)(const float*, const AreaKernels::Columns&, int, float, Pixel)>
void columned(const float* sums, const AreaKernels::Columns& columns, float factor, float offset,
              int step, float* out) {
  const Pixel offsets = {offset, offset, offset, 0};
  const int last = columns.size - 1;
  // A store of four values may reach into the pixel that comes next, but not beyond the last.
  for (int i = 0; i < last; ++i, out += step) store(out, column(sums, columns, i, factor, offsets));
  const Pixel value = column(sums, columns, last, factor, offsets);
  for (int c = 0; c < 3; ++c) out[c] = value[c];
}

// Indices of the lanes of |distance| > limit.
int add_far(Floats distance, float limit, int first, int* far) {
  int n = 0;
#if FACEBENCH_LANES == 16
  unsigned found = _mm512_cmp_ps_mask(_mm512_abs_ps(reinterpret_cast<const __m512&>(distance)),
                                      _mm512_set1_ps(limit), _CMP_GT_OQ);
#elif FACEBENCH_LANES == 8
  const __m256 sign = _mm256_set1_ps(-0.f);
  auto found = static_cast<unsigned>(_mm256_movemask_ps(
      _mm256_cmp_ps(_mm256_andnot_ps(sign, reinterpret_cast<const __m256&>(distance)),
                    _mm256_set1_ps(limit), _CMP_GT_OQ)));
#else
  unsigned found = 0;
  for (unsigned k = 0; k < kLanes; ++k)
    found |= static_cast<unsigned>(distance[k] > limit || distance[k] < -limit) << k;
#endif
  for (; found != 0; found &= found - 1) far[n++] = first + __builtin_ctz(found);
  return n;
}

int round(float* values, int count, float limit, float shift, float scale, int* far) {
  constexpr float magic = 12582912;  // 1.5 * 2^23: the sum has no digits behind the point
  int n = 0;
  for (int i = 0; i < count; i += kLanes) {
    const auto value = load(values + i);
    const Floats whole = (value + magic) - magic;
    store(values + i, (whole - shift) * scale);
    n += add_far(value - whole, limit, i, far + n);
  }
  return n;
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
const AreaKernels FACEBENCH_FOR_ISA(kAreaKernels){
    sum_rows, weigh_rows, columned<average_column>, columned<weigh_column>, round, separate};

}  // namespace facebench

// Compiled once for each instruction set (cpp/cmake/Kernels.cmake).
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "facebench/core/internal/vectors.h"
#include "facebench/nn/internal/norm_kernels.h"

namespace facebench {
namespace {

struct Bfloat16 {
  unsigned short bits;
};

Floats load(const Bfloat16* p) {
#if defined(__AVX512F__)
  return (Floats)_mm512_maskz_slli_epi32(
      0xffff, _mm512_maskz_cvtepu16_epi32(0xffff, _mm256_loadu_si256((const __m256i*)p)), 16);
#elif defined(__AVX2__)
  return (Floats)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p)), 16);
#else
  return (Floats)(__builtin_convertvector(load<Halves>(p), Bits) << 16);
#endif
}

void store(Bfloat16* p, Floats v) {
#if defined(__AVX512BF16__)
  _mm256_storeu_si256((__m256i*)p, (__m256i)_mm512_cvtneps_pbh(v));
#else
  const Bits bits = (Bits)v;
  Bits nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;  // ties to even
  nearest = v != v ? Bits{} + 0x7fc0u : nearest;
#if defined(__AVX512F__)
  _mm256_storeu_si256((__m256i*)p, _mm512_maskz_cvtepi32_epi16(0xffff, (__m512i)nearest));
#else
  store<Halves>(p, __builtin_convertvector(nearest, Halves));
#endif
#endif
}

// Sums run over some rows for a few vectors of channels at a time, which registers hold; the rows
// stay in the cache while their channels pass.
constexpr int kVectors = 16 / kLanes < 4 ? 4 : 16 / kLanes;
template <int kCount, class Body>
void channels_of(long begin, long end, long from, long to, const Body& body) {
  for (long c = begin; c < end; c += kCount * kLanes) body.template operator()<kCount>(from, to, c);
}

template <class Body>
void sum_rows(long rows, long channels, const Body& body) {
  const long block = channels >= 1024 ? 16 : 16384 / channels;
  const long whole = channels / (kVectors * kLanes) * (kVectors * kLanes);
  for (long r = 0; r < rows; r += block) {
    const long to = r + block < rows ? r + block : rows;
    channels_of<kVectors>(0, whole, r, to, body);
    channels_of<1>(whole, channels, r, to, body);
  }
}

template <class T>
void moments(const void* x, long rows, long channels, const float* shift, float* sum,
             float* squares) {
  const T* in = static_cast<const T*>(x);
  sum_rows(rows, channels, [&]<int kCount>(long from, long to, long c) {
    Floats s[kCount] = {}, q[kCount] = {}, off[kCount];
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) off[v] = load(shift + c + v * kLanes);
    for (long r = from; r < to; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) {
        const Floats d = load(in + r * channels + c + v * kLanes) - off[v];
        s[v] += d;
        q[v] += d * d;
      }
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) {
      const long at = c + v * kLanes;
      store(sum + at, load(sum + at) + s[v]);
      store(squares + at, load(squares + at) + q[v]);
    }
  });
}

template <class T>
void forward(const void* x, const void* residual, long rows, long channels, const float* scale,
             const float* offset, const float* slope, void* y) {
  const T *in = static_cast<const T*>(x), *add = static_cast<const T*>(residual);
  T* out = static_cast<T*>(y);
  for (long r = 0; r < rows; ++r)
    for (long c = 0; c < channels; c += kLanes) {
      const long at = r * channels + c;
      Floats t = load(in + at) * load(scale + c) + load(offset + c);
      if (add) t += load(add + at);
      store(out + at, t > 0.0f ? t : load(slope + c) * t);
    }
}

// The gradient before the activation. `t` is the value there, or has its sign.
Floats inner(Floats dy, Floats t, Floats slope) { return t > 0.0f ? dy : slope * dy; }

template <class T>
void sums(const void* dy, const void* x, const void* y, long rows, long channels,
          const float* scale, const float* offset, const float* slope, const float* mean,
          float* sum, float* along, float* by_slope) {
  const T *g = static_cast<const T*>(dy), *in = static_cast<const T*>(x);
  const T* sign = static_cast<const T*>(y);
  sum_rows(rows, channels, [&]<int kCount>(long from, long to, long c) {
    Floats s[kCount] = {}, a[kCount] = {}, b[kCount] = {};
    for (long r = from; r < to; ++r)
#pragma GCC unroll 4
      for (int v = 0; v < kCount; ++v) {
        const long k = c + v * kLanes, at = r * channels + k;
        const Floats value = load(in + at), out = load(g + at);
        const Floats t = sign ? load(sign + at) : value * load(scale + k) + load(offset + k);
        const Floats before = inner(out, t, load(slope + k));
        s[v] += before;
        a[v] += before * (value - load(mean + k));
        if (!sign) b[v] += t > 0.0f ? Floats{} : out * t;
      }
#pragma GCC unroll 4
    for (int v = 0; v < kCount; ++v) {
      const long k = c + v * kLanes;
      store(sum + k, load(sum + k) + s[v]);
      store(along + k, load(along + k) + a[v]);
      store(by_slope + k, load(by_slope + k) + b[v]);
    }
  });
}

template <class T>
void backward(const void* dy, const void* x, const void* y, long rows, long channels,
              const float* scale, const float* offset, const float* slope, const float* mean,
              const float* a, const float* b, const float* c, void* dx, void* dresidual) {
  const T *g = static_cast<const T*>(dy), *in = static_cast<const T*>(x);
  const T* sign = static_cast<const T*>(y);
  T *out = static_cast<T*>(dx), *other = static_cast<T*>(dresidual);
  for (long r = 0; r < rows; ++r)
    for (long k = 0; k < channels; k += kLanes) {
      const long at = r * channels + k;
      const Floats value = load(in + at);
      const Floats t = sign ? load(sign + at) : value * load(scale + k) + load(offset + k);
      const Floats before = inner(load(g + at), t, load(slope + k));
      store(out + at,
            load(a + k) * before + (load(b + k) * (value - load(mean + k)) + load(c + k)));
      if (other) store(other + at, before);
    }
}

template <class T>
void maxout(const void* x, long rows, long channels, void* y) {
  const T* in = static_cast<const T*>(x);
  T* out = static_cast<T*>(y);
  for (long r = 0; r < rows; ++r, in += 2 * channels, out += channels)
    for (long c = 0; c < channels; c += kLanes) {
      const Floats a = load(in + c), b = load(in + channels + c);
      store(out + c, ((a > b) | (a != a)) ? a : b);  // NaN stays
    }
}

template <class T>
void maxout_backward(const void* dy, const void* x, long rows, long channels, void* dx) {
  const T *g = static_cast<const T*>(dy), *in = static_cast<const T*>(x);
  T* out = static_cast<T*>(dx);
  for (long r = 0; r < rows; ++r, g += channels, in += 2 * channels, out += 2 * channels)
    for (long c = 0; c < channels; c += kLanes) {
      const Floats a = load(in + c), b = load(in + channels + c), d = load(g + c);
      const Floats shared = a == b ? d * 0.5f : Floats{};
      store(out + c, a > b ? d : shared);
      store(out + channels + c, b > a ? d : shared);
    }
}

template <class T>
constexpr NormKernels kernels_of() {
  return {moments<T>, forward<T>, sums<T>, backward<T>, maxout<T>, maxout_backward<T>};
}

}  // namespace

extern const NormKernels FACEBENCH_FOR_ISA(kNormKernels)[2];
const NormKernels FACEBENCH_FOR_ISA(kNormKernels)[2] = {kernels_of<float>(),
                                                        kernels_of<Bfloat16>()};

}  // namespace facebench

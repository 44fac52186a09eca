// Compiled once for each instruction set (cpp/cmake/Kernels.cmake). With AVX-512 BF16 a group is
// two bfloat16, otherwise one float32.
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "facebench/core/internal/vectors.h"
#include "facebench/nn/internal/head_kernels.h"

namespace facebench {
namespace {

// Of a product, which is two vectors of columns wide: as many as the registers hold.
constexpr int kRows = kLanes == 16 ? 14 : kLanes == 8 ? 6 : 4;
constexpr int kWidth = 2 * kLanes;

// --- Products -----------------------------------------------------------------------------------

#ifdef __AVX512BF16__
constexpr int kGroup = 2;
typedef int Group;
typedef __m512bh Groups;
Groups load_groups(const Group* p) { return (__m512bh)_mm512_loadu_si512(p); }
Groups spread(Group g) { return (__m512bh)_mm512_set1_epi32(g); }
Floats fused(Floats sum, Groups a, Groups b) { return _mm512_dpbf16_ps(sum, a, b); }
#else
constexpr int kGroup = 1;
typedef float Group;
typedef Floats Groups;
Groups load_groups(const Group* p) { return load(p); }
Group spread(Group g) { return g; }
Floats fused(Floats sum, Group a, Groups b) { return sum + a * b; }
#endif

template <int kCount, bool kAcross>
void product(const Group* a, long stride, const Group* b, long groups, float* out, long out_stride,
             bool add) {
  Floats sums[kCount][2] = {};
  if (add) {
#pragma GCC unroll 16
    for (int r = 0; r < kCount; ++r) {
      sums[r][0] = load(out + r * out_stride);
      sums[r][1] = load(out + r * out_stride + kLanes);
    }
  }
  // Few registers for the addresses of many rows: one for three rows each.
  const Group* three[(kCount + 2) / 3];
  for (int r = 0; r < kCount; r += 3) three[r / 3] = a + r * stride;
  for (long g = 0; g < groups; ++g, b += kWidth) {
    const Groups b0 = load_groups(b), b1 = load_groups(b + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kCount; ++r) {
      const auto row = spread(kAcross ? a[g * stride + r] : three[r / 3][r % 3 * stride + g]);
      sums[r][0] = fused(sums[r][0], row, b0);
      sums[r][1] = fused(sums[r][1], row, b1);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kCount; ++r) {
    store(out + r * out_stride, sums[r][0]);
    store(out + r * out_stride + kLanes, sums[r][1]);
  }
}

template <bool kAcross, int kCount = kRows>
void product_of(int row_count, const Group* a, long stride, const Group* b, long groups, float* out,
                long out_stride, bool add) {
  if (row_count == kCount)
    product<kCount, kAcross>(a, stride, b, groups, out, out_stride, add);
  else if constexpr (kCount > 1)
    product_of<kAcross, kCount - 1>(row_count, a, stride, b, groups, out, out_stride, add);
}

void product_along(const void* rows, long stride, int row_count, const void* columns, long groups,
                   float* out, long out_stride, bool add) {
  product_of<false>(row_count, static_cast<const Group*>(rows), stride,
                    static_cast<const Group*>(columns), groups, out, out_stride, add);
}

void product_across(const void* rows, long stride, int row_count, const void* columns, long groups,
                    float* out, long out_stride, bool add) {
  product_of<true>(row_count, static_cast<const Group*>(rows), stride,
                   static_cast<const Group*>(columns), groups, out, out_stride, add);
}

// --- Groups from values
// ---------------------------------------------------------------------------

#ifdef __AVX512BF16__
__m512i rounded(__m512 values) {  // in the lower half of each lane
  return _mm512_maskz_cvtepu16_epi32(0xffff, (__m256i)_mm512_cvtneps_pbh(values));
}

void along(const float* values, long count, void* out) {
  auto* to = static_cast<unsigned short*>(out);
  long i = 0;
  for (; i + kLanes <= count; i += kLanes)
    _mm256_storeu_si256((__m256i*)(to + i), (__m256i)_mm512_cvtneps_pbh(load(values + i)));
  if (i == count) return;
  const auto rest = static_cast<__mmask16>((1u << (count - i)) - 1);
  const auto even = static_cast<__mmask16>((1u << ((count - i + 1) / 2 * 2)) - 1);
  _mm256_mask_storeu_epi16(to + i, even,
                           (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(rest, values + i)));
}

void across(const float* values, long stride, long row_count, long width, void* out,
            long out_stride, long out_width) {
  for (long r = 0; r < row_count; r += 2) {
    int* to = static_cast<int*>(out) + r / 2 * out_stride;
    const float *low = values + r * stride, *high = low + stride;
    for (long c = 0; c < out_width; c += kLanes) {
      const long left = width - c;
      const auto mask = static_cast<__mmask16>(left >= kLanes ? 0xffff
                                               : left > 0     ? (1u << left) - 1
                                                              : 0);
      const __mmask16 second = r + 1 < row_count ? mask : 0;
      const __m512i a = rounded(_mm512_maskz_loadu_ps(mask, low + c));
      const __m512i b = rounded(_mm512_maskz_loadu_ps(second, high + c));
      _mm512_storeu_si512(to + c, _mm512_or_si512(a, _mm512_maskz_slli_epi32(0xffff, b, 16)));
    }
  }
}
#else
void along(const float* values, long count, void* out) {
  __builtin_memcpy(out, values, 4 * static_cast<unsigned long>(count));
}

void across(const float* values, long stride, long row_count, long width, void* out,
            long out_stride, long out_width) {
  for (long r = 0; r < row_count; ++r) {
    float* to = static_cast<float*>(out) + r * out_stride;
    const float* from = values + r * stride;
    long c = 0;
    for (; c + kLanes <= width; c += kLanes) store(to + c, load(from + c));
    for (; c < width; ++c) to[c] = from[c];
    for (; c < out_width; ++c) to[c] = 0;
  }
}
#endif

// --- Value by value -----------------------------------------------------------------------------

float total(Floats v) {
  float sum = 0;
  for (int l = 0; l < kLanes; ++l) sum += v[l];
  return sum;
}

float squares(const float* values, long count) {
  Floats sums[4] = {};
  long i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes)
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k)
      sums[k] += load(values + i + k * kLanes) * load(values + i + k * kLanes);
  float sum = total((sums[0] + sums[1]) + (sums[2] + sums[3]));
  for (; i < count; ++i) sum += values[i] * values[i];
  return sum;
}

// To two units in the last place; zero below the normal numbers. NaN stays NaN.
Floats exponential(Floats x) {
  // x = n ln 2 + r with |r| <= ln 2 / 2; ln 2 in two parts, so that r is exact.
  constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
  const Floats clamped = x < -88.0f ? Floats{} - 88.0f : x;
  const Floats shifted = clamped * 1.44269504088896341f + kRounder;
  const Floats n = shifted - kRounder;
  const Floats r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
  Floats p = Floats{} + 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  // 2^n through the exponent's bits.
  const Ints power = (__builtin_convertvector(n, Ints) + 127) << 23;
  p *= (Floats)power;
  return x < -87.33654f ? Floats{} : p;
}

// log(1 + e) for e in [0, 1], by 2 artanh(e / (2 + e)), to a unit or two in the last place.
Floats log_above_one(Floats e) {
  const Floats w = e / (2.0f + e), v = w * w;
  Floats p = Floats{} + 1 / 13.0f;
  p = p * v + 1 / 11.0f;
  p = p * v + 1 / 9.0f;
  p = p * v + 1 / 7.0f;
  p = p * v + 1 / 5.0f;
  p = p * v + 1 / 3.0f;
  return 2.0f * w + 2.0f * w * (p * v);
}

// A threshold's term of a logit above `bound` by x, and its derivative.
struct Term {
  Floats value, slope;
};
Term threshold_term(Floats x, float limit) {
  const Floats held = x > limit ? Floats{} + limit : x < -limit ? Floats{} - limit : x;
  const Floats e = exponential(held > 0.0f ? -held : held);
  const Floats slope = (held > 0.0f ? Floats{} + 1.0f : e) / (1.0f + e);
  return {(held > 0.0f ? held : Floats{}) + log_above_one(e), x == held ? slope : Floats{}};
}

template <OtherTerms::Kind kKind>
void tally_of(const OtherTerms& terms, float* products, int classes, int first_class,
              const float* scale, const float* bias, const int* labels, float* logits,
              long logit_stride, const HeadTally& tally) {
  constexpr bool kHard = kKind == OtherTerms::hard, kThreshold = kKind == OtherTerms::threshold;
  for (int v = 0; v < kWidth; v += kLanes) {
    const Ints own = load<Ints>(labels + v);
    const Floats before = load(tally.top + v);
    const Floats bound = kHard || kThreshold ? load(terms.bound + v) : Floats{};
    Floats high = load(tally.highest + v), top = before;
    Ints best = load<Ints>(tally.winner + v);
    for (int j = 0; j < classes; ++j) {
      float* p = products + j * kWidth + v;
      const Floats logit = load(p) * scale[j] + (bias ? bias[j] : 0.0f);
      store(logits + j * logit_stride + v, logit);
      const Floats other = own == first_class + j ? Floats{} - __builtin_inff() : logit;
      store(p, other);
      const Ints higher = other > high;
      high = higher ? other : high;
      best = higher ? Ints{} + (first_class + j) : best;
      if constexpr (kHard) {
        const Floats term = other > bound ? other * (terms.linear + terms.square * other) : other;
        store(p, term);
        top = term > top ? term : top;
      }
    }
    Floats part = {}, slope = {};
    if constexpr (kThreshold) {
      for (int j = 0; j < classes; ++j) {
        const Term term = threshold_term(load(products + j * kWidth + v) - bound, terms.limit);
        const Ints others = own != first_class + j;
        part += others ? term.value : Floats{};
        slope += others ? term.slope : Floats{};
      }
      store(tally.sum + v, load(tally.sum + v) + part);
      store(tally.slope + v, load(tally.slope + v) + slope);
    } else {
      if constexpr (!kHard) top = high;
      for (int j = 0; j < classes; ++j) part += exponential(load(products + j * kWidth + v) - top);
      store(tally.sum + v, load(tally.sum + v) * exponential(before - top) + part);
      store(tally.top + v, top);
    }
    store(tally.highest + v, high);
    store(tally.winner + v, best);
  }
}

void tally(const OtherTerms& terms, float* products, int classes, int first_class,
           const float* scale, const float* bias, const int* labels, float* logits,
           long logit_stride, const HeadTally& tally) {
  const auto of = terms.kind == OtherTerms::softmax ? tally_of<OtherTerms::softmax>
                  : terms.kind == OtherTerms::hard  ? tally_of<OtherTerms::hard>
                                                    : tally_of<OtherTerms::threshold>;
  of(terms, products, classes, first_class, scale, bias, labels, logits, logit_stride, tally);
}

template <OtherTerms::Kind kKind>
void gradient_of(const OtherTerms& terms, const float* logits, const float* log_sum,
                 const float* share, const int* labels, int of_class, float factor, long images,
                 float* out, float* sum, float* dot) {
  Floats sums[2] = {}, dots[2] = {};
  for (long i = 0; i < images; i += kWidth)
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const long k = i + v * kLanes;
      const Floats logit = load(logits + k);
      Floats slope;
      if constexpr (kKind == OtherTerms::threshold) {
        slope = threshold_term(logit - load(terms.bound + k), terms.limit).slope;
      } else if constexpr (kKind == OtherTerms::hard) {
        const Ints hard = logit > load(terms.bound + k);
        const Floats term = hard ? logit * (terms.linear + terms.square * logit) : logit;
        slope = exponential(term - load(log_sum + k)) *
                (hard ? terms.linear + 2 * terms.square * logit : Floats{} + 1.0f);
      } else {
        slope = exponential(logit - load(log_sum + k));
      }
      const Floats g = slope * load(share + k) * factor;
      const Floats other = load<Ints>(labels + k) == of_class ? Floats{} : g;
      store(out + k, other);
      sums[v] += other;
      dots[v] += other * logit;
    }
  *sum += total(sums[0] + sums[1]);
  *dot += total(dots[0] + dots[1]);
}

void gradient(const OtherTerms& terms, const float* logits, const float* log_sum,
              const float* share, const int* labels, int of_class, float factor, long images,
              float* out, float* sum, float* dot) {
  const auto of = terms.kind == OtherTerms::softmax ? gradient_of<OtherTerms::softmax>
                  : terms.kind == OtherTerms::hard  ? gradient_of<OtherTerms::hard>
                                                    : gradient_of<OtherTerms::threshold>;
  of(terms, logits, log_sum, share, labels, of_class, factor, images, out, sum, dot);
}

void nearest(float* products, int classes, int centers, const float* scale, unsigned char* nearest,
             long stride) {
  for (int j = 0; j < classes; ++j)
    for (int v = 0; v < kWidth; v += kLanes) {
      const float* own = products + static_cast<long>(j) * centers * kWidth + v;
      const float* factor = scale + static_cast<long>(j) * centers;
      Floats high = load(own) * factor[0];
      Ints best = {};
      for (int k = 1; k < centers; ++k) {
        const Floats logit = load(own + k * kWidth) * factor[k];
        const Ints higher = logit > high;
        high = higher ? logit : high;
        best = higher ? Ints{} + k : best;
      }
      store(products + j * kWidth + v, high);
      store(nearest + j * stride + v, __builtin_convertvector(best, Bytes));
    }
}

void to_centers(const float* gradient, const float* logits, const unsigned char* nearest,
                int centers, const float* factor, long images, float* out, float* dot) {
  for (int c = 0; c < centers; ++c) {
    Floats dots = {};
    for (long i = 0; i < images; i += kLanes) {
      const Ints nearest_of = __builtin_convertvector(load<Bytes>(nearest + i), Ints);
      const Floats g = nearest_of == c ? load(gradient + i) * factor[c] : Floats{};
      store(out + c * images + i, g);
      dots += g * load(logits + i);
    }
    dot[c] = total(dots);
  }
}

void minus(const float* sums, const float* values, float factor, long count, float* out) {
  long k = 0;
  for (; k + kLanes <= count; k += kLanes)
    store(out + k, load(sums + k) - factor * load(values + k));
  for (; k < count; ++k) out[k] = sums[k] - factor * values[k];
}

}  // namespace

extern const HeadKernels FACEBENCH_FOR_ISA(kHeadKernels);
const HeadKernels FACEBENCH_FOR_ISA(kHeadKernels){
    kRows,   kWidth, kGroup,   product_along, product_across, along, across,
    squares, tally,  gradient, nearest,       to_centers,     minus};

}  // namespace facebench

#pragma once

// Vectors as wide as a register, for files that are compiled for several instruction sets
// (cpp/cmake/Kernels.cmake). Every set has its own, so all of it has internal linkage, and no other
// header is included (nn/head_kernels.h says why).

namespace facebench {
namespace {

constexpr int kLanes = FACEBENCH_LANES;

using Floats [[gnu::vector_size(4 * FACEBENCH_LANES)]] = float;
using Ints [[gnu::vector_size(4 * FACEBENCH_LANES)]] = int;
using Bits [[gnu::vector_size(4 * FACEBENCH_LANES)]] = unsigned;
using Halves [[gnu::vector_size(2 * FACEBENCH_LANES)]] = unsigned short;
using Bytes [[gnu::vector_size(FACEBENCH_LANES)]] = unsigned char;

// A vector that lies anywhere, in the manner of the compilers' own headers. A type with less
// alignment would say so too, but clang loses it in templates, casts and conditions, and then loads
// and stores as if it were aligned; GCC keeps what __builtin_memcpy copies twice.
template <class Vector>
struct __attribute__((packed, may_alias)) Anywhere {
  Vector vector;
};
template <class Vector>
[[gnu::always_inline]] inline Vector load(const void* p) {
  return static_cast<const Anywhere<Vector>*>(p)->vector;
}
[[gnu::always_inline]] inline Floats load(const float* p) { return load<Floats>(p); }

template <class Vector>
[[gnu::always_inline]] inline void store(void* p, Vector v) {
  static_cast<Anywhere<Vector>*>(p)->vector = v;
}

}  // namespace
}  // namespace facebench

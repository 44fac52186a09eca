#include "facebench/nn/inference_precision.h"

#include "facebench/core/isa.h"

namespace facebench {

const Table<InferencePrecisionEntry>& inference_precisions() {
  static const Table<InferencePrecisionEntry> table(
      "precision",
      {{"float32", "as trained", InferencePrecision::float32},
       {"bfloat16", "products of bfloat16, sums of float32", InferencePrecision::bfloat16},
       {"int8", "products of bytes, in ranges seen in calibration", InferencePrecision::int8}});
  return table;
}

std::string precision_cost(InferencePrecision precision) {
  if (precision == InferencePrecision::float32) return {};
  if (active_isa() == Isa::avx512bf16) {
#if defined(__x86_64__)
    if (precision == InferencePrecision::bfloat16 && __builtin_cpu_is("intel"))
      return "bfloat16 is slower than float32 on this processor, as on others by Intel: their "
             "AVX-512 BF16 does half as many products in the same time";
#endif
    return {};
  }
  if (precision == InferencePrecision::bfloat16)
    return "bfloat16 is slower than float32 on this processor, which has no AVX-512 BF16: the same "
           "products are made by other instructions";
  return "int8 gains little on this processor, which has no AVX-512 VNNI: with AVX2, networks of "
         "1x1 layers take some 0.8 of float32's time and those of 3x3 layers up to 1.5, since "
         "float32 has Winograd's method for them";
}

}  // namespace facebench

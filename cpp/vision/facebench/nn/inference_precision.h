#pragma once

#include <functional>
#include <map>
#include <string>

#include "facebench/core/registry.h"

namespace facebench {

// The type of the numbers that an InferenceNetwork multiplies. It adds them up in a type of more
// digits, and passes float32 from layer to layer.
//   float32   as Network.
//   bfloat16  weights and inputs of convolutions and linear layers are rounded to bfloat16 (8 bits
//             of precision, nearest, ties to even); their products are exact and their sums are
//             float32. Convolutions of each channel on its own stay float32. Twice as many
//             multiply-adds a second where the processor has AVX-512 BF16; elsewhere the same
//             arithmetic by other instructions, slower than float32.
//   int8      convolutions multiply whole numbers: bytes 0 to 255, which divide the range that a
//             layer's input has (InputRanges) evenly, and weights -127 to 127, evenly for each
//             output channel; what lies outside of a range becomes its end. Sums are exact. Layers
//             that read the images and linear layers are bfloat16. Up to four times as many
//             multiply-adds a second where the processor has AVX-512 VNNI and BF16, elsewhere up to
//             twice as many.
enum class InferencePrecision { float32, bfloat16, int8 };

// The least and the largest number that a layer reads, by the layer's name.
struct InputRange {
  float low = 0;
  float high = 0;
};
using InputRanges = std::map<std::string, InputRange, std::less<>>;

struct InferencePrecisionEntry {
  std::string name;
  std::string doc;
  InferencePrecision precision;
};
const Table<InferencePrecisionEntry>& inference_precisions();
// A sentence on what a precision costs on this processor where it gains little there; else empty.
std::string precision_cost(InferencePrecision precision);

}  // namespace facebench

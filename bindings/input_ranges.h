#pragma once

#include <map>
#include <string>
#include <utility>

#include "facebench/nn/inference_network.h"

namespace facebench {

// Input ranges as Python has them: (low, high) by layer.
using RangePairs = std::map<std::string, std::pair<float, float>>;

inline RangePairs pairs_of(const InputRanges& ranges) {
  RangePairs pairs;
  for (const auto& [layer, range] : ranges) pairs[layer] = {range.low, range.high};
  return pairs;
}

inline InputRanges ranges_of(const RangePairs& pairs) {
  InputRanges ranges;
  for (const auto& [layer, range] : pairs) ranges[layer] = {range.first, range.second};
  return ranges;
}

}  // namespace facebench

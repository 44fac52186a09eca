#pragma once

#include <cstdint>

#include "facebench/io/json.h"

namespace facebench {

// What is reported of a stretch of steps, summed up over the images of all processes; accuracy is
// the share of images whose true class scored highest, margins left out.
struct TrainingSums {
  double loss = 0;  // of the main head
  std::int64_t correct = 0;
  std::int64_t images = 0;

  double mean_loss() const;  // 0 where there are no images
  double accuracy() const;
  void add(const TrainingSums& more);
  Json json() const;
  void set(const Json& json);  // throws Json::exception
};

}  // namespace facebench

#pragma once

#include <optional>

#include "facebench/io/json.h"

namespace facebench {

// What people watch a training by: of the images of one step, those of all processes. Cosines and
// margins are of the main head, and unset where its loss has none.
struct Observation {
  std::optional<double> target_cosine;  // mean of features and their class's weights
  // Share of images whose true class's logit with its margin is not above all others.
  std::optional<double> violated;
  double norm_p05 = 0, norm_p50 = 0, norm_p95 = 0;  // quantiles of the features' Euclidean norms
  double gradient_norm = 0;                         // of all gradients together, before clipping
  // The greatest distance of an image's features from those of the first image of its micro-batch,
  // relative to their length; unset where each micro-batch is one image. Not in json().
  std::optional<double> spread;

  Json json() const;
};

// Shares of numbers that are not finite, of this process's tensors.
struct NonFinite {
  double weights = 0, gradients = 0;
};

}  // namespace facebench

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "facebench/nn/internal/aten.h"
#include "facebench/nn/internal/memory_cache.h"
#include "facebench/nn/internal/true_class.h"
#include "facebench/nn/losses.h"

namespace facebench {

// What several losses share. Everywhere: features x (N, D), weight W (C, D) one row for each class,
// labels y (N) int64 in [0, C). Margins are computed in float32 (float64 where an input is
// float64), whatever the type of the features.

// The entry of a loss: `Options` is its described struct, `HeadType` is made of (Head::Description,
// const Options&).
template <class Options, class HeadType>
LossEntry loss_entry(std::string name, std::string doc, std::string source) {
  const auto make = [name](const Json& json, const HeadShape& shape) -> std::unique_ptr<Head> {
    Options options;
    options_from_json(options, json, "loss " + name);
    return std::make_unique<HeadType>(Head::Description{name, options_to_json(options), shape},
                                      options);
  };
  return {std::move(name), std::move(doc), std::move(source), &options_schema<Options>(), make};
}

// The option `init`, which every loss has.
template <class Options>
void describe_init(OptionsBuilder<Options>& o) {
  o.choice("init", &Options::init,
           "initial weights: linear U(+-1/sqrt(D)), xavier U(+-sqrt(6/(D+C))), xavier_normal N(0, "
           "sqrt(2/(D+C))), xavier_caffe U(+-sqrt(3/D)), normal N(0, 0.01), normal_0.1 N(0, "
           "0.1), truncated_normal N(0, 0.005) cut off at two deviations; biases 0 with all but "
           "linear",
           {"linear", "xavier", "xavier_normal", "xavier_caffe", "normal", "normal_0.1",
            "truncated_normal"});
}

// The mean cross entropy of logits with margin; accuracy is measured by those without.
Head::Output cross_entropy(const at::Tensor& logits, const at::Tensor& labels,
                           const at::Tensor& without_margin);

// A linear classifier: logits W x + b.
class LinearHead : public Head {
 protected:
  LinearHead(Description description, bool bias, const std::string& init);
  // Softmax cross entropy.
  Output classify(const HeadInput& input);

 private:
  bool bias_;
  c10::intrusive_ptr<MemoryCache> cache_ = c10::make_intrusive<MemoryCache>();
};

// A classifier by angles: logits s_i cos(theta_ij), theta_ij between x_i and W_j.
class CosineHead : public Head {
 protected:
  // `centers` rows of weight for each class: those of class j from row j centers on.
  CosineHead(Description description, const std::string& init, std::int64_t centers = 1);
  // Softmax cross entropy, or what `loss` says. unit (N, D): the features' directions; scale (N, 1)
  // or (1, 1); norms: of the features, or what else the target goes by.
  Output classify(const HeadInput& input, const at::Tensor& unit, const at::Tensor& scale,
                  ClassLoss loss, const at::Tensor& norms = {});
  // The same with unit features and one scale s.
  Output classify(const HeadInput& input, double s, const ClassLoss& loss,
                  const at::Tensor& norms = {});
  // Softmax cross entropy with s margin(cos(theta)) in place of the true classes' logits.
  Output classify(const HeadInput& input, double s,
                  const std::function<at::Tensor(const at::Tensor& cosine)>& margin);

 private:
  std::int64_t centers_;
  c10::intrusive_ptr<MemoryCache> cache_ = c10::make_intrusive<MemoryCache>();
};

}  // namespace facebench

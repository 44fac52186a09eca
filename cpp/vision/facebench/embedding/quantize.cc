#include "facebench/embedding/quantize.h"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/datasets/image_rows.h"
#include "facebench/embedding/extractor.h"

namespace facebench {
namespace {

float four_digits(double x) {
  if (x == 0 || !std::isfinite(x)) return static_cast<float>(x);
  const double unit = std::pow(10, std::floor(std::log10(std::abs(x))) - 3);
  return static_cast<float>(std::round(x / unit) * unit);
}

// The model itself, which notes what its layers read.
class RangeModel : public BatchModel {
 public:
  RangeModel(BatchModelInfo info, const Model& model)
      : BatchModel(std::move(info)), network_(model.weights, 1) {}

  at::Tensor embed(const at::Tensor& images) const override {
    const std::string& tap = info().options.tap;
    for (const InputRanges& of_image : network_.input_ranges(images, tap)) {
      for (const auto& [layer, range] : of_image) {
        sums_[layer].first += range.low;
        sums_[layer].second += range.high;
      }
      ++count_;
    }
    return network_.infer(images, tap).flatten(1).contiguous();
  }

  InputRanges ranges() const {
    const auto mean = [&](double sum) { return four_digits(sum / static_cast<double>(count_)); };
    InputRanges result;
    for (const auto& [layer, sums] : sums_) result[layer] = {mean(sums.first), mean(sums.second)};
    return result;
  }

 private:
  InferenceNetwork network_;
  // extract() calls embed() on one thread, for the model does not say that it is thread-safe.
  mutable std::map<std::string, std::pair<double, double>> sums_;
  mutable std::int64_t count_ = 0;
};

std::vector<std::int64_t> evenly(const ImageSource& images, std::int64_t count) {
  std::vector<std::int64_t> usable, chosen;
  for (std::int64_t i = 0; i < images.size(); ++i)
    if (images.status(i) == SampleStatus::ok) usable.push_back(i);
  const auto total = static_cast<std::int64_t>(usable.size());
  const std::int64_t some = std::min(count, total);
  for (std::int64_t k = 0; k < some; ++k)
    chosen.push_back(usable[static_cast<std::size_t>(k * total / some)]);
  return chosen;
}

}  // namespace

InputRanges measure_input_ranges(const Model& model, const ImageSource& images, std::int64_t count,
                                 const Job& job) {
  if (count < 1) throw std::invalid_argument(fmt::format("count {} is not positive", count));
  const ImageRows rows(images, evenly(images, count));
  if (rows.size() == 0) fail("crops for quantization", "none has a face");
  BatchModelInfo info = make_batch_model(model, 1)->info();
  info.thread_safe = false;
  info.any_batch = true;
  const RangeModel observed(std::move(info), model);
  extract(observed, rows, {}, job);
  return observed.ranges();
}

}  // namespace facebench

#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace facebench {

class BatchModel;

// What was found of a model whose rows may depend on the other images of their batch. The model
// keeps it, so that it is asked once for each size of batch. Safe for several threads at once.
class BatchFindings {
 public:
  // What was found with batches of `images`; at first what `find` finds.
  std::string of(int images, const std::function<std::string()>& find);

 private:
  std::mutex mutex_;
  std::map<int, std::string> found_;  // by images in a batch
};

// Whether an image's row depends on the other images of its batch: images 0 and N/2 of N
// (as BatchModel::embed has them) are embedded among images of noise, the first of them twice, and
// by itself; an image of noise within a narrow range among others of that range, and among noise at
// both ends of the pixels' range, so that any statistic of a batch moves.
// Empty where the rows are the same within BatchModelInfo::row_tolerance of their length.
// Otherwise, and where the model does not take the batch, a sentence that says so: it must then be
// given one image at a time. Throws Error where that is not defined: where one image gives two
// rows, or any two images one row; and what the model throws, where it takes neither the batch nor
// one image.
std::string batch_dependence(const BatchModel& model, const at::Tensor& first_images);

}  // namespace facebench

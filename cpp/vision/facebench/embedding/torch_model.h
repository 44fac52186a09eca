#pragma once

#include <memory>
#include <string_view>

#include "facebench/embedding/batch_model.h"

namespace facebench {

// The network of a model run by torch, batch norms folded and values laid out NHWC, on any device:
// what make_batch_model() is for the processor's own inference. Independent of `model`. `device` is
// a word of torch_device(). `precision` is float32; bfloat16 or float16 (weights and values); or
// tf32, on a card alone (products rounded to 10 bits). The same batch gives the same bits on the
// same device, another batch size may not; on the processor in float32 they are within 1e-5 of
// make_batch_model's. Throws std::invalid_argument for a device that is not there and a precision
// that it does not have.
std::unique_ptr<BatchModel> make_torch_model(const Model& model, std::string_view device,
                                             std::string_view precision = "float32");
// The same with the network that the model keeps, as prepared_batch_model().
std::unique_ptr<BatchModel> prepared_torch_model(const Model& model, std::string_view device,
                                                 std::string_view precision = "float32");

}  // namespace facebench

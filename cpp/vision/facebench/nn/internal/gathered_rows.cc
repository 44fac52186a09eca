#include "facebench/nn/internal/gathered_rows.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What gathered rows are made of: the ranks' rows one after another, and the place of each in the
// order of the batch.
struct Order {
  at::Tensor stacked;
  at::Tensor from;  // (N) int64: which of the stacked rows comes next
  at::Tensor own;   // (n) int64
};

Order order_of(const std::vector<at::Tensor>& parts, int rank) {
  std::int64_t longest = 0;
  std::vector<std::int64_t> first;
  std::int64_t total = 0;
  for (const at::Tensor& part : parts) {
    first.push_back(total);
    total += part.size(0);
    longest = std::max(longest, part.size(0));
  }
  std::vector<std::int64_t> from, own;
  for (std::int64_t i = 0; i < longest; ++i)
    for (std::size_t r = 0; r < parts.size(); ++r) {
      if (i >= parts[r].size(0)) continue;
      if (static_cast<int>(r) == rank) own.push_back(static_cast<std::int64_t>(from.size()));
      from.push_back(first[r] + i);
    }
  const at::Device device = parts.front().device();
  const auto tensor = [&](const std::vector<std::int64_t>& v) {
    return at::tensor(v, at::TensorOptions(at::kLong)).to(device);
  };
  return {at::cat(parts), tensor(from), tensor(own)};
}

class Gather : public torch::autograd::Function<Gather> {
 public:
  static variable_list forward(AutogradContext* ctx, const at::Tensor& rows,
                               Communicator* processes, GradientParts parts) {
    const at::Tensor wide = rows.scalar_type() == at::kDouble ? rows : rows.to(at::kFloat);
    const Order order = order_of(processes->all_gather(wide), processes->rank());
    ctx->save_for_backward({order.own});
    ctx->saved_data["type"] = static_cast<std::int64_t>(rows.scalar_type());
    ctx->saved_data["processes"] = reinterpret_cast<std::int64_t>(processes);
    ctx->saved_data["summed"] = parts == GradientParts::summed;
    ctx->mark_non_differentiable({order.own});
    return {order.stacked.index_select(0, order.from), order.own};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& outputs) {
    const at::NoGradGuard no_grad;
    at::Tensor gradient = outputs[0];
    if (ctx->saved_data["summed"].toBool()) {
      gradient = gradient.clone(at::MemoryFormat::Contiguous);
      auto* processes = reinterpret_cast<Communicator*>(ctx->saved_data["processes"].toInt());
      processes->all_reduce(std::span(&gradient, 1));
    }
    const auto type = static_cast<at::ScalarType>(ctx->saved_data["type"].toInt());
    return {gradient.index_select(0, ctx->get_saved_variables()[0]).to(type), {}, {}};
  }
};

}  // namespace

GatheredRows gather_rows(const at::Tensor& rows, Communicator& processes, GradientParts parts) {
  const variable_list outputs = Gather::apply(rows, &processes, parts);
  return {outputs[0], outputs[1]};
}

at::Tensor gather_values(const at::Tensor& rows, Communicator& processes) {
  const Order order = order_of(processes.all_gather(rows), processes.rank());
  return order.stacked.index_select(0, order.from);
}

}  // namespace facebench

#include "facebench/nn/internal/norm_activation.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <stdexcept>

#include "facebench/nn/internal/aten.h"
#include "facebench/nn/internal/norm_kernels.h"
#include "facebench/nn/internal/parallel_loops.h"

namespace facebench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void refuse_second_derivatives() {
  if (at::GradMode::is_enabled())
    throw std::logic_error(
        "networks in NHWC have no second derivatives on the CPU in float32 and bfloat16; use "
        "float64, or channels_last(false)");
}

const NormKernels& kernels_for(const at::Tensor& x) {
  return norm_kernels(x.scalar_type() == at::kBFloat16);
}

// Rows of channels, and how they are shared by threads: contiguous parts, so that a sum depends on
// the number of threads alone.
struct Rows {
  std::int64_t rows, channels, bytes;  // bytes of a value
  std::int64_t threads;

  explicit Rows(const at::Tensor& x)
      : rows(x.numel() / x.size(1)),
        channels(x.size(1)),
        bytes(static_cast<std::int64_t>(x.element_size())),
        threads(std::max<std::int64_t>(
            1, std::min<std::int64_t>(at::get_num_threads(), x.numel() / 16384))) {}

  // body(thread, first row, number of rows)
  template <class Body>
  void each_thread(const Body& body) const {
    at::parallel_for(0, threads, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = begin; t < end; ++t) {
        const std::int64_t first = t * rows / threads;
        body(t, first, (t + 1) * rows / threads - first);
      }
    });
  }
  // Where the row begins; null stays null.
  void* at(const at::Tensor& x, std::int64_t row, std::int64_t width = 0) const {
    if (!x.defined() || x.numel() == 0) return nullptr;
    return static_cast<char*>(x.data_ptr()) + row * (width ? width : channels) * bytes;
  }
};

at::Tensor dense(const at::Tensor& x) {
  return x.dim() == 4 ? x.contiguous(at::MemoryFormat::ChannelsLast) : x.contiguous();
}

at::Tensor per_channel(std::int64_t channels, double value) {
  return at::full({channels}, value, at::TensorOptions(at::kFloat));
}

float* first_float(const at::Tensor& t) { return t.data_ptr<float>(); }

// Mean and variance over the rows, double.
std::pair<at::Tensor, at::Tensor> moments(const at::Tensor& x) {
  const Rows rows(x);
  // Sums of squares around a value from the data keep their digits where the mean is far from zero.
  const at::Tensor shift =
      (x.dim() == 4 ? x.select(3, 0).select(2, 0).select(0, 0) : x.select(0, 0))
          .to(at::kFloat)
          .contiguous();
  const at::Tensor sums = at::zeros({rows.threads, 2, rows.channels}, shift.options());
  rows.each_thread([&](std::int64_t t, std::int64_t first, std::int64_t count) {
    float* sum = first_float(sums) + t * 2 * rows.channels;
    kernels_for(x).moments(rows.at(x, first), count, rows.channels, first_float(shift), sum,
                           sum + rows.channels);
  });
  const at::Tensor means = sums.to(at::kDouble).sum(0) / static_cast<double>(rows.rows);
  const at::Tensor variance = (means[1] - means[0].square()).clamp_min(0);
  return {means[0] + shift, variance};
}

class NormFunction : public torch::autograd::Function<NormFunction> {
 public:
  // Empty tensors stand for those that are left out: a Function takes no undefined ones.
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& residual,
                            const at::Tensor& scale, const at::Tensor& shift,
                            const at::Tensor& slope, const NormActivation* what) {
    const Rows rows(x);
    const bool normed = what->mean.defined();
    at::Tensor mean, inverse, factor, offset;  // y = factor x + offset
    if (normed) {
      const auto [m, variance] = moments(x);
      const double momentum = what->options.momentum;
      const auto n = static_cast<double>(rows.rows);
      what->mean.copy_(what->mean * (1 - momentum) + m * momentum);
      what->variance.copy_(what->variance * (1 - momentum) + variance * (momentum * n / (n - 1)));
      const at::Tensor precise = (variance + what->options.eps).rsqrt();
      const at::Tensor f = scale.numel() ? precise * scale : precise;
      factor = f.to(at::kFloat);
      offset = (shift.numel() ? shift - m * f : -m * f).to(at::kFloat);
      mean = m.to(at::kFloat);
      inverse = precise.to(at::kFloat);
    } else {
      factor = per_channel(rows.channels, 1);
      offset = mean = inverse = per_channel(rows.channels, 0);
    }
    const at::Tensor slopes = slope.numel()
                                  ? slope.to(at::kFloat).expand({rows.channels}).contiguous()
                                  : per_channel(rows.channels, what->relu ? 0 : 1);
    const at::Tensor add = residual.numel() ? dense(residual) : residual;
    const at::Tensor y = at::empty_like(x);
    rows.each_thread([&](std::int64_t, std::int64_t first, std::int64_t count) {
      kernels_for(x).forward(rows.at(x, first), rows.at(add, first), count, rows.channels,
                             first_float(factor), first_float(offset), first_float(slopes),
                             rows.at(y, first));
    });
    // The sign before the activation is that of y where the residual would be needed to know it.
    const bool sign = add.numel() && what->relu;
    ctx->save_for_backward(
        {x, sign ? y : at::empty({0}), mean, inverse, factor, offset, slopes, slope});
    ctx->saved_data["normed"] = normed;
    ctx->saved_data["linear"] = !what->relu && !slope.numel();
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& outputs) {
    refuse_second_derivatives();
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &y = saved[1], &mean = saved[2], &inverse = saved[3],
                     &factor = saved[4], &offset = saved[5], &slopes = saved[6], &slope = saved[7];
    const bool normed = ctx->saved_data["normed"].toBool();
    const Rows rows(x);
    const at::Tensor dy = dense(outputs[0].to(x.scalar_type()));

    at::Tensor sums;  // (3, C): of the gradient, along x - mean, and of the slope
    if (normed || ctx->needs_input_grad(4)) {
      const at::Tensor parts = at::zeros({rows.threads, 3, rows.channels}, factor.options());
      rows.each_thread([&](std::int64_t t, std::int64_t first, std::int64_t count) {
        float* sum = first_float(parts) + t * 3 * rows.channels;
        kernels_for(x).sums(rows.at(dy, first), rows.at(x, first), rows.at(y, first), count,
                            rows.channels, first_float(factor), first_float(offset),
                            first_float(slopes), first_float(mean), sum, sum + rows.channels,
                            sum + 2 * rows.channels);
      });
      sums = parts.to(at::kDouble).sum(0);
    }

    variable_list gradients(6);
    const bool linear = ctx->saved_data["linear"].toBool();
    if (ctx->needs_input_grad(1)) gradients[1] = linear ? dy : at::empty_like(x);
    if (ctx->needs_input_grad(0) || (gradients[1].defined() && !linear)) {
      at::Tensor b = offset, c = offset;  // without batch norm both are zeros
      if (normed) {
        const at::Tensor share = factor / -static_cast<double>(rows.rows);
        b = (share * inverse.square() * sums[1]).to(at::kFloat);
        c = (share * sums[0]).to(at::kFloat);
      }
      gradients[0] = at::empty_like(x);
      rows.each_thread([&](std::int64_t, std::int64_t first, std::int64_t count) {
        kernels_for(x).backward(rows.at(dy, first), rows.at(x, first), rows.at(y, first), count,
                                rows.channels, first_float(factor), first_float(offset),
                                first_float(slopes), first_float(mean), first_float(factor),
                                first_float(b), first_float(c), rows.at(gradients[0], first),
                                linear ? nullptr : rows.at(gradients[1], first));
      });
    }
    if (ctx->needs_input_grad(2)) gradients[2] = (sums[1] * inverse).to(at::kFloat);
    if (ctx->needs_input_grad(3)) gradients[3] = sums[0].to(at::kFloat);
    if (ctx->needs_input_grad(4))
      gradients[4] =
          (slope.numel() == 1 ? sums[2].sum().reshape({1}) : sums[2]).to(slope.scalar_type());
    return gradients;
  }
};

class MaxoutFunction : public torch::autograd::Function<MaxoutFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x) {
    const std::int64_t half = x.size(1) / 2;
    const Rows rows(x);
    std::vector<std::int64_t> size = x.sizes().vec();
    size[1] = half;
    const at::Tensor y = at::empty(size, x.options(), x.suggest_memory_format());
    rows.each_thread([&](std::int64_t, std::int64_t first, std::int64_t count) {
      kernels_for(x).maxout(rows.at(x, first), count, half, rows.at(y, first, half));
    });
    ctx->save_for_backward({x});
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& outputs) {
    refuse_second_derivatives();
    const at::Tensor x = ctx->get_saved_variables()[0];
    const std::int64_t half = x.size(1) / 2;
    const Rows rows(x);
    const at::Tensor dy = dense(outputs[0].to(x.scalar_type())), dx = at::empty_like(x);
    rows.each_thread([&](std::int64_t, std::int64_t first, std::int64_t count) {
      kernels_for(x).maxout_backward(rows.at(dy, first, half), rows.at(x, first), count, half,
                                     rows.at(dx, first));
    });
    return {dx};
  }
};

}  // namespace

std::vector<NormChain> norm_chains(const Graph& graph) {
  const std::vector<Node>& nodes = graph.nodes();
  const std::vector<int> uses = graph.use_counts();
  std::vector<NormChain> result(nodes.size());
  const auto op = [&](int i) { return nodes[static_cast<std::size_t>(i)].op; };
  const auto chain = [&](int i) -> NormChain& { return result[static_cast<std::size_t>(i)]; };
  // The chain that ends in node i, if only one other node reads it; it is removed from the list.
  const auto take = [&](int i) {
    NormChain chain_of_node;
    if (uses[static_cast<std::size_t>(i)] == 1) std::swap(chain_of_node, chain(i));
    return chain_of_node;
  };
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    const std::vector<int>& inputs = nodes[static_cast<std::size_t>(i)].inputs;
    if (op(i) == Op::batch_norm) {
      chain(i).norm = i;
    } else if (op(i) == Op::add && inputs[0] != inputs[1]) {
      for (std::size_t k = 0; k < 2; ++k) {
        const NormChain& before = chain(inputs[k]);
        if (before.norm < 0 || before.last() != before.norm) continue;
        const NormChain taken = take(inputs[k]);
        if (taken.norm < 0) continue;
        chain(i) = {taken.norm, i, -1, inputs[1 - k]};
        break;
      }
    } else if (op(i) == Op::relu || op(i) == Op::prelu) {
      const NormChain& before = chain(inputs[0]);
      const bool fits =
          before.norm >= 0 && before.activation < 0 && (before.add < 0 || op(i) == Op::relu);
      if (fits) chain(i) = take(inputs[0]);
      if (chain(i).norm >= 0 || op(i) == Op::prelu) chain(i).activation = i;
    }
  }
  return result;
}

bool has_norm_activation(const at::Tensor& x, std::int64_t multiple) {
  return x.is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16) &&
         (x.dim() == 4 ? x.is_contiguous(at::MemoryFormat::ChannelsLast)
                       : x.dim() == 2 && x.is_contiguous()) &&
         x.size(1) % multiple == 0 && x.numel() > x.size(1);
}

at::Tensor norm_activation(const at::Tensor& x, const NormActivation& what) {
  if (what.residual.defined() && what.residual.scalar_type() != x.scalar_type()) {
    // torch adds in the wider of the two types.
    NormActivation norm = what;
    norm.residual.reset();
    norm.relu = false;
    const at::Tensor sum = norm_activation(x, norm) + what.residual;
    return what.relu ? at::relu(sum) : sum;
  }
  const at::Tensor none = at::empty({0}, at::TensorOptions(at::kFloat));
  const auto or_none = [&](const at::Tensor& t) { return t.defined() ? t : none; };
  return NormFunction::apply(x, or_none(what.residual), or_none(what.scale), or_none(what.shift),
                             or_none(what.slope), &what);
}

at::Tensor maxout(const at::Tensor& x) { return MaxoutFunction::apply(x); }

}  // namespace facebench

#include <c10/util/BFloat16.h>

#include <algorithm>
#include <bit>

#include "facebench/nn/inference/plan.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/nn/internal/memory_cache.h"
#include "facebench/nn/internal/parallel_loops.h"

namespace facebench {
namespace {

// Up to `each` numbers, `apart` from each other, as the word that kernels multiply.
std::int32_t word_of(const float* numbers, long count, long apart, InferencePrecision precision,
                     long each) {
  if (precision == InferencePrecision::float32) return std::bit_cast<std::int32_t>(*numbers);
  const long bits = 32 / each;
  std::uint32_t word = 0;
  for (long i = 0; i < count; ++i) {
    const float number = numbers[i * apart];
    const std::uint32_t whole = precision == InferencePrecision::bfloat16
                                    ? std::uint32_t{c10::BFloat16(number).x}
                                    : static_cast<std::uint32_t>(static_cast<int>(number));
    word |= (whole & ((1U << bits) - 1)) << (bits * i);
  }
  return static_cast<std::int32_t>(word);
}

// Rows of weights (out, in, taps) in the order that a slab is read: for each block of input
// channels and tap (or, of Winograd's parts, for each part and block) its words, each with all
// rows. A row below zero is zeros.
void order_slab(const float* weights, long in, long taps, const Step& step, long lanes, long each,
                const std::vector<long>& rows, std::int32_t* to) {
  const auto channels = [&](long first, long tap) {
    const long end = std::min(first + lanes, in);
    for (long c = first; c < end; c += each)
      for (const long row : rows)
        *to++ = row < 0 ? 0
                        : word_of(weights + (row * in + c) * taps + tap, std::min(each, end - c),
                                  taps, step.precision, each);
  };
  if (step.winograd >= 0) {
    for (long tap = 0; tap < taps; ++tap)
      for (long first = 0; first < in; first += lanes) channels(first, tap);
  } else {
    for (long first = 0; first < in; first += lanes)
      for (long tap = 0; tap < taps; ++tap) channels(first, tap);
  }
}

// G (values, taps) of one axis: the powers of each point, divided by the product of its differences
// from the others (kernels.h). The points' order is that of the kernels: 0, p, -p, ..., infinity.
at::Tensor winograd_matrix(const WinogradAxis& axis) {
  if (axis.values == 1) return at::ones({1, 1}, at::kDouble);
  const int pairs = axis.values / 2 - 1;
  const double* const points = kWinogradPoints[pairs];
  const at::Tensor g = at::zeros({axis.values, axis.taps}, at::kDouble);
  auto rows = g.accessor<double, 2>();
  rows[0][0] = 1;
  for (int i = 0; i < pairs; ++i) {
    const double p = points[i];
    rows[0][0] /= -p * p;
    double differences = 2 * p * p;
    for (int j = 0; j < pairs; ++j)
      if (j != i) differences *= p * p - points[j] * points[j];
    double power = 1 / differences;
    for (int t = 0; t < axis.taps; ++t, power *= p) {
      rows[1 + 2 * i][t] = power;
      rows[2 + 2 * i][t] = t % 2 == 0 ? power : -power;
    }
  }
  rows[axis.values - 1][axis.taps - 1] = 1;
  return g;
}

// G g G^T: (out, in, parts) of (out, in, down, across).
at::Tensor winograd_weights(const at::Tensor& weights, const WinogradForm& form) {
  const at::Tensor g = at::kron(winograd_matrix(form.down), winograd_matrix(form.across));
  return at::matmul(weights.to(at::kDouble).flatten(2), g.t()).to(at::kFloat);
}

// Weights (out, in, taps) for int8: those of each output in units of which the largest is 127, and
// what the sums of their products with bytes begin with and are multiplied by, so that the input's
// own unit and zero do not show.
at::Tensor byte_weights(const at::Tensor& weights, Step& step) {
  const at::Tensor w = weights.to(at::kDouble);
  at::Tensor unit = w.abs().amax(at::IntArrayRef{1, 2}) / 127;
  unit = at::where(unit == 0, 1.0, unit);
  const at::Tensor whole = at::round(w / unit.reshape({-1, 1, 1}));
  step.begin = (whole.sum(at::IntArrayRef{1, 2}) * -step.bytes.zero).to(at::kInt);
  step.sum_scale = (unit / step.bytes.scale).to(at::kFloat);
  return whole.to(at::kFloat);
}

// The output blocks of one group, two at a time and three where one would be left.
std::vector<Slab> split_blocks(long blocks) {
  std::vector<Slab> slabs;
  for (long b = 0; b < blocks;) {
    const long left = blocks - b;
    const int count = left == 3 ? 3 : left == 1 ? 1 : 2;
    Slab slab;
    slab.first_block = b;
    slab.blocks = count;
    slabs.push_back(slab);
    b += count;
  }
  return slabs;
}

// Each block with that of the other half of the channels.
std::vector<Slab> pairs_of_halves(long count) {
  std::vector<Slab> slabs(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < slabs.size(); ++k) {
    slabs[k].first_block = static_cast<long>(k);
    slabs[k].blocks = 2;
  }
  return slabs;
}

void pack_conv(const at::Tensor& weights, const at::Tensor& bias, const ValueShape& in, long out,
               long lanes, long each, WeightMemory& memory, Step& step) {
  const long of_group = out / step.groups;
  const long blocks = (of_group + lanes - 1) / lanes;
  at::Tensor w = step.winograd < 0 ? weights.flatten(2).contiguous()
                                   : winograd_weights(weights, kWinogradForm[step.winograd]);
  if (step.precision == InferencePrecision::int8) w = byte_weights(w, step);
  const long in_size = w.size(1), taps = w.size(2);
  const long words = (step.in_blocks - 1) * lanes / each + step.last_words;
  std::vector<std::vector<long>> rows;  // by slab
  std::vector<std::int64_t> all_rows;   // of all slabs; what is none of the output's: out
  long weights_size = 0;
  for (long g = 0; g < step.groups; ++g)
    for (Slab slab : step.larger_of_two ? pairs_of_halves(blocks / 2) : split_blocks(blocks)) {
      rows.emplace_back();
      for (int k = 0; k < slab.blocks; ++k) {
        const long block = slab.first_block + k * (step.larger_of_two ? blocks / 2 : 1);
        for (long c = block * lanes; c < (block + 1) * lanes; ++c)
          rows.back().push_back(c < of_group ? g * of_group + c : -1);
      }
      slab.weights = weights_size;
      slab.vectors = static_cast<long>(all_rows.size());
      slab.first_block += g * blocks;
      slab.first_in_block = g * (in.channels / step.groups) / lanes;
      weights_size += static_cast<long>(rows.back().size()) * words * taps;
      for (const long row : rows.back()) all_rows.push_back(row < 0 ? out : row);
      step.slabs.push_back(slab);
    }
  step.weights = memory.take(weights_size);
  const at::Tensor order = at::tensor(all_rows, at::kLong);
  const auto ordered = [&](const at::Tensor& vector) {
    return at::constant_pad_nd(vector, {0, 1}).index_select(0, order);
  };
  step.bias = ordered(bias);
  if (step.precision == InferencePrecision::int8) {
    step.begin = ordered(step.begin);
    step.sum_scale = ordered(step.sum_scale);
  }
  auto* const packed = step.weights.data_ptr<std::int32_t>();
  const auto* const from = w.const_data_ptr<float>();
  at::parallel_for(0, static_cast<std::int64_t>(rows.size()), 1,
                   [&](std::int64_t k, std::int64_t end) {
                     for (; k < end; ++k) {
                       const auto i = static_cast<std::size_t>(k);
                       order_slab(from, in_size, taps, step, lanes, each, rows[i],
                                  packed + step.slabs[i].weights);
                     }
                   });
}

// (blocks, height, width, lanes) of (channels, 1, height, width).
at::Tensor depthwise_weights(const at::Tensor& w, long lanes) {
  const long channels = w.size(0), blocks = (channels + lanes - 1) / lanes;
  at::Tensor filled = at::zeros({blocks * lanes, w.size(2), w.size(3)}, w.options());
  filled.narrow(0, 0, channels).copy_(w.squeeze(1));
  return filled.reshape({blocks, lanes, w.size(2), w.size(3)}).permute({0, 2, 3, 1}).contiguous();
}

// Weights (out, channels * height * width) of a layer that reads a value of that shape, as those of
// a 1x1 convolution that reads its blocks, rows, columns and lanes.
at::Tensor linear_weights(const at::Tensor& w, const ValueShape& in, long lanes) {
  const long blocks = (in.channels + lanes - 1) / lanes;
  at::Tensor filled = w.reshape({w.size(0), in.channels, in.height, in.width});
  if (blocks * lanes != in.channels)
    filled = at::constant_pad_nd(filled, {0, 0, 0, 0, 0, blocks * lanes - in.channels});
  return filled.reshape({w.size(0), blocks, lanes, in.height, in.width})
      .permute({0, 1, 3, 4, 2})
      .reshape({w.size(0), blocks * in.height * in.width * lanes, 1, 1});
}

// Weights (out, in of a group, height, width) of a value of `channels`, as those of fewer groups,
// of which each is several of the layer's.
at::Tensor joined_weights(const at::Tensor& w, long channels, long groups) {
  const long in = w.size(1), joined = channels / groups / in;
  if (joined == 1) return w;
  const long out = w.size(0) / groups / joined;
  at::Tensor filled =
      at::zeros({groups, joined, out, joined, in, w.size(2), w.size(3)}, w.options());
  filled.diagonal(0, 1, 3).copy_(
      w.reshape({groups, joined, out, in, w.size(2), w.size(3)}).permute({0, 2, 3, 4, 5, 1}));
  return filled.reshape({w.size(0), joined * in, w.size(2), w.size(3)});
}

}  // namespace

void pack_step(std::span<const std::vector<at::Tensor>> layers, const Plan& plan,
               WeightMemory& memory, Step& step) {
  const long lanes = plan.lanes();
  const auto fill = [&](at::Tensor& t) {
    if (!t.defined()) return;
    const auto size = t.numel(), whole = (size + lanes - 1) / lanes * lanes;
    t = at::constant_pad_nd(t.to(at::kFloat), {0, whole - size}).contiguous();
  };
  for (at::Tensor* t : {&step.slope, &step.scale, &step.shift, &step.affine_slope}) fill(*t);
  if (step.kind != StepKind::conv && step.kind != StepKind::linear &&
      step.kind != StepKind::depthwise)
    return;

  const std::vector<at::Tensor>& t = layers[static_cast<std::size_t>(step.node)];
  const ValueShape& in = plan.values[static_cast<std::size_t>(step.in)];
  at::Tensor w = t[0].detach();
  const long out = w.size(0);
  at::Tensor bias = t.size() > 1 ? t[1].detach() : at::zeros({out}, w.options());
  if (step.factor != 1) {
    w = w * step.factor;
    bias = bias * step.factor;
  }
  if (step.kind == StepKind::depthwise) {
    step.weights = depthwise_weights(w, lanes);
    step.bias = bias;
    fill(step.bias);
    return;
  }
  if (step.kind == StepKind::linear) {
    w = linear_weights(w, in, lanes);
  } else if (w.size(3) != step.kernel.width) {  // reads patches: (columns, channels)
    w = w.permute({0, 3, 1, 2}).reshape({out, in.channels, w.size(2), 1});
  } else {
    w = joined_weights(w, in.channels, step.groups);
  }
  step.in_blocks = static_cast<int>((w.size(1) + lanes - 1) / lanes);
  const long last = w.size(1) - (step.in_blocks - 1) * lanes;
  const long each = plan.conv_kernel(step).per_word;
  step.last_words = static_cast<int>((last + each - 1) / each);
  pack_conv(w, bias, in, out, lanes, each, memory, step);
}

at::Tensor WeightMemory::take(std::int64_t words) {
  constexpr std::int64_t line = 16, least = 8LL << 20;  // 32 MiB; what is never written takes none
  if (!block_.defined() || words > block_.numel() - used_) {
    block_ = in_large_pages(std::max(words, least)).view(at::kInt);
    used_ = 0;
  }
  const at::Tensor taken = block_.narrow(0, used_, words);
  used_ = std::min(block_.numel(), (used_ + words + line - 1) / line * line);
  return taken;
}

}  // namespace facebench

#include "facebench/nn/inference/step_pass.h"

#include <algorithm>
#include <utility>

#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

// Rows of outputs are computed for all channels before the next ones where their inputs stay in the
// second cache, beside the weights.
constexpr long kCacheFloats = 64L << 10;
constexpr long kCacheWeights = 128L << 10;

constexpr int kMostBlocks = 3;  // of a slab
constexpr long kOneTap[] = {0};
alignas(64) constexpr float kZeros[kMostBlocks * 16] = {};
// Tiles of Winograd's method that read a slab's weights together: so many that the weights need
// not come faster than 64 / kTiles bytes a cycle, at best so few that their values stay in the
// second cache.
constexpr long kTiles = 56;
constexpr long kInputFloats = 128L << 10;
constexpr long kFlatRow = 112;  // pixels; whole tiles of every instruction set's sizes

// The share [from, to) of a thread.
std::pair<long, long> share_of(long count, int part, int parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

const float* floats_of(const at::Tensor& t) {
  return t.defined() ? t.const_data_ptr<float>() : nullptr;
}

const std::int32_t* words_of(const at::Tensor& t) { return t.const_data_ptr<std::int32_t>(); }

// Of a pixel, whose lanes are a multiple of four.
void copy_lanes(const float* from, long lanes, float* to) {
  for (long i = 0; i < lanes; i += 4) std::copy_n(from + i, 4, to + i);
}

}  // namespace

void StepPass::run(const Step& step, const std::vector<float*>& arenas, std::int64_t first) {
  for (float* arena : arenas)
    for (const int v : {step.out, step.affine}) clear_border(v, arena);
  switch (step.kind) {
    case StepKind::patches:
      for (std::size_t i = 0; i < arenas.size(); ++i)
        patches(step, arenas[i], first + static_cast<std::int64_t>(i));
      break;
    case StepKind::conv:
      step.winograd < 0 ? conv(step, arenas) : winograd(step, arenas);
      break;
    case StepKind::linear:
      linear(step, arenas);
      break;
    case StepKind::depthwise:
      for (float* arena : arenas) depthwise(step, arena);
      break;
    case StepKind::pool:
      for (float* arena : arenas) pool(step, arena);
      break;
    case StepKind::pointwise:
    case StepKind::larger:
    case StepKind::multiply:
    case StepKind::sigmoid:
      for (float* arena : arenas) pointwise(step, arena);
      break;
    case StepKind::shift:
      for (float* arena : arenas) shift(step, arena);
      break;
  }
}

void StepPass::read(int value, float* arena, float* out) const {
  const BlockView v = view(value, arena);
  const ValueShape& s = shape(value);
  const long lanes = plan_.lanes();
  for (long c = 0; c < s.channels; ++c)
    for (long y = 0; y < s.height; ++y) {
      const float* from = v.data + c / lanes * v.block + y * v.row + c % lanes;
      for (long x = 0; x < s.width; ++x) *out++ = from[x * lanes];
    }
}

BlockView StepPass::view(int value, float* arena) const {
  if (value < 0) return {};
  const Home& h = home(value);
  const long row = h.row(plan_.lanes()), block = h.block(plan_.lanes());
  const long first = plan_.places[at_index(value)].first_block;
  return {arena + h.offset + first * block + h.top * row + h.left * plan_.lanes(), block, row};
}

void StepPass::clear_border(int value, float* arena) const {
  if (value < 0 || !home(value).bordered()) return;
  const Home& h = home(value);
  const BlockView v = view(value, arena);
  const long lanes = plan_.lanes();
  const auto [from, to] = share_of(blocks(value), part_, parts_);
  // The border at the right of a row and that at the left of the next one lie together.
  const long left = h.left * lanes, right = h.right * lanes, width = h.width * lanes;
  for (long b = from; b < to; ++b) {
    const long above = h.top * v.row + left;
    float* at = v.data + b * v.block - above;
    at = std::fill_n(at, above, 0.0F) + width;
    for (long y = 1; y < h.height; ++y) at = std::fill_n(at, right + left, 0.0F) + width;
    std::fill_n(at, right + h.bottom * v.row, 0.0F);
  }
}

void StepPass::patches(const Step& step, float* arena, std::int64_t image) {
  const long lanes = plan_.lanes();
  const long channels = images_.size(1), height = images_.size(2), width = images_.size(3);
  const float* in = images_.const_data_ptr<float>() + image * images_.stride(0);
  const BlockView out = view(step.out, arena);
  const ValueShape& s = shape(step.out);
  const long left = step.padding.left, taps = step.kernel.width;
  const long step_right = step.stride.width * channels, dilation = step.dilation.width * channels;
  // What lies together in a row.
  const long run = step.dilation.width == 1 ? taps * channels : channels;
  const long padded = std::max(
      left + width, (s.width - 1) * step.stride.width + (taps - 1) * step.dilation.width + 1);
  float* row = workspace_.floats(padded * channels + lanes);
  std::fill_n(row, padded * channels + lanes, 0.0F);
  const auto [from, to] = share_of(height, part_, parts_);
  for (long y = from; y < to; ++y) {
    const float* pixels = in + y * images_.stride(2);
    for (long c = 0; c < channels; ++c)
      for (long x = 0; x < width; ++x)
        row[(left + x) * channels + c] = pixels[c * images_.stride(1) + x * images_.stride(3)];
    for (long x = 0; x < s.width; ++x)
      for (long k = 0; k < taps * channels; k += run) {
        const float* pixel = row + x * step_right + k / run * dilation;
        for (long j = k, n = 0; j < k + run; j += n, pixel += n) {
          float* to_lane = out.data + j / lanes * out.block + y * out.row + x * lanes + j % lanes;
          n = std::min(k + run - j, lanes - j % lanes);
          // Whole lanes, of which the last ones may be anything, are one move.
          if (run == taps * channels)
            copy_lanes(pixel, lanes, to_lane);
          else
            std::copy_n(pixel, n, to_lane);
        }
      }
    for (long j = taps * channels; j % 4 != 0; ++j)  // that words are whole
      for (long x = 0; x < s.width; ++x)
        out.data[j / lanes * out.block + y * out.row + x * lanes + j % lanes] = 0;
  }
}

Window StepPass::window(const Step& step, const BlockView& in, long pixel) {
  taps_.clear();
  for (long y = 0; y < step.kernel.height; ++y)
    for (long x = 0; x < step.kernel.width; ++x)
      taps_.push_back(y * step.dilation.height * in.row + x * step.dilation.width * pixel);
  return {taps_.data(), static_cast<int>(taps_.size()), static_cast<int>(step.stride.height),
          static_cast<int>(step.stride.width)};
}

ConvWork StepPass::conv_work(const Step& step) {
  ConvWork w;
  w.window = {kOneTap, 1};
  w.in_blocks = step.in_blocks;
  w.last_words = step.last_words;
  w.larger_of_two = step.larger_of_two;
  w.residual_first = step.residual_first;
  return w;
}

void StepPass::set_slab(ConvWork& w, const Step& step, const Slab& slab) const {
  w.weights = words_of(step.weights) + slab.weights;
  w.bias = floats_of(step.bias) + slab.vectors;
  if (step.precision == InferencePrecision::int8) {
    w.begin = words_of(step.begin) + slab.vectors;
    w.scale = floats_of(step.sum_scale) + slab.vectors;
  }
  const long c = slab.first_block * plan_.lanes();
  const auto from = [&](const at::Tensor& t) { return t.defined() ? floats_of(t) + c : nullptr; };
  w.activation = {step.activation, from(step.slope)};
  w.affine_activation = {step.affine_activation, from(step.affine_slope)};
  w.affine_scale = from(step.scale);
  w.affine_shift = from(step.shift);
}

void StepPass::conv(const Step& step, const std::vector<float*>& arenas) {
  const ValueShape& out = shape(step.result());
  ConvWork w = conv_work(step);
  w.pixels = out.height * out.width;
  w.width = step.flat ? std::min(w.pixels, kFlatRow) : out.width;
  const long rows = (w.pixels + w.width - 1) / w.width;
  std::pair<long, long> slabs{0, static_cast<long>(step.slabs.size())}, ys{0, rows};
  if (parts_ > 1 && rows < slabs.second && (rows < 8 * parts_ || slabs.second % parts_ == 0))
    slabs = share_of(slabs.second, part_, parts_);
  else
    ys = share_of(rows, part_, parts_);
  long chunk = ys.second - ys.first;
  if (step.weights.numel() <= kCacheWeights) {
    const long in_row = step.flat ? w.width * plan_.lanes() : home(step.in).row(plan_.lanes());
    const long of_row = in_row * step.in_blocks * step.stride.height;
    chunk = std::clamp(kCacheFloats / of_row / 2 * 2, 2L, std::max(chunk, 2L));
  }
  const bool by_chunk = chunk < ys.second - ys.first;
  std::vector<BlockView> inputs(arenas.size());
  const auto rows_of = [&](long k, std::size_t i, long from, long to) {
    const Slab& slab = step.slabs[static_cast<std::size_t>(k)];
    point(w, step, slab, arenas[i], inputs[i]);
    const bool first = i == 0 && from == ys.first;
    w.weights_follow = first && k + 1 < slabs.second;
    kernel(step).run(w, slab.blocks, from, to);
  };
  if (by_chunk) {
    for (std::size_t i = 0; i < arenas.size(); ++i)
      for (long y = ys.first; y < ys.second; y += chunk) {
        const long end = std::min(y + chunk, ys.second);
        inputs[i] = input_rows(step, w, arenas[i], y, end, 0, 1);
        for (long k = slabs.first; k < slabs.second; ++k) rows_of(k, i, y, end);
      }
    return;
  }
  for (std::size_t i = 0; i < arenas.size(); ++i)
    inputs[i] = input_rows(step, w, arenas[i], ys.first, ys.second, i, arenas.size());
  for (long k = slabs.first; k < slabs.second; ++k)
    for (std::size_t i = 0; i < arenas.size(); ++i) rows_of(k, i, ys.first, ys.second);
}

BlockView StepPass::input_rows(const Step& step, const ConvWork& w, float* arena, long from,
                               long to, std::size_t i, std::size_t images) const {
  const long lanes = plan_.lanes();
  BlockView in = view(step.in, arena);
  if (step.flat) in.row = w.width * lanes;
  in.data -= step.padding.top * in.row + step.padding.left * lanes;
  if (step.precision == InferencePrecision::float32) return in;
  const long down = step.stride.height, row = in.row / lanes, pixel = words(step);
  const long rows = (to - from - 1) * down + (step.kernel.height - 1) * step.dilation.height;
  const long columns = step.flat ? std::min(w.pixels, to * w.width) - (to - 1) * w.width
                                 : (w.width - 1) * step.stride.width +
                                       (step.kernel.width - 1) * step.dilation.width + 1;
  const long pixels = rows * row + columns, count = step.in_blocks * step.groups;
  const long size = pixels * count * pixel;
  float* out = workspace_.floats(static_cast<long>(images) * size) + static_cast<long>(i) * size;
  for (long b = 0; b < count; ++b)
    kernel(step).words(in.data + b * in.block + from * down * in.row, pixels, step.bytes,
                       out + b * pixels * pixel);
  return {out - from * down * row * pixel, pixels * pixel, row * pixel};
}

void StepPass::winograd(const Step& step, const std::vector<float*>& arenas) {
  const ValueShape& out = shape(step.result());
  const WinogradForm& form = kWinogradForm[step.winograd];
  const long across = tiles_of(out.width, form.across);
  const long tiles = across * tiles_of(out.height, form.down);
  std::pair<long, long> slabs{0, static_cast<long>(step.slabs.size())}, ts{0, tiles};
  // The inputs' values are computed by each thread where they share the outputs' channels.
  if (tiles < kTiles * parts_ && slabs.second >= parts_)
    slabs = share_of(slabs.second, part_, parts_);
  else
    ts = share_of(tiles, part_, parts_);
  std::vector<Strip> strips;
  long filled = 0;
  const long fit =
      std::clamp(kInputFloats / (form.parts * step.in_blocks * plan_.lanes()), kTiles, 2 * kTiles);
  const long count = (ts.second - ts.first) * static_cast<long>(arenas.size());
  const long passes = std::max(1L, (count + fit / 2) / fit);
  const long most = (count + passes - 1) / passes;
  for (float* arena : arenas)
    for (long t = ts.first; t < ts.second;) {
      const long end = std::min(ts.second, t + most - filled);
      strips.push_back({arena, t, end});
      filled += end - t;
      t = end;
      if (filled < most) continue;
      winograd_strips(step, strips, slabs, across, most);
      strips.clear();
      filled = 0;
    }
  if (filled > 0) winograd_strips(step, strips, slabs, across, filled);
}

void StepPass::winograd_strips(const Step& step, const std::vector<Strip>& strips,
                               std::pair<long, long> slabs, long across, long tiles) {
  const long lanes = plan_.lanes();
  const ValueShape& out = shape(step.result());
  const WinogradForm& form = kWinogradForm[step.winograd];
  WinogradWork v;
  v.in_blocks = step.in_blocks;
  v.across = across;
  v.inputs_block = tiles * words(step);
  v.sums_block = tiles * lanes;
  // A line more, lest the parts compete for the same lines of the first cache.
  v.inputs_part = step.in_blocks * v.inputs_block + 16;
  v.sums_part = kMostBlocks * v.sums_block + 16;
  const long rows = form.down.outputs * form.across.outputs * kMostBlocks * across * lanes;
  float* inputs = workspace_.floats(form.parts * (v.inputs_part + v.sums_part) + rows);
  float* sums = inputs + form.parts * v.inputs_part;
  v.rows = sums + form.parts * v.sums_part;
  v.inputs = inputs;
  for (const Strip& s : strips) {
    v.in = view(step.in, s.arena);
    v.in.data -= step.padding.top * v.in.row + step.padding.left * lanes;
    kernels_.winograd->inputs[step.winograd][static_cast<int>(step.precision)](v, s.from, s.to);
    v.inputs += (s.to - s.from) * words(step);
  }
  ConvWork product = conv_work(step);
  product.larger_of_two = false;
  product.bias = kZeros;
  product.pixels = product.width = tiles;
  ConvWork w = conv_work(step);
  w.width = out.width;
  w.pixels = out.height * out.width;
  for (long k = slabs.first; k < slabs.second; ++k) {
    const Slab& slab = step.slabs[static_cast<std::size_t>(k)];
    for (long p = 0; p < form.parts; ++p) {
      product.weights = words_of(step.weights) + slab.weights +
                        p * step.in_blocks * words(step) * slab.blocks * lanes;
      product.weights_follow = k + 1 < slabs.second || p + 1 < form.parts;
      product.in = {inputs + p * v.inputs_part, v.inputs_block, 0};
      product.out = {sums + p * v.sums_part, v.sums_block, 0};
      kernel(step).run(product, slab.blocks, 0, 1);
    }
    v.sums = sums;
    for (const Strip& s : strips) {
      point(w, step, slab, s.arena, {});
      kernels_.winograd->outputs[step.winograd](v, w, slab.blocks, s.from, s.to);
      v.sums += (s.to - s.from) * lanes;
    }
  }
}

void StepPass::point(ConvWork& w, const Step& step, const Slab& slab, float* arena,
                     const BlockView& in) {
  set_slab(w, step, slab);
  const auto of = [&](int value, long block) {
    BlockView v = view(value, arena);
    if (!v.data) return v;
    if (step.flat) v.row = w.width * plan_.lanes();
    v.data += block * v.block;
    return v;
  };
  w.in = in;
  w.in.data += slab.first_in_block * in.block;
  w.window = window(step, in, words(step));
  w.residual = of(step.residual, slab.first_block);
  w.out = of(step.out, slab.first_block);
  w.affine = of(step.affine, slab.first_block);
}

void StepPass::linear(const Step& step, const std::vector<float*>& arenas) {
  const long lanes = plan_.lanes(), count = static_cast<long>(arenas.size());
  const ValueShape& in = shape(step.in);
  const long out_blocks = blocks(step.out);
  const long pixels = step.in_blocks * count;
  float* gathered = workspace_.floats((2 * pixels + out_blocks * count) * lanes);
  float* multiplied = gathered + pixels * lanes;
  float* results = multiplied + pixels * lanes;
  for (long i = 0; i < count; ++i) {
    const BlockView v = view(step.in, arenas[static_cast<std::size_t>(i)]);
    float* to = gathered + i * lanes;
    for (long b = 0; b < blocks(step.in); ++b)
      for (long y = 0; y < in.height; ++y)
        for (long x = 0; x < in.width; ++x, to += count * lanes)
          std::copy_n(v.data + b * v.block + y * v.row + x * lanes, lanes, to);
  }
  ConvWork w = conv_work(step);
  w.pixels = w.width = count;
  w.in = {gathered, count * lanes, 0};
  if (step.precision != InferencePrecision::float32) {
    kernel(step).words(gathered, pixels, step.bytes, multiplied);
    w.in = {multiplied, count * words(step), 0};
  }
  const auto [from, to] = share_of(static_cast<long>(step.slabs.size()), part_, parts_);
  for (long k = from; k < to; ++k) {
    const Slab& slab = step.slabs[static_cast<std::size_t>(k)];
    set_slab(w, step, slab);
    w.out = {results + slab.first_block * count * lanes, count * lanes, 0};
    kernel(step).run(w, slab.blocks, 0, 1);
    for (long i = 0; i < count; ++i) {
      const BlockView v = view(step.out, arenas[static_cast<std::size_t>(i)]);
      for (long b = 0; b < slab.blocks; ++b)
        std::copy_n(w.out.data + b * w.out.block + i * lanes, lanes,
                    v.data + (slab.first_block + b) * v.block);
    }
  }
}

void StepPass::depthwise(const Step& step, float* arena) {
  DepthwiseWork w;
  w.in = view(step.in, arena);
  w.window = window(step, w.in, plan_.lanes());
  w.in.data -= step.padding.top * w.in.row + step.padding.left * plan_.lanes();
  w.weights = floats_of(step.weights);
  w.bias = floats_of(step.bias);
  w.activation = {step.activation, floats_of(step.slope)};
  w.out = view(step.out, arena);
  w.height = shape(step.out).height;
  w.width = shape(step.out).width;
  const auto [from, to] = share_of(blocks(step.out), part_, parts_);
  kernels_.depthwise(w, from, to, 0, w.height);
}

void StepPass::pool(const Step& step, float* arena) const {
  PoolWork w;
  w.in = view(step.in, arena);
  w.out = view(step.out, arena);
  w.height = shape(step.out).height;
  w.width = shape(step.out).width;
  w.top = step.rows_from.data();
  w.bottom = step.rows_to.data();
  w.left = step.columns_from.data();
  w.right = step.columns_to.data();
  if (!step.row_divisor.empty()) {
    w.row_divisor = step.row_divisor.data();
    w.column_divisor = step.column_divisor.data();
  }
  const auto [from, to] = share_of(blocks(step.out), part_, parts_);
  kernels_.pool(w, from, to);
}

void StepPass::pointwise(const Step& step, float* arena) const {
  PointwiseWork w;
  w.in = view(step.in, arena);
  w.residual = view(step.residual, arena);
  w.out = view(step.out, arena);
  w.height = shape(step.out).height;
  w.width = shape(step.out).width;
  w.scale = floats_of(step.scale);
  w.shift = floats_of(step.shift);
  w.activation = {step.activation, floats_of(step.slope)};
  const auto [from, to] = share_of(blocks(step.out), part_, parts_);
  if (step.kind == StepKind::larger) {
    w.residual = w.in;
    w.residual.data += blocks(step.out) * w.in.block;
    kernels_.larger(w, from, to);
  } else if (step.kind == StepKind::multiply) {
    const ValueShape& by = shape(step.residual);
    w.residual_is_a_pixel = by.height * by.width == 1;
    kernels_.multiply(w, from, to);
  } else if (step.kind == StepKind::sigmoid) {
    kernels_.sigmoid(w, from, to);
  } else {
    kernels_.pointwise(w, from, to);
  }
}

void StepPass::shift(const Step& step, float* arena) const {
  const ValueShape &in = shape(step.in), &out = shape(step.out);
  ShiftWork w;
  w.in = view(step.in, arena);
  w.out = view(step.out, arena);
  w.shift = static_cast<int>(out.channels - in.channels);
  w.in_blocks = blocks(step.in);
  w.height = out.height;
  w.width = out.width;
  const auto [from, to] = share_of(blocks(step.out), part_, parts_);
  kernels_.shift(w, from, to);
}

}  // namespace facebench

#include <c10/core/GradMode.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "facebench/nn/inference/plan.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

constexpr long kLine = 16;  // floats of a line of the caches
long whole_lines(long floats) { return (floats + kLine - 1) / kLine * kLine; }

class MemoryPlanner {
 public:
  MemoryPlanner(const Graph& graph, Plan& plan) : nodes_(graph.nodes()), plan_(plan) {}

  void run() {
    plan_.places.assign(plan_.values.size(), {});
    made_.assign(plan_.values.size(), false);
    for (const Step& s : plan_.steps)
      for (const int v : {s.out, s.affine})
        if (v >= 0) made_[at_index(v)] = true;
    for (std::size_t i = nodes_.size(); i-- > 0;)
      if (nodes_[i].op == Op::concat && plan_.values[i].channels > 0) join(static_cast<int>(i));
    std::stable_sort(plan_.steps.begin(), plan_.steps.end(),
                     [](const Step& a, const Step& b) { return a.order < b.order; });
    for (const Step& s : plan_.steps)
      for (const int v : {s.out, s.affine})
        if (v >= 0 && plan_.places[at_index(v)].home < 0) give_home(v);
    set_borders();
    set_lifetimes();
    set_offsets();
    set_flat();
    set_shared();
  }

 private:
  long blocks(int value) const {
    return (plan_.values[at_index(value)].channels + plan_.lanes() - 1) / plan_.lanes();
  }

  void give_home(int value) {
    const ValueShape& s = plan_.values[at_index(value)];
    Home home;
    home.blocks = blocks(value);
    home.height = s.height;
    home.width = s.width;
    plan_.places[at_index(value)] = {static_cast<int>(plan_.homes.size()), 0};
    plan_.homes.push_back(home);
  }

  // The value that node i hands on: behind what only passes it.
  int value(int i) const {
    while (!made_[at_index(i)] && nodes_[at_index(i)].op != Op::concat)
      i = nodes_[at_index(i)].inputs[0];
    return i;
  }

  // Inputs of a concatenation are written to where it lies, and it lies where its inputs are if
  // those follow each other already. What is part of something else, or begins within a block, is
  // copied; those in turn, since each writes to the rest of its last block.
  void join(int i) {
    std::vector<int> inputs;
    for (const int input : nodes_[at_index(i)].inputs) inputs.push_back(value(input));
    const long lanes = plan_.lanes();
    Place& place = plan_.places[at_index(i)];
    if (place.home < 0) {
      const Place first = plan_.places[at_index(inputs[0])];
      long next = first.first_block * lanes;
      bool follow = first.home >= 0;
      for (const int input : inputs) {
        const Place p = plan_.places[at_index(input)];
        follow = follow && p.home == first.home && p.first_block * lanes == next;
        next += plan_.values[at_index(input)].channels;
      }
      if (follow) {
        place = first;
        return;
      }
      give_home(i);
    }
    long next = place.first_block * lanes;
    for (const int input : inputs) {
      const ValueShape shape = plan_.values[at_index(input)];
      const long shift = next % lanes;
      Place& p = plan_.places[at_index(input)];
      if (p.home < 0 && shift == 0) {
        p = {place.home, next / lanes};
      } else {
        Step copy;
        if (shift != 0) copy.kind = StepKind::shift;
        copy.node = copy.order = i;
        copy.in = input;
        copy.out = static_cast<int>(plan_.values.size());
        plan_.values.push_back({shift + shape.channels, shape.height, shape.width});
        plan_.places.push_back({place.home, next / lanes});
        plan_.steps.push_back(std::move(copy));
      }
      next += shape.channels;
    }
  }

  Home& home(int value) { return plan_.homes[at_index(plan_.places[at_index(value)].home)]; }

  void set_borders() {
    for (const Step& s : plan_.steps) {
      if (s.kind != StepKind::conv && s.kind != StepKind::depthwise) continue;
      const int result = s.result();
      const ValueShape &in = plan_.values[at_index(s.in)], &out = plan_.values[at_index(result)];
      Home& h = home(s.in);
      h.top = std::max(h.top, s.padding.top);
      h.left = std::max(h.left, s.padding.left);
      const auto after = [](long cells, long stride, long kernel, long dilation, long before,
                            long size) {
        return std::max(0L, (cells - 1) * stride + (kernel - 1) * dilation + 1 - before - size);
      };
      // Winograd's tiles may reach beyond the outputs.
      const WinogradForm tile = s.winograd < 0 ? WinogradForm{} : kWinogradForm[s.winograd];
      const long rows = tiles_of(out.height, tile.down) * tile.down.outputs;
      const long columns = tiles_of(out.width, tile.across) * tile.across.outputs;
      h.bottom = std::max(h.bottom, after(rows, s.stride.height, s.kernel.height, s.dilation.height,
                                          s.padding.top, in.height));
      h.right = std::max(h.right, after(columns, s.stride.width, s.kernel.width, s.dilation.width,
                                        s.padding.left, in.width));
    }
  }

  void set_lifetimes() {
    const int count = static_cast<int>(plan_.steps.size());
    for (Home& h : plan_.homes) h.first_step = count, h.last_step = -1;
    const auto use = [&](int value, int step) {
      if (value < 0 || plan_.places[at_index(value)].home < 0) return;
      Home& h = home(value);
      h.first_step = std::min(h.first_step, step);
      h.last_step = std::max(h.last_step, step);
    };
    for (int i = 0; i < count; ++i) {
      const Step& s = plan_.steps[at_index(i)];
      for (const int v : {s.in, s.residual, s.out, s.affine}) use(v, i);
    }
    use(plan_.result, count);
  }

  // The largest first, each at the lowest place where nothing lies that is used at the same time.
  void set_offsets() {
    std::vector<std::size_t> order(plan_.homes.size());
    std::iota(order.begin(), order.end(), 0);
    const long lanes = plan_.lanes();
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return plan_.homes[a].size(lanes) > plan_.homes[b].size(lanes);
    });
    std::vector<std::size_t> placed;
    for (const std::size_t i : order) {
      Home& h = plan_.homes[i];
      h.offset = kLine;  // that kernels may read before and behind a value
      const long size = whole_lines(h.size(lanes));
      for (bool moved = true; moved;) {
        moved = false;
        for (const std::size_t k : placed) {
          const Home& other = plan_.homes[k];
          const long end = other.offset + whole_lines(other.size(lanes));
          if (other.first_step > h.last_step || other.last_step < h.first_step) continue;
          if (h.offset >= end || h.offset + size <= other.offset) continue;
          h.offset = end;
          moved = true;
        }
      }
      placed.push_back(i);
      plan_.arena = std::max(plan_.arena, h.offset + size + kLine);
    }
  }

  void set_flat() {
    for (Step& s : plan_.steps) {
      if (s.kind != StepKind::conv) continue;
      s.flat = s.kernel == Size2(1) && s.stride == Size2(1) && s.padding == Padding(0);
      for (const int v : {s.in, s.residual, s.out, s.affine})
        if (v >= 0 && home(v).bordered()) s.flat = false;
    }
  }

  void set_shared() {
    const auto size = [&](int v) {
      if (v <= 0) return 0L;
      const ValueShape& s = plan_.values[at_index(v)];
      return s.channels * s.height * s.width;
    };
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& s = plan_.steps[i];
      if (s.slabs.empty()) continue;
      if (s.weights.numel() < size(s.in) + size(s.out) + size(s.affine)) plan_.shared_from = i + 1;
    }
  }

  const std::vector<Node>& nodes_;
  Plan& plan_;
  std::vector<bool> made_;  // by a step
};

}  // namespace

void plan_memory(const Graph& graph, Plan& plan) { MemoryPlanner(graph, plan).run(); }

namespace {

// The bytes 0 to 255 for what the range and zero span.
ByteScale bytes_of(const InputRange& range) {
  const float low = std::min(range.low, 0.0F), high = std::max(range.high, 0.0F);
  if (!(high > low)) return {};
  const float scale = 255 / (high - low);
  return {scale, std::nearbyint(-low * scale)};
}

void set_precision(const Graph& graph, InferencePrecision precision, const InputRanges& ranges,
                   Step& step) {
  if (step.kind != StepKind::conv && step.kind != StepKind::linear) return;
  step.precision = precision;
  if (precision != InferencePrecision::int8) return;
  const Node& node = graph.nodes()[at_index(step.node)];
  if (step.kind == StepKind::linear || node.inputs[0] == 0) {
    step.precision = InferencePrecision::bfloat16;
    return;
  }
  const auto range = ranges.find(node.name);
  if (range == ranges.end())
    throw std::invalid_argument(
        fmt::format("precision int8: nothing says what numbers layer '{}' reads; calibrate the "
                    "model on a pack of crops (facebench quantize)",
                    node.name));
  step.bytes = bytes_of(range->second);
}

}  // namespace

std::optional<Plan> make_plan(const Graph& graph, std::span<const std::vector<at::Tensor>> layers,
                              int result, const InferenceKernels& kernels,
                              InferencePrecision precision, const InputRanges& ranges) {
  const c10::NoGradGuard no_grad;
  Plan plan;
  plan.kernels = &kernels;
  if (!plan_steps(graph, layers, result, plan)) return std::nullopt;
  WeightMemory memory;
  for (Step& step : plan.steps) {
    set_precision(graph, precision, ranges, step);
    step.winograd = choose_winograd(graph, plan, step);
    pack_step(layers, plan, memory, step);
  }
  plan_memory(graph, plan);
  return plan;
}

}  // namespace facebench

#include <algorithm>

#include "facebench/nn/inference/plan.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

// A larger form has more weights to read: with fewer tiles of an image than these, reading them
// takes longer than the products that are saved.
constexpr long kLeastTiles = 9;

constexpr long kMostJoined = 16;  // groups

// A vector by channels in float64, one for each value that the graph's node has.
at::Tensor vector_of(const at::Tensor& t) { return t.detach().to(at::kDouble).flatten(); }

class StepPlanner {
 public:
  StepPlanner(const Graph& graph, std::span<const std::vector<at::Tensor>> layers, int result,
              Plan& plan)
      : nodes_(graph.nodes()), layers_(layers), plan_(plan) {
    const std::size_t count = nodes_.size();
    needed_.resize(count, false);
    readers_.resize(count);
    done_.resize(count, false);
    alias_.resize(count, -1);
    plan_.values.resize(count);
    needed_[at_index(result)] = true;
    for (std::size_t i = count; i-- > 0;) {
      if (!needed_[i]) continue;
      for (const int input : nodes_[i].inputs) {
        needed_[at_index(input)] = true;
        readers_[at_index(input)].push_back(static_cast<int>(i));
      }
    }
    result_ = result;
  }

  bool run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!needed_[i]) continue;
      set_shape(static_cast<int>(i));
      if (!done_[i] && !plan_node(static_cast<int>(i))) return false;
    }
    std::stable_sort(plan_.steps.begin(), plan_.steps.end(),
                     [](const Step& a, const Step& b) { return a.order < b.order; });
    plan_.result = value(result_);
    plan_.result_shape = nodes_[at_index(result_)].shape;
    return nodes_[at_index(plan_.result)].op != Op::input;
  }

 private:
  const Node& node(int i) const { return nodes_[at_index(i)]; }
  int value(int i) const { return alias_[at_index(i)] < 0 ? i : alias_[at_index(i)]; }
  const ValueShape& shape(int i) const { return plan_.values[at_index(value(i))]; }

  // The value's shape; a flattened one keeps the shape of what it was made of.
  void set_shape(int i) {
    const Node& n = node(i);
    ValueShape& s = plan_.values[at_index(i)];
    if (n.shape.size() == 3)
      s = {n.shape[0], n.shape[1], n.shape[2]};
    else
      s = {n.shape[0], 1, 1};
    const bool elementwise = n.op == Op::relu || n.op == Op::relu6 || n.op == Op::scale ||
                             n.op == Op::add || n.op == Op::multiply || n.op == Op::sigmoid ||
                             n.op == Op::dropout;
    if (elementwise && n.shape.size() == 1) s = shape(n.inputs[0]);
  }

  // The one node that reads this value and nothing else does; -1 where there is none.
  int only_reader(int i) const {
    if (i == result_ || readers_[at_index(i)].size() != 1) return -1;
    const int reader = readers_[at_index(i)][0];
    return done_[at_index(reader)] ? -1 : reader;
  }

  // Whether a vector of the node has a value for each channel of its input.
  bool by_channel(int i) const {
    const ValueShape& s = shape(node(i).inputs[0]);
    return node(i).shape[0] == s.channels;
  }

  // Sets the activation that node i is; false for another node.
  bool set_activation(int i, Activation& kind, at::Tensor& slope) const {
    if (kind != Activation::none) return false;
    const Node& n = node(i);
    if (n.op == Op::relu) kind = Activation::relu;
    if (n.op == Op::relu6) kind = Activation::relu6;
    if (n.op == Op::prelu && by_channel(i)) {
      kind = Activation::prelu;
      slope = vector_of(layers_[at_index(i)][0]).expand({shape(i).channels});
    }
    return kind != Activation::none;
  }

  void batch_norm(int i, at::Tensor& scale, at::Tensor& shift) const {
    const auto& o = std::get<BatchNormOptions>(node(i).options);
    const std::vector<at::Tensor>& t = layers_[at_index(i)];
    std::size_t next = 0;
    const at::Tensor factor = o.scale ? vector_of(t[next++]) : at::Tensor();
    const at::Tensor offset = o.shift ? vector_of(t[next++]) : at::Tensor();
    scale = at::rsqrt(vector_of(t[next + 1]) + o.eps);
    if (factor.defined()) scale = scale * factor;
    shift = -vector_of(t[next]) * scale;
    if (offset.defined()) shift = shift + offset;
  }

  // Takes what follows into the step, as long as nothing else reads what lies between.
  int take_followers(Step& step, int end) {
    for (;;) {
      const int next = only_reader(end);
      if (next < 0) return end;
      const Node& n = node(next);
      const bool sums = step.kind == StepKind::conv;
      const bool plain = step.activation == Activation::none && step.residual < 0;
      set_shape(next);
      if (set_activation(next, step.activation, step.slope)) {
      } else if (n.op == Op::add && sums && step.residual < 0 && n.inputs[0] != n.inputs[1] &&
                 value(n.inputs[0]) != 0 && value(n.inputs[1]) != 0) {
        step.residual = value(n.inputs[0] == end ? n.inputs[1] : n.inputs[0]);
        step.residual_first = step.activation == Activation::none;
      } else if (n.op == Op::mfm && sums && plain && !step.larger_of_two && step.groups == 1 &&
                 shape(next).channels % plan_.lanes() == 0) {
        step.larger_of_two = true;
      } else if (n.op == Op::scale && sums && plain && !step.larger_of_two) {
        step.factor *= std::get<ScaleOptions>(n.options).factor;
      } else {
        return end;
      }
      done_[at_index(next)] = true;
      end = next;
    }
  }

  // A batch norm that reads what a convolution gives: computed beside it.
  void take_affine(Step& step, int end) {
    for (const int reader : readers_[at_index(end)]) {
      if (done_[at_index(reader)] || node(reader).op != Op::batch_norm || !by_channel(reader))
        continue;
      set_shape(reader);
      batch_norm(reader, step.scale, step.shift);
      done_[at_index(reader)] = true;
      step.affine = reader;
      const int next = only_reader(reader);
      if (next >= 0) set_shape(next);
      if (next >= 0 && set_activation(next, step.affine_activation, step.affine_slope)) {
        done_[at_index(next)] = true;
        step.affine = next;
      }
      if (end != result_ && readers_[at_index(end)].size() == 1) step.out = -1;
      return;
    }
  }

  void add(Step step, int end) {
    step.order = std::max(end, step.node);
    step.out = end;
    if (step.kind == StepKind::conv) take_affine(step, end);
    plan_.steps.push_back(std::move(step));
  }

  bool plan_node(int i) {
    const Node& n = node(i);
    Step step;
    step.node = i;
    if (!n.inputs.empty()) step.in = value(n.inputs[0]);
    switch (n.op) {
      case Op::input:
        return true;
      case Op::flatten:
      case Op::dropout:
        alias_[at_index(i)] = step.in;
        return true;
      case Op::conv:
        return plan_conv(i, std::move(step));
      case Op::linear:
        if (step.in == 0) return false;
        step.kind = StepKind::linear;
        return finish(std::move(step));
      case Op::max_pool:
      case Op::avg_pool:
      case Op::adaptive_avg_pool:
        return plan_pool(i, std::move(step));
      case Op::batch_norm:
        if (!by_channel(i)) return false;
        batch_norm(i, step.scale, step.shift);
        return finish(std::move(step));
      case Op::prelu:
      case Op::relu:
      case Op::relu6:
        if (!set_activation(i, step.activation, step.slope)) return false;
        return finish(std::move(step));
      case Op::scale:
        step.scale =
            at::full({shape(i).channels}, std::get<ScaleOptions>(n.options).factor, at::kDouble);
        step.shift = at::zeros({shape(i).channels}, at::kDouble);
        return finish(std::move(step));
      case Op::add:
      case Op::multiply: {
        // A flattened image lies otherwise than a vector of as many numbers.
        const ValueShape &a = shape(n.inputs[0]), &b = shape(n.inputs[1]);
        const bool gate = n.op == Op::multiply && b == ValueShape{a.channels};
        if (a != b && !gate) return false;
        if (n.op == Op::multiply) step.kind = StepKind::multiply;
        step.residual = value(n.inputs[1]);
        return finish(std::move(step));
      }
      case Op::sigmoid:
        step.kind = StepKind::sigmoid;
        add(std::move(step), i);
        return step.in != 0;
      case Op::mfm:
        if (shape(i).channels % plan_.lanes() != 0 ||
            shape(n.inputs[0]).channels != 2 * shape(i).channels)
          return false;
        step.kind = StepKind::larger;
        add(std::move(step), i);
        return step.in != 0;
      case Op::concat:
        return plan_concat(n);
      default:
        return false;  // torch runs the whole graph
    }
  }

  bool finish(Step step) {
    if (step.in == 0 || step.residual == 0) return false;  // only convolutions read the images
    const int end = take_followers(step, step.node);
    add(std::move(step), end);
    return true;
  }

  // What is joined is moved by plan_memory().
  bool plan_concat(const Node& n) const {
    for (const int input : n.inputs) {
      const ValueShape& s = shape(input);
      if (value(input) == 0) return false;
      if (n.shape.size() == 1 && s.height * s.width != 1) return false;
    }
    return true;
  }

  bool plan_conv(int i, Step step) {
    const auto& o = std::get<ConvOptions>(node(i).options);
    const ValueShape in = shape(step.in);
    step.kernel = o.kernel;
    step.stride = o.stride;
    step.dilation = o.dilation;
    step.padding = o.padding;
    step.groups = o.groups;
    if (step.in == 0) {
      if (o.groups != 1) return false;
      add_patches(i, step);
    } else if (o.stride.width > 2) {
      return false;
    }
    step.kind = StepKind::conv;
    if (o.groups == in.channels && o.out == in.channels && o.groups > 1)
      step.kind = StepKind::depthwise;
    else if (!join_groups(in.channels / o.groups, o.out / o.groups, step.groups))
      return false;
    return finish(std::move(step));
  }

  // Groups of so many channels are computed several at a time, with zeros as weights between them,
  // where one does not fill blocks. False where that would be too many products.
  bool join_groups(long in, long out, long& groups) const {
    for (long joined = 1; joined <= std::min(groups, kMostJoined); ++joined) {
      const bool whole = joined * in % plan_.lanes() == 0 && joined * out % plan_.lanes() == 0;
      if (joined != groups && (groups % joined != 0 || !whole)) continue;
      groups /= joined;
      return true;
    }
    return false;
  }

  // The images of a first layer, their few channels: each pixel becomes what the window's row has
  // there, so that a window of one column is left.
  void add_patches(int i, Step& step) {
    Step patches;
    patches.kind = StepKind::patches;
    patches.node = i;
    patches.order = i;
    patches.in = 0;
    patches.out = static_cast<int>(plan_.values.size());
    patches.kernel = {1, step.kernel.width};
    patches.stride = {1, step.stride.width};
    patches.dilation = {1, step.dilation.width};
    patches.padding = {0, step.padding.left, 0, step.padding.right};
    const ValueShape images = shape(0);
    plan_.values.push_back({images.channels * step.kernel.width, images.height, node(i).shape[2]});
    step.in = patches.out;
    step.kernel = {step.kernel.height, 1};
    step.stride = {step.stride.height, 1};
    step.dilation = {step.dilation.height, 1};
    step.padding = {step.padding.top, 0, step.padding.bottom, 0};
    plan_.steps.push_back(std::move(patches));
  }

  bool plan_pool(int i, Step step) {
    const Node& n = node(i);
    if (step.in == 0) return false;
    const ValueShape in = shape(step.in), out = shape(i);
    step.kind = StepKind::pool;
    if (n.op == Op::adaptive_avg_pool) {
      if (in.height == out.height && in.width == out.width) {
        alias_[at_index(i)] = step.in;
        return true;
      }
      const auto ranges = [](long size, long cells, std::vector<int>& from, std::vector<int>& to,
                             std::vector<float>& divisor) {
        for (long k = 0; k < cells; ++k) {
          from.push_back(static_cast<int>(k * size / cells));
          to.push_back(static_cast<int>(((k + 1) * size + cells - 1) / cells));
          divisor.push_back(static_cast<float>(to.back() - from.back()));
        }
      };
      ranges(in.height, out.height, step.rows_from, step.rows_to, step.row_divisor);
      ranges(in.width, out.width, step.columns_from, step.columns_to, step.column_divisor);
    } else {
      const auto& o = std::get<PoolOptions>(n.options);
      const bool average = n.op == Op::avg_pool;
      const auto ranges = [&](long size, long cells, long kernel, long stride, long before,
                              long after, std::vector<int>& from, std::vector<int>& to,
                              std::vector<float>& divisor) {
        for (long k = 0; k < cells; ++k) {
          const long begin = k * stride - before;
          const long end = std::min(begin + kernel, size + after);
          from.push_back(static_cast<int>(std::max(begin, 0L)));
          to.push_back(static_cast<int>(std::min(end, size)));
          if (average)
            divisor.push_back(static_cast<float>(
                o.count_include_pad ? end - begin : long{to.back()} - from.back()));
        }
      };
      ranges(in.height, out.height, o.kernel.height, o.stride.height, o.padding.top,
             o.padding.bottom, step.rows_from, step.rows_to, step.row_divisor);
      ranges(in.width, out.width, o.kernel.width, o.stride.width, o.padding.left, o.padding.right,
             step.columns_from, step.columns_to, step.column_divisor);
    }
    add(std::move(step), i);
    return true;
  }

  const std::vector<Node>& nodes_;
  std::span<const std::vector<at::Tensor>> layers_;
  Plan& plan_;
  int result_ = 0;
  std::vector<bool> needed_, done_;
  std::vector<std::vector<int>> readers_;
  std::vector<int> alias_;  // the value that a node hands on; -1: its own
};

}  // namespace

bool plan_steps(const Graph& graph, std::span<const std::vector<at::Tensor>> layers, int result,
                Plan& plan) {
  return StepPlanner(graph, layers, result, plan).run();
}

int choose_winograd(const Graph& graph, const Plan& plan, const Step& step) {
  const ValueShape& in = plan.values[at_index(step.in)];
  const ValueShape& out = plan.values[at_index(step.result())];
  if (step.kind != StepKind::conv || graph.nodes()[at_index(step.node)].inputs[0] == 0 ||
      step.groups != 1 || step.stride != Size2(1) || step.dilation != Size2(1) ||
      in.channels % plan.lanes() != 0 || step.precision == InferencePrecision::int8)
    return -1;
  int chosen = -1;
  for (int form = 0; form < kWinogradForms; ++form) {
    const WinogradForm& f = kWinogradForm[form];
    const bool half = step.precision == InferencePrecision::bfloat16;
    if (step.kernel != Size2(f.down.taps, f.across.taps) || (half && form > 0)) continue;
    const long tiles = tiles_of(out.height, f.down) * tiles_of(out.width, f.across);
    if (chosen >= 0 && tiles < kLeastTiles) continue;
    chosen = form;
  }
  return chosen;
}

}  // namespace facebench

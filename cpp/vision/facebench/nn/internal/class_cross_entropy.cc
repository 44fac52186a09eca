#include "facebench/nn/internal/class_cross_entropy.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "facebench/nn/internal/aten.h"
#include "facebench/nn/internal/class_tiles.h"
#include "facebench/nn/internal/true_class.h"

namespace facebench {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Others becomes that of all processes, apart from its winners and slopes. Returns the classes
// predicted.
at::Tensor over_processes(ClassTiles::Others& others, const TrueClass& own, const ClassSplit& split,
                          ClassSplit::Sum kind) {
  std::vector<double>& sums = kind == ClassSplit::Sum::plain ? others.sum : others.log_sum;
  std::vector<std::int64_t> winner(others.winner.begin(), others.winner.end());
  const ClassSplit::Others all =
      split.over_processes({at::tensor(sums, at::TensorOptions(at::kDouble)),
                            at::tensor(others.highest, at::TensorOptions(at::kDouble)),
                            at::tensor(winner, at::TensorOptions(at::kLong))},
                           kind);
  sums.assign(all.sum.const_data_ptr<double>(), all.sum.const_data_ptr<double>() + all.sum.numel());
  const at::Tensor highest = all.highest.to(at::kFloat).contiguous();
  others.highest.assign(highest.const_data_ptr<float>(),
                        highest.const_data_ptr<float>() + highest.numel());
  return split.predicted(own.without_margin.squeeze(1), all);
}

// What the backward pass takes besides tensors.
struct Kept : torch::CustomClassHolder {
  Kept(TileMemory memory, ClassTiles::Terms terms, double weight, std::int64_t centers)
      : memory(std::move(memory)), terms(std::move(terms)), weight(weight), centers(centers) {}
  TileMemory memory;
  ClassTiles::Terms terms;
  double weight;  // of the other classes' terms
  std::int64_t centers;
};

std::vector<float> floats(const at::Tensor& values) {
  const at::Tensor t = values.to(at::kFloat).contiguous();
  return {t.const_data_ptr<float>(), t.const_data_ptr<float>() + t.numel()};
}

ClassTiles::Terms terms_of(const ClassLoss& loss, const TrueClass& own, const at::Tensor& norms) {
  ClassTiles::Terms terms;
  if (loss.hard) {
    terms.kind = OtherTerms::hard;
    terms.bound = floats(own.hard.bound);
    terms.linear = static_cast<float>(own.hard.linear);
    terms.square = static_cast<float>(own.hard.square);
  } else if (loss.threshold) {
    terms.kind = OtherTerms::threshold;
    terms.bound = floats(norms);
    terms.limit = static_cast<float>(loss.threshold->limit);
  }
  return terms;
}

// Which centre a logit is of: bytes in floats' memory.
std::uint8_t* bytes(const at::Tensor& t) {
  return t.numel() ? static_cast<std::uint8_t*>(t.data_ptr()) : nullptr;
}

// What becomes of the gradient of a tile of the weight; empty: it is stored.
ClassTiles::TileUpdate update_of(RowUpdateSlot& slot, const at::Tensor& weight) {
  if (!slot.update) return {};
  if (slot.done)
    throw std::logic_error(
        "the backward pass reaches two losses of one head, each of which would change its weights; "
        "use loss.backward() and the optimizer's step()");
  slot.done = true;
  return [&slot, features = weight.size(1)](std::int64_t first, std::int64_t count,
                                            float* gradient) {
    slot.update(first, at::from_blob(gradient, {count, features}, at::TensorOptions(at::kFloat)));
  };
}

class Function : public torch::autograd::Function<Function> {
 public:
  static variable_list forward(AutogradContext* ctx, const at::Tensor& rows,
                               const at::Tensor& scale, const at::Tensor& weight,
                               const at::Tensor& bias, const at::Tensor& labels,
                               const ClassLoss* loss, const at::Tensor& norms, bool unit_weights,
                               bool bfloat16, const ClassSplit* split, const TileMemory* memory) {
    const std::int64_t n = rows.size(0), classes = weight.size(0) / loss->centers;
    const TrueClass own =
        true_class(rows, scale, weight, bias, labels, *loss, norms, unit_weights, split);
    const auto kept =
        c10::make_intrusive<Kept>(*memory, terms_of(*loss, own, norms),
                                  loss->threshold ? loss->threshold->weight : 1, loss->centers);
    const at::Tensor scaled = (rows * scale).contiguous();
    const ClassTiles tiles({n, rows.size(1), classes, loss->centers}, scaled.data_ptr<float>(),
                           weight.data_ptr<float>(),
                           bias.numel() ? bias.data_ptr<float>() : nullptr,
                           labels.data_ptr<std::int64_t>(), unit_weights, bfloat16, kept->terms);
    const std::int64_t padded = tiles.padded_images();
    const at::Tensor storage = MemoryCache::empty(memory->cache, {classes, padded});
    const at::Tensor nearest = loss->centers > 1
                                   ? MemoryCache::empty(memory->cache, {(classes * padded + 3) / 4})
                                   : at::empty({0}, rows.options());
    const at::Tensor inverse_norms = at::empty({weight.size(0)}, rows.options());
    ClassTiles::Others others =
        tiles.forward(storage.data_ptr<float>(), inverse_norms.data_ptr<float>(), bytes(nearest));
    at::Tensor predicted = at::empty({n}, at::kLong);
    if (split)
      predicted =
          over_processes(others, own, *split,
                         loss->threshold ? ClassSplit::Sum::plain : ClassSplit::Sum::logarithm);

    // In double: log(exp(a) + exp(b)) - b is far below a and b where training has gone well.
    const at::Tensor log_sum = at::empty({n}, at::kDouble);
    const at::Tensor own_logit = own.logit.to(at::kDouble).contiguous();
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double other = others.log_sum[static_cast<std::size_t>(i)];
      const double mine = own_logit.data_ptr<double>()[i];
      const double top = other > mine ? other : mine;
      const double above = std::log1p(std::exp(-std::abs(other - mine)));
      log_sum.data_ptr<double>()[i] = top + above;
      sum += loss->threshold
                 ? mine + loss->threshold->weight * others.sum[static_cast<std::size_t>(i)]
                 : (top - mine) + above;
      if (split) continue;
      const std::int64_t label = labels.data_ptr<std::int64_t>()[i];
      const int winner = others.winner[static_cast<std::size_t>(i)];
      const float rival = others.highest[static_cast<std::size_t>(i)];
      const float without = storage.data_ptr<float>()[label * padded + i];
      predicted.data_ptr<std::int64_t>()[i] =
          winner < 0 || without > rival || (without == rival && label < winner) ? label : winner;
    }
    at::Tensor logits = at::empty({0}, rows.options());
    logits.set_(storage.storage(), 0, {n, classes}, {1, padded});
    // What of the true class's gradient is this process's.
    const at::Tensor held = split ? split->held() : at::ones({n}, at::kBool);
    ctx->save_for_backward({rows, scale, weight, bias, labels, logits, inverse_norms, log_sum,
                            own.cosine, own.logit, own.by_cosine, own.by_scale, own.by_norms, held,
                            nearest, at::tensor(others.slope, at::TensorOptions(at::kDouble))});
    ctx->saved_data["unit_weights"] = unit_weights;
    ctx->saved_data["bfloat16"] = bfloat16;
    ctx->saved_data["kept"] = c10::IValue::make_capsule(kept);
    const at::Tensor target = (loss->threshold ? own.without_margin : own.logit).squeeze(1).clone();
    const at::Tensor highest = at::empty({n}, rows.options());
    std::copy_n(others.highest.begin(), n, highest.data_ptr<float>());
    ctx->mark_non_differentiable({logits, predicted, target, highest});
    ctx->set_materialize_grads(false);  // else backward() is given zeros as large as the logits
    return {at::full({}, sum / static_cast<double>(n), rows.options()), logits, predicted, target,
            highest};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& outputs) {
    if (at::GradMode::is_enabled())
      throw std::logic_error("the cross entropy in float32 has no second derivatives; float64 has");
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &rows = saved[0], &scale = saved[1], &weight = saved[2], &bias = saved[3],
                     &labels = saved[4], &logits = saved[5], &inverse_norms = saved[6],
                     &log_sum = saved[7], &cosine = saved[8], &own_logit = saved[9],
                     &by_cosine = saved[10], &by_scale = saved[11], &by_norms = saved[12],
                     &held = saved[13], &nearest = saved[14], &slope = saved[15];
    const auto kept = c10::static_intrusive_pointer_cast<Kept>(ctx->saved_data["kept"].toCapsule());
    const bool softmax = kept->terms.kind != OtherTerms::threshold;
    const bool unit_weights = ctx->saved_data["unit_weights"].toBool();
    const std::int64_t n = rows.size(0);
    const at::Tensor scaled = (rows * scale).contiguous();
    const ClassTiles tiles({n, rows.size(1), weight.size(0) / kept->centers, kept->centers},
                           scaled.data_ptr<float>(), weight.data_ptr<float>(),
                           bias.numel() ? bias.data_ptr<float>() : nullptr,
                           labels.data_ptr<std::int64_t>(), unit_weights,
                           ctx->saved_data["bfloat16"].toBool(), kept->terms);
    const double share = outputs[0].item<double>() / static_cast<double>(n);
    // d loss / d target logit, and the same through its cosine, in the scale of the other logits.
    const at::Tensor of_own = softmax ? (own_logit.to(at::kDouble) - log_sum.unsqueeze(1)).expm1()
                                      : at::ones_like(own_logit, at::TensorOptions(at::kDouble));
    const at::Tensor lost = of_own * share * held.unsqueeze(1);
    const at::Tensor own = (lost * by_cosine / scale).to(at::kFloat).contiguous();

    const auto padded = static_cast<std::size_t>(tiles.padded_images());
    ClassTiles::Gradients g{logits.data_ptr<float>(),
                            inverse_norms.data_ptr<float>(),
                            bytes(nearest),
                            {},
                            {},
                            {},
                            nullptr,
                            {},
                            nullptr,
                            nullptr};
    g.share.assign(padded, 0);
    g.log_sum.assign(padded, 0);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      g.share[k] = static_cast<float>(share * kept->weight);
      g.log_sum[k] = static_cast<float>(log_sum.data_ptr<double>()[i]);
    }
    g.own.assign(own.data_ptr<float>(), own.data_ptr<float>() + n);
    at::Tensor by_rows, to_scale, by_weight, by_bias;
    if (ctx->needs_input_grad(2)) {
      g.update = update_of(*kept->memory.slot, weight);
      if (!g.update) {
        by_weight = MemoryCache::empty(kept->memory.cache, weight.sizes());
        g.weight = by_weight.data_ptr<float>();
      }
    }
    if (bias.numel() && ctx->needs_input_grad(3)) {
      by_bias = at::empty_like(bias);
      g.bias = by_bias.data_ptr<float>();
    }
    if (ctx->needs_input_grad(0) || ctx->needs_input_grad(1)) {
      by_rows = at::empty_like(rows, at::MemoryFormat::Contiguous);
      g.rows = by_rows.data_ptr<float>();
    }
    tiles.backward(g);
    if (ctx->needs_input_grad(1))
      to_scale = ((by_rows * rows).sum(1, true) - own * cosine + lost * by_scale).to(at::kFloat);
    if (by_rows.defined()) by_rows = by_rows * scale;
    at::Tensor to_norms;
    if (by_norms.numel()) {
      at::Tensor by = lost * by_norms;
      if (!softmax) by = by - share * kept->weight * slope.unsqueeze(1);  // a logit less threshold
      to_norms = by.to(at::kFloat);
    }
    return {by_rows, to_scale, by_weight, by_bias, {}, {}, to_norms, {}, {}, {}, {}};
  }
};

}  // namespace

bool has_class_cross_entropy(const at::Tensor& rows, const at::Tensor& weight) {
  const auto fits = [](const at::Tensor& t) {
    return t.is_cpu() && t.scalar_type() == at::kFloat && t.layout() == at::kStrided;
  };
  return fits(rows) && fits(weight) && weight.is_contiguous();
}

ClassCrossEntropy class_cross_entropy(const at::Tensor& rows, const at::Tensor& scale,
                                      const at::Tensor& weight, const at::Tensor& bias,
                                      const at::Tensor& labels, const ClassLoss& loss,
                                      const at::Tensor& norms, bool unit_weights, bool bfloat16,
                                      const ClassSplit* split, const TileMemory& memory) {
  // A Function takes no undefined tensors.
  const auto given = [&](const at::Tensor& t) {
    return t.defined() ? t : at::empty({0}, weight.options());
  };
  const variable_list outputs =
      Function::apply(rows, scale, weight, given(bias), labels.contiguous(), &loss, given(norms),
                      unit_weights, bfloat16, split, &memory);
  return {outputs[0], outputs[1], outputs[2], outputs[3], outputs[4]};
}

}  // namespace facebench

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "facebench/nn/networks.h"
#include "facebench/nn/networks/parts.h"

namespace facebench {
namespace {

constexpr int kReduction = 16;  // of the gate's hidden channels

enum class Unit : std::uint8_t { plain, gated, adaface };

// norm, 3x3, PReLU, 3x3, norm, a gate for each channel where it is gated, and nothing behind the
// sum; AdaFace's has a norm before the PReLU, too. Names are those of InsightFace_Pytorch,
// face.evoLVe and AdaFace: layers by their numbers.
Value unit(Graph& g, const std::string& name, Value x, std::int64_t width, std::int64_t stride,
           Unit kind) {
  const bool same_width = g.shape(x)[0] == width;
  int number = 0;
  const auto next = [&] { return fmt::format("{}.res_layer.{}", name, number++); };
  Value y = g.batch_norm(next(), x);
  y = g.conv(next(), y, {.out = width, .kernel = 3, .padding = 1});
  if (kind == Unit::adaface) y = g.batch_norm(next(), y);
  y = g.prelu(next(), y);
  y = g.conv(next(), y, {.out = width, .kernel = 3, .stride = stride, .padding = 1});
  y = g.batch_norm(next(), y);
  if (kind == Unit::gated) {
    const std::string gate_name = next();
    Value gate = g.conv(gate_name + ".fc1", g.global_avg_pool(y), {.out = width / kReduction});
    gate = g.conv(gate_name + ".fc2", g.relu(gate), {.out = width});
    y = g.multiply(y, g.sigmoid(gate));
  }
  if (!same_width) {
    x = g.conv(name + ".shortcut_layer.0", x, {.out = width, .stride = stride});
    x = g.batch_norm(name + ".shortcut_layer.1", x);
  } else if (stride != 1) {
    x = g.max_pool(x, {.kernel = 1, .stride = stride});
  }
  return g.add(y, x);
}

void ir50(Graph& g, Value x, const NetworkOptions& o, Unit kind) {
  x = g.conv("input_layer.0", x, {.out = 64, .kernel = 3, .padding = 1});
  x = g.prelu("input_layer.2", g.batch_norm("input_layer.1", x));
  int number = 0;
  std::int64_t width = 64;
  for (const int units : {3, 4, 14, 3}) {
    for (int k = 0; k < units; ++k)
      x = unit(g, fmt::format("body.{}", number++), x, width, k == 0 ? 2 : 1, kind);
    width *= 2;
  }
  x = g.flatten(g.dropout(g.batch_norm("output_layer.0", x), 0.4));
  x = g.linear("output_layer.3", x, {.out = *o.embedding, .bias = true});
  const bool affine = kind != Unit::adaface;
  x = g.batch_norm("output_layer.4", x, {.scale = affine, .shift = affine});
  g.tap("embedding", x);
  tap_logits(g, "classifier", x, o, /*dropout=*/0, /*bias=*/false);
}

template <Unit kUnit>
NetworkEntry entry(const char* name, const char* doc) {
  return {
      .name = name,
      .doc = doc,
      .source =
          "Deng et al., \"ArcFace\", CVPR 2019, section 3.1; Hu et al., "
          "\"Squeeze-and-excitation networks\", CVPR 2018; the networks of InsightFace_Pytorch, "
          "face.evoLVe and AdaFace",
      .defaults = {.height = 112, .width = 112, .embedding = 512},
      .build = [](Graph& g, Value x, const NetworkOptions& o) { ir50(g, x, o, kUnit); }};
}

}  // namespace

std::vector<NetworkEntry> ir_networks() {
  return {entry<Unit::plain>("ir50", "improved residual units 3-4-14-3 with one norm less, PReLU"),
          entry<Unit::gated>("ir_se50", "the same with squeeze-and-excitation in every unit"),
          entry<Unit::adaface>("ir50_adaface",
                               "improved residual units 3-4-14-3, PReLU, dropout: AdaFace's")};
}

}  // namespace facebench

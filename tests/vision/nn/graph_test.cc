#include "facebench/nn/graph.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "facebench/nn/batch_norm_folding.h"
#include "facebench/nn/graph_summary.h"
#include "nn/refusal.h"

namespace facebench {
namespace {

TEST(Graph, InfersShapes) {
  Graph g;
  const Value x = g.input(3, 113, 96);
  const Value c = g.conv("c", x, {.out = 8, .kernel = {3, 5}, .stride = 2, .padding = {1, 2}});
  EXPECT_EQ(g.shape(c), (Shape{8, 57, 48}));
  EXPECT_EQ(g.shape(g.conv("d", x, {.out = 4, .kernel = 3, .dilation = 2})), (Shape{4, 109, 92}));
  // TensorFlow's SAME with stride 2 on an even side pads after the image alone.
  EXPECT_EQ(g.shape(g.conv("s", c, {.out = 2, .kernel = 3, .stride = 2, .padding = {1, 0, 1, 1}})),
            (Shape{2, 29, 24}));
  EXPECT_EQ(g.shape(g.max_pool(c, {.kernel = 3, .stride = 2})), (Shape{8, 28, 23}));
  EXPECT_EQ(g.shape(g.max_pool(c, {.kernel = 3, .stride = 2, .ceil_mode = true})),
            (Shape{8, 28, 24}));
  // The last window would start in the padding: left out.
  EXPECT_EQ(g.shape(g.max_pool(c, {.kernel = 2, .stride = 2, .padding = 1, .ceil_mode = true})),
            (Shape{8, 29, 25}));
  // An average that counts its padding may be of zeros alone.
  EXPECT_EQ(g.shape(g.avg_pool(c, {.kernel = 1, .stride = 1, .padding = {0, 0, 1, 2}})),
            (Shape{8, 58, 50}));
  EXPECT_EQ(g.shape(g.adaptive_avg_pool(c, {7, 6})), (Shape{8, 7, 6}));
  EXPECT_EQ(g.shape(g.mfm(c)), (Shape{4, 57, 48}));
  EXPECT_EQ(g.shape(g.concat({c, c, c})), (Shape{24, 57, 48}));
  EXPECT_EQ(g.shape(g.flatten(c)), (Shape{8 * 57 * 48}));
  const Value t = g.tokens(g.adaptive_avg_pool(c, {7, 6}));
  EXPECT_EQ(g.shape(t), (Shape{42, 8}));
  const Value qkv = g.linear("qkv", g.layer_norm("norm", g.positions("p", t)), {.out = 36});
  EXPECT_EQ(g.shape(qkv), (Shape{42, 36}));
  EXPECT_EQ(g.shape(g.attention(qkv, {.heads = 3})), (Shape{42, 12}));
  EXPECT_EQ(g.shape(g.flatten(t)), (Shape{42 * 8}));
}

TEST(Graph, RefusesWhatDoesNotFitAndNamesTheLayer) {
  Graph g;
  const Value x = g.input(3, 8, 8);
  EXPECT_EQ(refusal([&] { g.linear("fc", x, {.out = 2}); }),
            "layer 'fc': linear takes a vector, its input is 3x8x8; flatten it first");
  EXPECT_NE(refusal([&] { g.conv("c", x, {.out = 4, .groups = 2}); }).find("layer 'c'"),
            std::string::npos);
  EXPECT_NE(refusal([&] { g.conv("c", x, {.out = 4, .kernel = 9}); }).find("does not fit"),
            std::string::npos);
  EXPECT_NE(refusal([&] { g.conv("c", x, {.kernel = 3}); }).find("out is 0"), std::string::npos);
  const Value c = g.conv("c", x, {.out = 5});
  EXPECT_NE(refusal([&] { g.conv("c", x, {.out = 5}); }).find("another layer"), std::string::npos);
  EXPECT_NE(refusal([&] { g.add(x, c); }).find("3x8x8 and 5x8x8"), std::string::npos);
  const Value gated = g.multiply(c, g.global_avg_pool(c));
  EXPECT_EQ(g.shape(gated), g.shape(c));
  EXPECT_NE(refusal([&] { g.multiply(x, c); }).find("3x8x8 and 5x8x8"), std::string::npos);
  EXPECT_THROW(g.multiply(x, g.global_avg_pool(c)), std::invalid_argument);
  EXPECT_THROW(g.multiply(g.global_avg_pool(c), c), std::invalid_argument);
  EXPECT_NE(refusal([&] { g.mfm(c); }).find("5 is odd"), std::string::npos);
  EXPECT_NE(refusal([&] {
              g.avg_pool(x, {.padding = 2, .count_include_pad = false});
            }).find("more than half the kernel"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              g.avg_pool(x, {.padding = {1, 0, 0, 0}, .count_include_pad = false});
            }).find("pads both sides alike"),
            std::string::npos);
  EXPECT_NE(refusal([&] { g.relu(Value{99}); }).find("not a value"), std::string::npos);
  EXPECT_NE(refusal([&] { g.input(3, 8, 8); }).find("one input"), std::string::npos);
  EXPECT_NE(refusal([&] { g.dropout(c, 1.0); }).find("p < 1"), std::string::npos);
  EXPECT_NE(refusal([&] { g.drop_path(c, -0.1); }).find("drop_path with p"), std::string::npos);
  EXPECT_NE(refusal([&] { g.layer_norm("n", c); }).find("takes a sequence"), std::string::npos);
  EXPECT_NE(refusal([&] { g.lstm("n", c, {.out = 2}); }).find("takes a sequence"),
            std::string::npos);
  EXPECT_NE(refusal([&] { g.lookup("n", c, {.width = 2}); }).find("lookup takes the words"),
            std::string::npos);
  const Value t = g.tokens(c);
  EXPECT_NE(refusal([&] { g.batch_norm("n", t); }).find("the sequence 64x5"), std::string::npos);
  EXPECT_NE(refusal([&] { g.conv("n", t, {.out = 4}); }).find("takes images"), std::string::npos);
  EXPECT_NE(refusal([&] { g.attention(t, {.heads = 1}); }).find("5 numbers in a token"),
            std::string::npos);
  g.tap("embedding", c);
  EXPECT_NE(refusal([&] { g.tap("embedding", x); }).find("another tap"), std::string::npos);
  EXPECT_NE(refusal([&] { g.tap_node("embeding"); }).find("did you mean 'embedding'"),
            std::string::npos);
}

TEST(Graph, NamesAndCountsTensors) {
  Graph g;
  Value x = g.input(4, 6, 6);
  x = g.conv("conv", x, {.out = 8, .kernel = 3, .groups = 2, .bias = true});  // 8*2*9 + 8
  x = g.batch_norm("bn", x);                                                  // 8 + 8
  x = g.prelu("prelu", x);                                                    // 8
  x = g.linear("fc", g.flatten(x), {.out = 10, .bias = false});               // 8*16*10
  g.tap("embedding", x);
  std::vector<std::string> names;
  for (const TensorSpec& t : g.tensors()) names.push_back(t.name);
  EXPECT_EQ(names, (std::vector<std::string>{"conv.weight", "conv.bias", "bn.weight", "bn.bias",
                                             "bn.running_mean", "bn.running_var", "prelu.weight",
                                             "fc.weight"}));
  EXPECT_EQ(g.tensors()[0].shape, (Shape{8, 2, 3, 3}));
  EXPECT_EQ(g.tensors()[0].fan_in, 18);
  EXPECT_EQ(g.tensors()[0].fan_out, 72);
  EXPECT_EQ(count_parameters(g), 144 + 8 + 16 + 8 + 1280);
  // Caffe: convolution 144, BatchNorm's mean 8, Scale's gamma 8, PReLU 8, inner product 1280.
  EXPECT_EQ(count_parameters(g, CountRule::caffe_first_blob), 144 + 8 + 8 + 8 + 1280);
  EXPECT_EQ(count_parameters(g, CountRule::weights), 144 + 1280);
  EXPECT_EQ(count_macs(g), 144 * 16 + 1280);
  EXPECT_EQ(count_activations(g), 3 * 128 + 10);
  EXPECT_EQ(peak_activations(g), 144 + 128 > 256 ? 144 + 128 : 256);
}

TEST(Graph, CountsWhatSequencesTake) {
  Graph g;
  Value t = g.positions(
      "p", g.tokens(g.conv("c", g.input(3, 8, 8), {.out = 6, .kernel = 2, .stride = 2})));
  t = g.attention(g.linear("qkv", g.layer_norm("n", t), {.out = 18}), {.heads = 2});
  g.tap("embedding", g.flatten(t));
  // 16 tokens of 6: convolution 6*12, positions 16*6, norm 6 + 6, linear 18*6 + 18.
  EXPECT_EQ(count_parameters(g), 72 + 96 + 12 + 126);
  EXPECT_EQ(count_parameters(g, CountRule::weights), 72 + 108);
  // Each query with each key, 6 products, and as many for the values.
  EXPECT_EQ(count_macs(g), 16 * 72 + 16 * 108 + 2 * 16 * 16 * 6);
  EXPECT_EQ(count_activations(g), 16 * (6 + 6 + 6 + 18 + 6));
}

TEST(Graph, FoldsBatchNormsThatFollowOneLayerAlone) {
  Graph g;
  Value x = g.input(3, 8, 8);
  Value a = g.conv("a", x, {.out = 4});
  Value b = g.batch_norm("bn_a", a);  // folds
  Value c = g.conv("c", b, {.out = 4});
  Value d = g.batch_norm("bn_c", c);            // stays: c is read twice
  Value e = g.batch_norm("bn_e", g.add(c, d));  // stays: not behind a layer
  Value f = g.batch_norm("bn_f", g.linear("f", g.flatten(g.dropout(e, 0.5)), {.out = 2}));  // folds
  g.tap("embedding", f);
  const FoldedGraph folded = fold_batch_norm(g);
  std::set<std::string> names;
  for (const Node& n : folded.graph.nodes()) names.insert(n.name);
  EXPECT_TRUE(names.contains("bn_c") && names.contains("bn_e"));
  EXPECT_FALSE(names.contains("bn_a") || names.contains("bn_f"));
  for (const Node& n : folded.graph.nodes()) EXPECT_NE(n.op, Op::dropout);
  ASSERT_EQ(folded.folds.size(), 2U);
  EXPECT_EQ(folded.folds[0].layer, "a");
  EXPECT_FALSE(folded.folds[0].layer_had_bias);
  EXPECT_TRUE(folded.folds[1].layer_had_bias);
  EXPECT_EQ(folded.graph.shape({folded.graph.tap_node("embedding")}), (Shape{2}));
}

}  // namespace
}  // namespace facebench

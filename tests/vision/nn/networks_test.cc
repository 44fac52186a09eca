#include "facebench/nn/networks.h"

#include <gtest/gtest.h>

#include <string>

#include "facebench/nn/graph.h"
#include "facebench/nn/graph_summary.h"
#include "nn/refusal.h"

namespace facebench {
namespace {

struct Count {
  const char* name;
  NetworkOptions options;
  CountRule rule;
  std::int64_t expected;
};

// Wang & Guo 2019, table 2: 10,575 classes, each framework's column with its own rule.
TEST(Networks, CountToTheLastDigit) {
  const auto all = CountRule::parameters, blob = CountRule::caffe_first_blob;
  const auto weights = CountRule::weights;
  const NetworkOptions table{.classes = 10575};
  const NetworkOptions gray{.channels = 1, .classes = 10575};
  const NetworkOptions with{.classes = 10575, .auxiliary = 1};
  const NetworkOptions without{.classes = 10575, .auxiliary = 0};
  const NetworkOptions large{.height = 224, .width = 224, .classes = 10575};
  const Count counts[] = {
      // The PyTorch column: every parameter.
      {"resnet50", table, all, 45'176'207},
      {"densenet121", table, all, 17'793'231},
      {"vgg16", table, all, 177'586'319},
      {"vgg16_bn", table, all, 177'594'767},
      {"alexnet_v2", table, all, 100'329'615},
      {"inception_v3", table, all, 43'453'743},
      {"inception_v3", with, all, 54'143'614},
      {"lightcnn29", gray, all, 15'291'055},
      // Printed as LightCNN-29: the first blobs of LightCNN-9.
      {"lightcnn9", table, blob, 8'190'240},
      {"lightcnn9", gray, blob, 8'185'440},
      {"lightcnn29", gray, weights, 15'272'544},
      // The Caffe column: the first blob of each layer.
      {"alexnet_v1", table, blob, 100'173'856},
      {"vgg16", table, blob, 177'563'328},
      {"googlenet_bvlc", table, blob, 42'780'096},
      {"googlenet_bvlc", with, all, 42'821'405},
      {"densenet121", table, blob, 17'782'656},
      {"resnet50_v1", table, blob, 45'165'632},
      {"centerloss", table, blob, 32'949'696},
      {"centerloss", table, weights, 27'528'032 + 5'414'400},
      {"sphereface20", large, blob, 68'450'048},
      {"sphereface20", table, weights, 28'075'200},
      {"sphereface20", table, blob, 28'075'200 + 4'672},
      // The TensorFlow column: slim's variables.
      {"googlenet_slim", table, all, 16'431'999},
      {"alexnet_v2_slim", table, all, 89'532'687},
      {"inception_v3_slim", table, all, 54'125'502},
      {"resnet50_slim", table, all, 45'176'207},
      // torchvision's own counts with 1,000 classes.
      {"resnet18", {.classes = 1000}, all, 11'689'512},
      {"resnet50", {.classes = 1000}, all, 25'557'032},
      {"densenet121", {.classes = 1000}, all, 7'978'856},
      {"vgg16", {.classes = 1000}, all, 138'357'544},
      {"vgg16_bn", {.classes = 1000}, all, 138'365'992},
      {"alexnet_v2", {.classes = 1000}, all, 61'100'840},
      {"googlenet", {.classes = 1000}, all, 6'624'904},
      {"googlenet", {.classes = 1000, .auxiliary = 1}, all, 13'004'888},
      {"inception_v3", {.classes = 1000, .auxiliary = 1}, all, 27'161'264},
      {"resnet101", {.classes = 1000}, all, 44'549'160},
      // He et al. 2016, table 6: .27 and .85 million.
      {"resnet20_cifar", {.classes = 10}, all, 269'722},
      {"resnet56_cifar", {.classes = 10}, all, 853'018},
      // resnet18 without a 7x7: 11,173,962 in many sources. TensorFlow's: biases of 20 + 3
      // convolutions, and three more projections with their norms.
      {"resnet18_small", {.classes = 10}, all, 11'173'962},
      {"resnet18_small_tensorflow",
       {.classes = 10},
       all,
       11'173'962 + (64 + 256 + 6 * (128 + 256 + 512)) + (128 * 130 + 256 * 258 + 512 * 514)},
      // 20 (25 + 1), 50 (20 x 25 + 1), 500 (50 x 16 + 1), 10 (500 + 1).
      {"lenet5", {.channels = 1, .classes = 10}, all, 520 + 25'050 + 400'500 + 5'010},
      // 32 (25 + 1), 64 (32 x 25 + 1), 1024 (64 x 49 + 1), 10 (1024 + 1).
      {"lenet5_tensorflow", {.channels = 1, .classes = 10}, all, 832 + 51'264 + 3'212'288 + 10'250},
      // 32 x 26, 64 x 801, 200 (64 x 9 + 1), 10 x 201; Theano's are Caffe's.
      {"lenet5_torch", {.channels = 1, .classes = 10}, all, 832 + 51'264 + 115'400 + 2'010},
      {"lenet5_theano", {.channels = 1, .classes = 10}, all, 520 + 25'050 + 400'500 + 5'010},
      // TensorFlow's tutorial prints 1,068,298.
      {"cifar10_tensorflow", {.classes = 10}, all, 1'068'298},
      // 32 x 76, 32 x 801, 64 x 801, 64 (64 x 16 + 1), 10 x 65.
      {"cifar10_caffe", {.classes = 10}, all, 2'432 + 25'632 + 51'264 + 65'600 + 650},
      // 16 x 76, 256 x 401, 128 (256 x 25 + 1), 10 x 129.
      {"cifar10_torch", {.classes = 10}, all, 1'216 + 102'656 + 819'328 + 1'290},
      // 4 x 28, 8 x 37, 100 (8 x 16 + 1), 10 x 101.
      {"cifar10_theano", {.classes = 10}, all, 112 + 296 + 12'900 + 1'010},
      // Shi et al. 2016. AlexNet-R: 32 x 76, 32 x 801, 64 x 801, 10 x 577, "85000" in dlbench.
      // FCN-S: the paper's 55 million are its first layer.
      {"alexnet_r", {.classes = 10}, all, 2'432 + 25'632 + 51'264 + 5'770},
      {"alexnet_s", {.classes = 1000}, all, 61'100'840},
      // 10,000 x 256, twice 512 x 1,024 + 1,024, 10,000 x 257, as in dlbench; the paper's 13
      // million
      // would be cells that read 10,000 inputs each themselves.
      {"lstm", {.classes = 10'000}, all, 2'560'000 + 2 * 525'312 + 2'570'000},
      {"fcn_r", {.channels = 1, .classes = 10}, all, 1'607'680 + 8'392'704 + 4'195'328 + 10'250},
      {"fcn_s",
       {.channels = 1, .classes = 26'752},
       all,
       26'752LL * 2'048 + 2'048 + 3 * (2'048 * 2'048 + 2'048) + 2'048LL * 26'752 + 26'752},
      // Without a classifier, as their authors' code counts them (insightface has 512 more, the
      // scale that it keeps at 1).
      {"inception_resnet_v1", {}, all, 23'482'624},
      {"iresnet50", {}, all, 43'590'848 - 512},
      {"iresnet100", {}, all, 65'156'160 - 512},
      {"mobilefacenet", {}, all, 999'936},
      // By hand: 124928 of the patches, 73728 of the positions; in a block norms 2048, qkv 786432,
      // projection 262656, 1050624 and 1049088; norm 1024, 37748736 + 1024, 262144 + 1024.
      {"vit_s", {}, all, 198'656 + 12 * 3'150'848 + 1'024 + 37'749'760 + 263'168},
      {"vit_b", {}, all, 198'656 + 24 * 3'150'848 + 1'024 + 37'749'760 + 263'168},
      // By hand: 1728 + 73728 + 294912 + 1179648 weights, 960 biases, 960 slopes, FC 512 x 42 x
      // 512.
      {"sphereface4", {}, all, 1550016 + 2 * 960 + 11010048 + 512},
      {"googlenet_bvlc", without, weights, 16'795'072},
  };
  for (const Count& c : counts)
    EXPECT_EQ(count_parameters(build_graph(c.name, c.options), c.rule), c.expected) << c.name;
}

// Multiply-accumulates as published elsewhere: torchvision 0.26 (its "GFLOPS", to three digits).
TEST(Networks, CountMultiplyAccumulates) {
  const auto giga = [](const char* name) {
    const NetworkOptions options{.classes = 1000, .auxiliary = 0};
    return static_cast<double>(count_macs(build_graph(name, options))) / 1e9;
  };
  EXPECT_NEAR(giga("alexnet_v2"), 0.714, 0.001);
  EXPECT_NEAR(giga("vgg16"), 15.470, 0.001);
  EXPECT_NEAR(giga("googlenet"), 1.498, 0.001);
  EXPECT_NEAR(giga("inception_v3"), 5.713, 0.001);
  EXPECT_NEAR(giga("resnet18"), 1.814, 0.001);
  EXPECT_NEAR(giga("resnet50"), 4.089, 0.001);
  EXPECT_NEAR(giga("resnet50_v1"), 3.8, 0.1);  // He et al. 2016, table 1: 3.8e9
  EXPECT_NEAR(giga("densenet121"), 2.834, 0.001);
}

TEST(Networks, EveryEntryIsDocumentedAndBuilds) {
  for (const NetworkEntry& e : networks().entries()) {
    EXPECT_FALSE(e.doc.empty() || e.source.empty()) << e.name;
    const Graph g = build_graph(e.name, {.classes = 7});
    EXPECT_EQ(g.vocabulary() > 0, e.defaults.words.has_value()) << e.name;
    // A network that reads words has a row for each of them.
    const auto of = [&](std::int64_t width, std::int64_t words) {
      return g.vocabulary() > 0 ? Shape{words, width} : Shape{width};
    };
    const int steps = e.defaults.words.value_or(0);
    EXPECT_EQ(g.shape({g.tap_node("embedding")}), of(*e.defaults.embedding, steps)) << e.name;
    EXPECT_EQ(g.shape({g.tap_node("logits")}), of(7, steps)) << e.name;
    EXPECT_NE(summary(g).find("tap logits"), std::string::npos);
    const NetworkOptions size = g.vocabulary() > 0
                                    ? NetworkOptions{.embedding = 24, .words = 9}
                                    : NetworkOptions{.height = 160, .width = 144, .embedding = 24};
    const Graph other = build_graph(e.name, size);
    EXPECT_EQ(other.shape({other.tap_node("embedding")}), of(24, 9)) << e.name;
    for (const auto& [tap, node] : other.taps()) EXPECT_NE(tap, "logits") << e.name;
  }
  EXPECT_NE(refusal([] { build_graph("spherface20"); }).find("did you mean 'sphereface20'"),
            std::string::npos);
  EXPECT_NE(refusal([] {
              build_graph("sphereface20", {.channel_multiplier = 0.5});
            }).find("no channel_multiplier"),
            std::string::npos);
}

TEST(Networks, AuxiliaryClassifiersAreThereWhereAskedFor) {
  for (const char* name : {"googlenet", "googlenet_bvlc"}) {
    const Graph g = build_graph(name, {.classes = 7, .auxiliary = 1});
    EXPECT_EQ(g.shape({g.tap_node("aux1")}), (Shape{7}));
    EXPECT_EQ(g.shape({g.tap_node("aux2")}), (Shape{7}));
  }
  const Graph g = build_graph("inception_v3", {.classes = 7, .auxiliary = 1});
  EXPECT_EQ(g.shape({g.tap_node("aux1")}), (Shape{7}));
  EXPECT_NE(refusal([] { build_graph("googlenet", {.classes = 7}).tap_node("aux1"); }), "");
  EXPECT_NE(refusal([] {
              build_graph("resnet50", {.classes = 7, .auxiliary = 1});
            }).find("has no auxiliary classifiers"),
            std::string::npos);
  // Without classes the taps are what the classifiers would read.
  const Graph open = build_graph("googlenet", {.auxiliary = 1});
  EXPECT_EQ(open.shape({open.tap_node("aux2")}), (Shape{1024}));
  const Graph v3 = build_graph("inception_v3", {.auxiliary = 1});
  EXPECT_EQ(v3.shape({v3.tap_node("aux1")}), (Shape{768}));
  // Resolving twice changes nothing: model files keep the resolved options.
  const NetworkOptions once = resolve_network_options("googlenet_bvlc", {.classes = 7});
  EXPECT_EQ(once.auxiliary, 1);
  EXPECT_EQ(resolve_network_options("googlenet_bvlc", once).auxiliary, 1);
  EXPECT_EQ(resolve_network_options("googlenet_bvlc", {}).auxiliary, 0);
}

TEST(Networks, HaveTheTapsThatTheirPapersName) {
  for (const char* name : {"alexnet_v1", "alexnet_v2", "alexnet_v2_slim", "vgg16", "vgg16_bn"}) {
    const Graph g = build_graph(name);
    EXPECT_EQ(g.nodes()[static_cast<std::size_t>(g.tap_node("fc7"))].op, Op::linear) << name;
    EXPECT_EQ(g.nodes()[static_cast<std::size_t>(g.tap_node("fc7_relu"))].op, Op::relu) << name;
    EXPECT_EQ(g.tap_node("embedding"), g.tap_node("fc7_relu")) << name;
  }
}

TEST(Networks, TensorFlowsPaddingPutsTheOddPixelAfterTheImage) {
  const Graph g = build_graph("googlenet_slim");
  for (const Node& node : g.nodes()) {
    if (node.name != "Conv2d_1a_7x7.conv") continue;
    // 224 / 2 = 112 positions: 111 * 2 + 7 - 224 = 5 pixels, two before and three after.
    EXPECT_EQ(std::get<ConvOptions>(node.options).padding, Padding(2, 2, 3, 3));
    EXPECT_EQ(node.shape, (Shape{64, 112, 112}));
  }
  EXPECT_EQ(g.shape({g.tap_node("embedding")}), (Shape{1024}));
}

}  // namespace
}  // namespace facebench

#include "facebench/nn/networks.h"

#include <fmt/format.h>

#include <stdexcept>

#include "nn/networks/builders.h"

namespace facebench {
namespace {

constexpr const char* kSphereFace =
    "Liu et al., \"SphereFace: deep hypersphere embedding for face recognition\", CVPR 2017, table "
    "2";
constexpr const char* kAlexNetV2 =
    "Krizhevsky, \"One weird trick for parallelizing convolutional neural networks\", 2014";
constexpr const char* kVgg =
    "Simonyan & Zisserman, \"Very deep convolutional networks for large-scale image recognition\", "
    "ICLR 2015, table 1, D";
constexpr const char* kGoogLeNet =
    "Szegedy et al., \"Going deeper with convolutions\", CVPR 2015, table 1";
constexpr const char* kInceptionV3 =
    "Szegedy et al., \"Rethinking the Inception architecture for computer vision\", CVPR 2016";
constexpr const char* kResNet =
    "He et al., \"Deep residual learning for image recognition\", CVPR 2016, table 1";
constexpr const char* kLightCnn =
    "Wu et al., \"A light CNN for deep face representation with noisy labels\", IEEE TIFS 2018";
constexpr const char* kIResNet =
    "Deng et al., \"ArcFace\", CVPR 2019, section 3.1; insightface's PyTorch networks";

}  // namespace

const Table<NetworkEntry>& networks() {
  static const Table<NetworkEntry> table(
      "network",
      {
          {.name = "alexnet_v1",
           .doc = "AlexNet of 2012: two groups, LRN; fc7 behind its ReLU",
           .source = "Krizhevsky et al., \"ImageNet classification with deep convolutional neural "
                     "networks\", NIPS 2012; Caffe's BVLC prototxt",
           .defaults = {.height = 227, .width = 227, .embedding = 4096},
           .build = build_alexnet_v1},
          {.name = "alexnet_v2",
           .doc = "AlexNet of one column, torchvision's alexnet; fc7 behind its ReLU",
           .source = kAlexNetV2,
           .defaults = {.height = 224, .width = 224, .embedding = 4096},
           .build = build_alexnet_v2},
          {.name = "alexnet_v2_slim",
           .doc = "TensorFlow slim's alexnet_v2: conv4 of 384, no padding at both ends; fc7 behind "
                  "its ReLU",
           .source = kAlexNetV2,
           .defaults = {.height = 224, .width = 224, .embedding = 4096},
           .build = build_alexnet_v2_slim},
          {.name = "vgg16",
           .doc = "13 convolutions of 3x3, two hidden layers, torchvision's; fc7 behind its ReLU",
           .source = kVgg,
           .defaults = {.height = 224, .width = 224, .embedding = 4096},
           .build = build_vgg16},
          {.name = "vgg16_bn",
           .doc = "VGG-16 with batch norm, torchvision's; fc7 behind its ReLU",
           .source = kVgg,
           .defaults = {.height = 224, .width = 224, .embedding = 4096},
           .build = build_vgg16_bn},
          {.name = "googlenet",
           .doc = "Inception-v1 with batch norm and 3x3 for 5x5, torchvision's; pooled features",
           .source = kGoogLeNet,
           .defaults = {.height = 224, .width = 224, .embedding = 1024, .auxiliary = 0},
           .aux_weight = 0.3,
           .build = build_googlenet},
          {.name = "googlenet_bvlc",
           .doc = "GoogLeNet of Caffe's BVLC prototxt: LRN, true 5x5, two auxiliary heads; pooled "
                  "features",
           .source = kGoogLeNet,
           .defaults = {.height = 224, .width = 224, .embedding = 1024, .auxiliary = 1},
           .aux_weight = 0.3,
           .build = build_googlenet_bvlc},
          {.name = "googlenet_slim",
           .doc = "TensorFlow slim's inception_v1: batch norm without scale, 3x3 for 5x5; pooled "
                  "features",
           .source = kGoogLeNet,
           .defaults = {.height = 224, .width = 224, .embedding = 1024},
           .build = build_googlenet_slim},
          {.name = "inception_v3",
           .doc = "factorised convolutions, batch norm, torchvision's; pooled features",
           .source = kInceptionV3,
           .defaults = {.height = 299, .width = 299, .embedding = 2048, .auxiliary = 0},
           .aux_weight = 0.4,
           .build = build_inception_v3},
          {.name = "inception_v3_slim",
           .doc = "TensorFlow slim's inception_v3: batch norm without scale, the auxiliary head; "
                  "pooled features",
           .source = kInceptionV3,
           .defaults = {.height = 299, .width = 299, .embedding = 2048, .auxiliary = 1},
           .aux_weight = 0.4,
           .build = build_inception_v3_slim},
          {.name = "inception_resnet_v1",
           .doc = "residual Inception blocks, then FC and batch norm, as facenet's PyTorch port "
                  "has them; 512 values",
           .source = "Szegedy et al., \"Inception-v4, Inception-ResNet and the impact of residual "
                     "connections on learning\", AAAI 2017, figures 10 to 14",
           .defaults = {.height = 160, .width = 160, .embedding = 512},
           .build = build_inception_resnet_v1},
          {.name = "resnet18",
           .doc = "residual blocks of two 3x3 convolutions, torchvision's; pooled features",
           .source = kResNet,
           .defaults = {.height = 224, .width = 224, .embedding = 512},
           .build = build_resnet18},
          {.name = "resnet50",
           .doc = "residual bottlenecks with the stride in the 3x3, torchvision's; pooled features",
           .source = kResNet,
           .defaults = {.height = 224, .width = 224, .embedding = 2048},
           .build = build_resnet50},
          {.name = "densenet121",
           .doc = "each layer reads all before it, growth 32, torchvision's; pooled features",
           .source =
               "Huang et al., \"Densely connected convolutional networks\", CVPR 2017, table 1",
           .defaults = {.height = 224, .width = 224, .embedding = 1024},
           .build = build_densenet121},
          {.name = "lightcnn9",
           .doc = "nine max-feature-map layers; 256 values",
           .source = kLightCnn,
           .defaults = {.height = 128, .width = 128, .embedding = 256},
           .build = build_lightcnn9},
          {.name = "lightcnn29",
           .doc = "29 max-feature-map layers with 1-2-3-4 residual blocks; 256 values",
           .source = kLightCnn,
           .defaults = {.height = 128, .width = 128, .embedding = 256},
           .build = build_lightcnn29},
          {.name = "centerloss",
           .doc = "1-2-5-3 residual blocks behind unpadded convolutions, PReLU, FC; 512 values",
           .source = "Wen et al., \"A discriminative feature learning approach for deep face "
                     "recognition\", ECCV 2016; the authors' prototxt",
           .defaults = {.height = 112, .width = 96, .embedding = 512},
           .build = build_centerloss},
          {.name = "iresnet18",
           .doc = "improved residual blocks 2-2-2-2, PReLU, FC, batch norm: the usual network of "
                  "CosFace and ArcFace",
           .source = kIResNet,
           .defaults = {.height = 112, .width = 112, .embedding = 512},
           .build = build_iresnet18},
          {.name = "iresnet34",
           .doc = "improved residual blocks 3-4-6-3, PReLU, FC, batch norm: the usual network of "
                  "CosFace and ArcFace",
           .source = kIResNet,
           .defaults = {.height = 112, .width = 112, .embedding = 512},
           .build = build_iresnet34},
          {.name = "iresnet50",
           .doc = "improved residual blocks 3-4-14-3, PReLU, FC, batch norm: the usual network of "
                  "CosFace and ArcFace",
           .source = kIResNet,
           .defaults = {.height = 112, .width = 112, .embedding = 512},
           .build = build_iresnet50},
          {.name = "iresnet100",
           .doc = "improved residual blocks 3-13-30-3, PReLU, FC, batch norm: the usual network of "
                  "CosFace and ArcFace",
           .source = kIResNet,
           .defaults = {.height = 112, .width = 112, .embedding = 512},
           .build = build_iresnet100},
          {.name = "mobilefacenet",
           .doc = "inverted residuals, global depthwise convolution, ReLU6; 128 values",
           .source = "Chen et al., \"MobileFaceNets\", CCBR 2018, table 1; widths and activations "
                     "of widely used weights with twice the expansion of the deepest stage and "
                     "ReLU6 in place of PReLU",
           .defaults = {.height = 112, .width = 112, .embedding = 128},
           .build = build_mobilefacenet},
          {.name = "small4",
           .doc =
               "four stride-2 convolutions 32-64-128-256, BN, PReLU: trains on a CPU in a minute",
           .source = "this project; the depth of SphereFace-4",
           .defaults = {.height = 64, .width = 64, .embedding = 128},
           .scalable = true,
           .build = build_small4},
          {.name = "sphereface4",
           .doc = "four stride-2 convolutions 64-128-256-512, PReLU, FC",
           .source = kSphereFace,
           .defaults = {.height = 112, .width = 96, .embedding = 512},
           .build = build_sphereface4},
          {.name = "sphereface10",
           .doc = "SphereFace-4 with 0-1-2-0 residual blocks",
           .source = kSphereFace,
           .defaults = {.height = 112, .width = 96, .embedding = 512},
           .build = build_sphereface10},
          {.name = "sphereface20",
           .doc = "SphereFace-4 with 1-2-4-1 residual blocks",
           .source = kSphereFace,
           .defaults = {.height = 112, .width = 96, .embedding = 512},
           .build = build_sphereface20},
          {.name = "sphereface36",
           .doc = "SphereFace-4 with 2-4-8-2 residual blocks",
           .source = kSphereFace,
           .defaults = {.height = 112, .width = 96, .embedding = 512},
           .build = build_sphereface36},
          {.name = "sphereface64",
           .doc = "SphereFace-4 with 3-8-16-3 residual blocks",
           .source = kSphereFace,
           .defaults = {.height = 112, .width = 96, .embedding = 512},
           .build = build_sphereface64},
      });
  return table;
}

NetworkOptions resolve_network_options(std::string_view name, const NetworkOptions& options) {
  const NetworkEntry& entry = networks().at(name);
  check_options(options);
  NetworkOptions resolved = options;
  if (resolved.height == 0) resolved.height = entry.defaults.height;
  if (resolved.width == 0) resolved.width = entry.defaults.width;
  if (resolved.embedding == 0) resolved.embedding = entry.defaults.embedding;
  if (!entry.scalable && resolved.channel_multiplier != 1)
    throw std::invalid_argument(fmt::format("network '{}' has no channel_multiplier", name));
  const int heads = entry.defaults.auxiliary;
  if (resolved.auxiliary == 1 && heads < 0)
    throw std::invalid_argument(fmt::format("network '{}' has no auxiliary classifiers", name));
  if (resolved.auxiliary < 0) resolved.auxiliary = resolved.classes > 0 && heads == 1 ? 1 : 0;
  return resolved;
}

Graph build_graph(std::string_view name, const NetworkOptions& options) {
  return networks().at(name).build(resolve_network_options(name, options));
}

Network build_network(std::string_view name, const NetworkOptions& options,
                      std::string_view initializer, std::uint64_t seed) {
  return Network(build_graph(name, options), initializer, seed);
}

}  // namespace facebench

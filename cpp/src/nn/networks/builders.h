#pragma once

#include "facebench/nn/networks.h"

namespace facebench {

// One function a network, each in a file of its family; the table in networks.cc lists them.
Graph build_alexnet_v1(const NetworkOptions& options);
Graph build_alexnet_v2(const NetworkOptions& options);
Graph build_alexnet_v2_slim(const NetworkOptions& options);
Graph build_centerloss(const NetworkOptions& options);
Graph build_densenet121(const NetworkOptions& options);
Graph build_googlenet(const NetworkOptions& options);
Graph build_googlenet_bvlc(const NetworkOptions& options);
Graph build_googlenet_slim(const NetworkOptions& options);
Graph build_inception_resnet_v1(const NetworkOptions& options);
Graph build_inception_v3(const NetworkOptions& options);
Graph build_inception_v3_slim(const NetworkOptions& options);
Graph build_iresnet18(const NetworkOptions& options);
Graph build_iresnet34(const NetworkOptions& options);
Graph build_iresnet50(const NetworkOptions& options);
Graph build_iresnet100(const NetworkOptions& options);
Graph build_lightcnn9(const NetworkOptions& options);
Graph build_lightcnn29(const NetworkOptions& options);
Graph build_mobilefacenet(const NetworkOptions& options);
Graph build_resnet18(const NetworkOptions& options);
Graph build_resnet50(const NetworkOptions& options);
Graph build_small4(const NetworkOptions& options);
Graph build_sphereface4(const NetworkOptions& options);
Graph build_sphereface10(const NetworkOptions& options);
Graph build_sphereface20(const NetworkOptions& options);
Graph build_sphereface36(const NetworkOptions& options);
Graph build_sphereface64(const NetworkOptions& options);
Graph build_vgg16(const NetworkOptions& options);
Graph build_vgg16_bn(const NetworkOptions& options);

}  // namespace facebench

#include "facebench/detection/internal/mtcnn_rules.h"

namespace facebench {
namespace {

MtcnnRules facenet_rules() {
  MtcnnRules r;
  r.power_scales = r.ceil_size = true;
  r.uint8_levels = r.double_crops = true;
  r.zero_pad = r.round_square = true;
  r.plus_one = r.last_of_equal = r.columns_first = true;
  r.mirror_single = true;
  r.double_arithmetic = true;
  return r;
}

MtcnnRules matlab_rules() {
  MtcnnRules r = facenet_rules();
  r.uint8_levels = false;
  r.double_levels = true;
  r.mirror_single = false;
  r.transpose_single = true;
  r.columns_first = false;
  r.centred_growth = true;
  r.mirror_landmarks = true;
  return r;
}

}  // namespace

const Table<MtcnnMode>& mtcnn_modes() {
  static const MtcnnRules facenet_pytorch, facenet = facenet_rules(), matlab = matlab_rules();
  static const Table<MtcnnMode> table(
      "MTCNN mode",
      {{"facenet",
        "as facenet's align/detect_face.py: OpenCV's area filter on 8 bits, zero padding",
        &facenet},
       {"facenet_pytorch", "as facenet-pytorch 2.6: float means, clamped crops, single precision",
        &facenet_pytorch},
       {"matlab", "as the authors' MTCNNv1/detect_face.m: zero padding, landmarks seen twice",
        &matlab}});
  return table;
}

std::array<NmsRule, 4> MtcnnRules::nms(const MtcnnOptions& o) const {
  return {NmsRule{o.nms.at(0), false, plus_one, last_of_equal},
          NmsRule{o.nms.at(1), false, plus_one, last_of_equal},
          NmsRule{o.nms.at(2), false, plus_one, last_of_equal},
          NmsRule{o.nms.at(3), true, plus_one_last, true}};
}

}  // namespace facebench

// dlib's own networks behind functions of C, for dlib_peers.py, which compiles this file: dlib's
// templates take half a minute. The networks are those of dlib's examples
// dnn_face_recognition_ex.cpp and dnn_mmod_face_detection_ex.cpp.
#include <dlib/dnn.h>

#include <algorithm>
#include <vector>

namespace {

using namespace dlib;

template <template <int, template <typename> class, int, typename> class Block, int N,
          template <typename> class Norm, typename Below>
using residual = add_prev1<Block<N, Norm, 1, tag1<Below>>>;
template <template <int, template <typename> class, int, typename> class Block, int N,
          template <typename> class Norm, typename Below>
using residual_down = add_prev2<avg_pool<2, 2, 2, 2, skip1<tag2<Block<N, Norm, 2, tag1<Below>>>>>>;
template <int N, template <typename> class Norm, int Stride, typename Below>
using block = Norm<con<N, 3, 3, 1, 1, relu<Norm<con<N, 3, 3, Stride, Stride, Below>>>>>;
template <int N, typename Below>
using same = relu<residual<block, N, affine, Below>>;
template <int N, typename Below>
using halved = relu<residual_down<block, N, affine, Below>>;
template <typename Below>
using level0 = halved<256, Below>;
template <typename Below>
using level1 = same<256, same<256, halved<256, Below>>>;
template <typename Below>
using level2 = same<128, same<128, halved<128, Below>>>;
template <typename Below>
using level3 = same<64, same<64, same<64, halved<64, Below>>>>;
template <typename Below>
using level4 = same<32, same<32, same<32, Below>>>;
using FaceNetwork = loss_metric<fc_no_bias<
    128, avg_pool_everything<level0<level1<level2<level3<level4<max_pool<
             3, 3, 2, 2, relu<affine<con<32, 7, 7, 2, 2, input_rgb_image_sized<150>>>>>>>>>>>>>;

template <long N, typename Below>
using down = relu<affine<con<N, 5, 5, 2, 2, Below>>>;
template <typename Below>
using wide = relu<affine<con<45, 5, 5, 1, 1, Below>>>;
using Detector = loss_mmod<
    con<1, 9, 9, 1, 1,
        wide<wide<wide<down<32, down<32, down<16, input_rgb_image_pyramid<pyramid_down<6>>>>>>>>>>;

matrix<rgb_pixel> picture(const unsigned char* rgb, long height, long width) {
  matrix<rgb_pixel> result(height, width);
  for (long y = 0; y < height; ++y)
    for (long x = 0; x < width; ++x, rgb += 3) result(y, x) = rgb_pixel(rgb[0], rgb[1], rgb[2]);
  return result;
}

template <class Network>
void* load(const char* file) {
  auto* network = new Network;
  deserialize(file) >> *network;
  return network;
}

}  // namespace

extern "C" {

void* load_face_network(const char* file) { return load<FaceNetwork>(file); }
void* load_detector(const char* file) { return load<Detector>(file); }

// rgb: (count, 150, 150, 3) -> out: (count, 128), 16 at a time as dlib does.
void embed(void* network, const unsigned char* rgb, long count, float* out) {
  std::vector<matrix<rgb_pixel>> crops;
  for (long k = 0; k < count; ++k) crops.push_back(picture(rgb + k * 150 * 150 * 3, 150, 150));
  for (const auto& embedding : (*static_cast<FaceNetwork*>(network))(crops, 16))
    out = std::copy(embedding.begin(), embedding.end(), out);
}

// out: score, left, top, right, bottom of the best faces, at most `room`; returns how many.
long detect(void* network, const unsigned char* rgb, long height, long width, double threshold,
            double* out, long room) {
  auto faces = static_cast<Detector*>(network)->process(picture(rgb, height, width), threshold);
  if (static_cast<long>(faces.size()) > room) faces.resize(room);
  for (const auto& face : faces)
    for (const double value :
         {face.detection_confidence, double(face.rect.left()), double(face.rect.top()),
          double(face.rect.right()), double(face.rect.bottom())})
      *out++ = value;
  return static_cast<long>(faces.size());
}
}

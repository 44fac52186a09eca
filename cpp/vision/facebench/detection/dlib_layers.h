#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace facebench {

// A convolution of a network of dlib's and the batch norm behind it, which dlib stores folded (an
// affine layer) or as it was trained: scale * (convolution + bias) + shift. Where none follows,
// scale is 1 and shift 0.
struct DlibConvolution {
  std::int64_t out, in, height, width;
  std::vector<float> weight;              // (out, in, height, width)
  std::vector<float> bias, scale, shift;  // (out)
};

struct DlibLinear {
  std::int64_t embedding, features;
  std::vector<float> weight;  // (features, embedding)
};

// The layers in the bytes of a network of dlib's, from the input to the output. They are found by
// the names that stand before them, so numbers of another file could be taken for layers: use it
// for a file of known SHA-256 (detection/dlib_models.h). Throws Error with the byte where something
// else stands than a layer of that kind. `where` names the file.
// Source: dlib 19, serialize.h, tensor_abstract.h and layers.h of its dnn folder.
std::vector<DlibConvolution> read_dlib_convolutions(std::string_view bytes, std::string_view where);
// Its one linear layer without a bias.
DlibLinear read_dlib_linear(std::string_view bytes, std::string_view where);

}  // namespace facebench

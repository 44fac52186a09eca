#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace facebench {

// A convolution of dlib's network and the affine layer behind it, which is a folded batch norm:
// scale * (convolution + bias) + shift.
struct DlibConvolution {
  std::int64_t out, in, height, width;
  std::vector<float> weight;              // (out, in, height, width)
  std::vector<float> bias, scale, shift;  // (out)
};

struct DlibLayers {
  std::vector<DlibConvolution> convolutions;  // from the input to the output
  std::int64_t embedding, features;
  std::vector<float> linear;  // (features, embedding)
};

// The layers in the bytes of dlib's face network. They are found by the names that stand before
// them, so numbers of another file could be taken for layers: use it for a file of known SHA-256.
// Throws Error with the byte where something else stands than a layer of that kind. `where` names
// the file.
// Source: dlib 19, serialize.h, tensor_abstract.h and layers.h of its dnn folder.
DlibLayers read_dlib_layers(std::string_view bytes, std::string_view where);

}  // namespace facebench

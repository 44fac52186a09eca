#include "facebench/embedding/pixel_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "facebench/core/isa.h"

namespace facebench {
namespace {

struct Restore {
  Isa before = active_isa();
  ~Restore() { force_isa(before); }
};

struct Setting {
  const char* color;
  std::vector<double> mean, std;
};

// Value by value, as the header states it.
std::vector<float> by_definition(const std::vector<std::uint8_t>& rgb, const ImageShape& shape,
                                 const Setting& s, const PixelInput::Placement& p,
                                 bool interleaved) {
  const bool gray = s.color == std::string("gray");
  const int channels = gray ? 1 : 3, plane = shape.height * shape.width;
  std::vector<float> out(static_cast<std::size_t>(channels) * plane);
  for (int y = 0; y < shape.height; ++y)
    for (int x = 0; x < shape.width; ++x) {
      const int v = std::clamp(y - p.dy, 0, shape.height - 1);
      int u = std::clamp(x - p.dx, 0, shape.width - 1);
      if (p.mirror) u = shape.width - 1 - u;
      const std::uint8_t* pixel = rgb.data() + 3 * (v * shape.width + u);
      for (int c = 0; c < channels; ++c) {
        int value = pixel[s.color == std::string("bgr") ? 2 - c : c];
        if (gray) value = (19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 32768) >> 16;
        const auto at = [c](const std::vector<double>& list) {
          return list.size() == 1 ? list[0] : list[static_cast<std::size_t>(c)];
        };
        const int place = y * shape.width + x;
        out[static_cast<std::size_t>(interleaved ? channels * place + c : c * plane + place)] =
            static_cast<float>((value - at(s.mean)) / at(s.std));
      }
    }
  return out;
}

// Means and deviations that floats compute to the bit by a product, by a quotient, and not at all;
// sizes that are not a multiple of any vector.
TEST(PixelInput, IsTheDefinitionToTheBit) {
  const Restore restore;
  const std::vector<Setting> settings = {
      {"rgb", {127.5}, {128}},
      {"rgb", {127.5}, {127.5}},
      {"bgr", {1, 2, 3}, {2, 4, 8}},
      {"bgr", {103.939, 116.779, 123.68}, {1}},
      {"rgb", {123.675, 116.28, 103.53}, {58.395, 57.12, 57.375}},
      {"gray", {0}, {255}},
      {"gray", {0.1}, {1}},
  };
  const std::vector<PixelInput::Placement> placements = {
      {}, {true, 0, 0}, {false, 2, -1}, {true, -3, 4}, {false, 100, 100}};
  for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512}) {
    if (isa > supported_isa()) continue;
    force_isa(isa);
    for (const ImageShape shape : {ImageShape{7, 5}, ImageShape{4, 1}, ImageShape{3, 67}}) {
      std::vector<std::uint8_t> rgb(static_cast<std::size_t>(shape.bytes()));
      std::uint32_t state = 1;
      for (std::uint8_t& value : rgb)
        value = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
      for (const Setting& s : settings)
        for (const auto& placement : placements)
          for (const bool interleaved : {false, true}) {
            const std::vector<float> wanted = by_definition(rgb, shape, s, placement, interleaved);
            std::vector<float> got(wanted.size() + 1, -777);
            PixelInput(s.color, s.mean, s.std)
                .write(rgb.data(), shape, placement, interleaved, got.data());
            EXPECT_EQ(got.back(), -777);
            got.pop_back();
            EXPECT_EQ(std::memcmp(got.data(), wanted.data(), 4 * wanted.size()), 0)
                << isa_name(isa) << ' ' << s.color << ' ' << s.mean[0] << ' ' << interleaved;
          }
    }
  }
}

}  // namespace
}  // namespace facebench

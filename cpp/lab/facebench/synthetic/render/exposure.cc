#include "facebench/synthetic/render/exposure.h"

#include <algorithm>
#include <array>

#include "facebench/core/random.h"

namespace facebench::synthetic {
namespace {

// Display value, 0 to 255, by linear light in steps of kLightest / kToneSteps.
constexpr int kToneSteps = 4096;
constexpr float kLightest = 1.6f;

const std::array<float, kToneSteps + 1>& tone_curve() {
  static const auto curve = [] {
    std::array<float, kToneSteps + 1> values{};
    for (int i = 0; i <= kToneSteps; ++i) {
      double v = static_cast<double>(kLightest) * i / kToneSteps;
      if (v > .7) v = .7 + .42 * (1 - portable_exp(-(v - .7) / .42));
      values[i] = static_cast<float>(255 * portable_power(std::min(1.0, v), 1 / 2.2));
    }
    return values;
  }();
  return curve;
}

// Three planes of display values.
struct Planes {
  int size;
  std::array<std::vector<float>, 3> value;
};

// Weights of a Gaussian, from the middle to where it no longer matters, of sum 1 over both sides.
std::vector<float> gaussian_weights(double sigma) {
  const int reach = static_cast<int>(std::ceil(3 * sigma));
  std::vector<double> w(reach + 1);
  double sum = 0;
  for (int i = 0; i <= reach; ++i) {
    w[i] = portable_exp(-.5 * i * i / (sigma * sigma));
    sum += i == 0 ? w[i] : 2 * w[i];
  }
  std::vector<float> weights(reach + 1);
  for (int i = 0; i <= reach; ++i) weights[i] = static_cast<float>(w[i] / sum);
  return weights;
}

void blur(std::vector<float>& plane, int size, const std::vector<float>& weights) {
  const int reach = static_cast<int>(weights.size()) - 1;
  std::vector<float> padded(size + 2 * reach), rows(plane.size());
  for (int y = 0; y < size; ++y) {
    const float* in = &plane[static_cast<std::size_t>(y) * size];
    float* out = &rows[static_cast<std::size_t>(y) * size];
    for (int x = -reach; x < size + reach; ++x) padded[x + reach] = in[std::clamp(x, 0, size - 1)];
    const float* middle = padded.data() + reach;
    for (int x = 0; x < size; ++x) out[x] = middle[x] * weights[0];
    for (int k = 1; k <= reach; ++k)
      for (int x = 0; x < size; ++x) out[x] += (middle[x - k] + middle[x + k]) * weights[k];
  }
  for (int y = 0; y < size; ++y) {
    float* out = &plane[static_cast<std::size_t>(y) * size];
    const float* in = &rows[static_cast<std::size_t>(y) * size];
    for (int x = 0; x < size; ++x) out[x] = in[x] * weights[0];
    for (int k = 1; k <= reach; ++k) {
      const float* above = &rows[static_cast<std::size_t>(std::max(0, y - k)) * size];
      const float* below = &rows[static_cast<std::size_t>(std::min(size - 1, y + k)) * size];
      for (int x = 0; x < size; ++x) out[x] += (above[x] + below[x]) * weights[k];
    }
  }
}

// Shrinks to `small` pixels by areas and grows back by lines between pixel centres.
void lose_resolution(std::vector<float>& plane, int size, int small) {
  const auto axis = [size, small](auto&& read, auto&& write) {
    std::vector<double> cells(small);
    const double ratio = static_cast<double>(size) / small;
    for (int i = 0; i < small; ++i) {
      const double from = i * ratio, to = (i + 1) * ratio;
      double sum = 0;
      for (int x = static_cast<int>(from); x < size && x < to; ++x)
        sum += read(x) * (std::min(to, x + 1.0) - std::max(from, static_cast<double>(x)));
      cells[i] = sum / ratio;
    }
    for (int x = 0; x < size; ++x) {
      const double at = std::clamp((x + .5) / ratio - .5, 0.0, small - 1.0);
      const int i = static_cast<int>(at), next = std::min(small - 1, i + 1);
      write(x, static_cast<float>(cells[i] + (cells[next] - cells[i]) * (at - i)));
    }
  };
  for (int k = 0; k < size; ++k) {
    float* row = &plane[static_cast<std::size_t>(k) * size];
    axis([&](int x) { return row[x]; }, [&](int x, float v) { row[x] = v; });
  }
  for (int k = 0; k < size; ++k)
    axis([&](int y) { return plane[static_cast<std::size_t>(y) * size + k]; },
         [&](int y, float v) { plane[static_cast<std::size_t>(y) * size + k] = v; });
}

// Nearly normal: the sum of the four bytes of a random word, of standard deviation 147.8.
float noise_of(std::uint32_t word) {
  const auto sum = (word & 255) + ((word >> 8) & 255) + ((word >> 16) & 255) + (word >> 24);
  return (static_cast<float>(sum) - 510.f) * (1 / 147.8f);
}

}  // namespace

Image expose(const std::vector<Vec3>& light, int size, const FaceNuisance& nuisance) {
  const auto& curve = tone_curve();
  const std::size_t n = light.size();
  Planes planes{size, {}};
  for (auto& plane : planes.value) plane.resize(n);
  const float scale = static_cast<float>(nuisance.exposure) * (kToneSteps / kLightest);
  const auto tone = [&](float v) {
    return curve[static_cast<int>(clamp(v * scale, 0, static_cast<float>(kToneSteps)))];
  };
  for (std::size_t i = 0; i < n; ++i) {
    planes.value[0][i] = tone(light[i].x);
    planes.value[1][i] = tone(light[i].y);
    planes.value[2][i] = tone(light[i].z);
  }

  const int small = std::max(2, static_cast<int>(std::lround(size * nuisance.resolution)));
  // Blur is stated for 160 pixels, so that a larger picture of the same scene is as blurred.
  const double sigma = nuisance.blur * size / 160;
  const std::vector<float> weights = sigma > .05 ? gaussian_weights(sigma) : std::vector<float>{};
  for (auto& plane : planes.value) {
    if (small < size) lose_resolution(plane, size, small);
    if (!weights.empty()) blur(plane, size, weights);
  }

  Image image(size, size, ColorOrder::rgb);
  Random random(static_cast<std::uint64_t>(nuisance.noise_seed), "synthetic.noise");
  const float strength = static_cast<float>(nuisance.noise);
  for (std::size_t i = 0; i < n; ++i)
    for (int c = 0; c < 3; ++c) {
      const float v = planes.value[c][i] + strength * noise_of(random.next_u32());
      image.data[3 * i + c] = static_cast<std::uint8_t>(clamp(v + .5f, 0, 255));
    }
  return image;
}

}  // namespace facebench::synthetic

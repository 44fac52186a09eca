#include "facebench/synthetic/render/background.h"

#include <algorithm>
#include <numbers>

#include "facebench/core/random.h"
#include "facebench/synthetic/render/noise.h"

namespace facebench::synthetic {
namespace {

// The picture is made at this many pixels a cell and grown by interpolation, which also blurs it.
constexpr int kCell = 2;

class Backdrop {
 public:
  Backdrop(int cells, std::uint32_t seed)
      : cells_(cells),
        random_(seed, "synthetic.background"),
        noise_(seed),
        colors_(static_cast<std::size_t>(cells) * cells) {
    saturation_ = real(0, .7);
    gradient();
    for (std::uint64_t k = random_.below(14); k > 0; --k) shape();
  }
  const std::vector<Vec3>& colors() const { return colors_; }

 private:
  float real(double low, double high) { return static_cast<float>(random_.uniform(low, high)); }

  Vec3 color() {
    const Vec3 c = {real(0, 1), real(0, 1), real(0, 1)};
    const float grey = (c.x + c.y + c.z) * (1.f / 3);
    const Vec3 muted = mix(Vec3{grey, grey, grey}, c, saturation_);
    return muted * muted * .9f;
  }

  void gradient() {
    const Vec3 a = color(), b = color();
    const float steep = real(.1, .9) * 1.6f;
    const double angle = random_.uniform(0, 2 * std::numbers::pi);
    const float gx = static_cast<float>(portable_cos(angle)) * steep,
                gy = static_cast<float>(portable_sin(angle)) * steep;
    const float strength = real(.1, .5), frequency = real(2, 8);
    const float step = 1.f / static_cast<float>(cells_);
    for (int y = 0; y < cells_; ++y)
      for (int x = 0; x < cells_; ++x) {
        const float u = static_cast<float>(x) * step, v = static_cast<float>(y) * step;
        const Vec3 c = mix(a, b, clamp(.5f + (u - .5f) * gx + (v - .5f) * gy, 0, 1));
        const float fx = u * frequency, fy = v * frequency;
        const float clouds = noise_(fx, fy) + .5f * noise_(fx * 2.3f + 31, fy * 2.3f) +
                             .3f * noise_(fx * 6 + 67, fy * 6);
        colors_[static_cast<std::size_t>(y) * cells_ + x] =
            c * clamp(1 + strength * clouds, .1f, 2.f);
      }
  }

  // An ellipse or a rectangle, turned a little.
  void shape() {
    const float cx = real(0, 1), cy = real(0, 1), rx = real(.03, .28), ry = real(.03, .33);
    const double angle = random_.uniform(-.3, .3);
    const bool ellipse = random_.uniform() < .4;
    const Vec3 c = color();
    const float cosine = static_cast<float>(portable_cos(angle)),
                sine = static_cast<float>(portable_sin(angle));
    const float reach = (rx + ry) * 1.1f, step = 1.f / static_cast<float>(cells_);
    const auto cell = [&](float v) {
      return std::clamp(static_cast<int>(v * static_cast<float>(cells_)), 0, cells_);
    };
    for (int y = cell(cy - reach); y < cell(cy + reach); ++y)
      for (int x = cell(cx - reach); x < cell(cx + reach); ++x) {
        const float dx = static_cast<float>(x) * step - cx, dy = static_cast<float>(y) * step - cy;
        const float p = (dx * cosine + dy * sine) / rx, q = (dy * cosine - dx * sine) / ry;
        const float d = ellipse ? p * p + q * q : std::max(absolute(p), absolute(q));
        if (d >= 1.08f) continue;
        Vec3& below = colors_[static_cast<std::size_t>(y) * cells_ + x];
        below = mix(below, c * (1 + .15f * q), .9f * smoothstep(1.08f, .95f, d));
      }
  }

  int cells_;
  Random random_;
  NoiseField noise_;
  std::vector<Vec3> colors_;
  float saturation_ = 0;
};

}  // namespace

std::vector<Vec3> make_background(int size, std::uint32_t seed) {
  const int cells = (size + kCell - 1) / kCell + 1;
  const Backdrop backdrop(cells, seed);
  const auto& grid = backdrop.colors();
  std::vector<Vec3> picture(static_cast<std::size_t>(size) * size);
  for (int y = 0; y < size; ++y) {
    const float fy = static_cast<float>(y % kCell) / kCell;
    const Vec3* row = &grid[static_cast<std::size_t>(y / kCell) * cells];
    for (int x = 0; x < size; ++x) {
      const float fx = static_cast<float>(x % kCell) / kCell;
      const Vec3* at = row + x / kCell;
      picture[static_cast<std::size_t>(y) * size + x] =
          mix(mix(at[0], at[1], fx), mix(at[cells], at[cells + 1], fx), fy);
    }
  }
  return picture;
}

}  // namespace facebench::synthetic

#include "facebench/synthetic/render.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "facebench/synthetic/render/background.h"
#include "facebench/synthetic/render/exposure.h"
#include "facebench/synthetic/render/lighting.h"
#include "facebench/synthetic/render/surface.h"

namespace facebench {
namespace synthetic {
namespace {

constexpr std::size_t kMaxLayers = 6;
// With this little light left, layers further back are invisible.
constexpr float kOpaque = .02f;

struct Layer {
  std::unique_ptr<Surface> surface;
  Visibility visibility;
};

// The layers that one sample (or one whole pixel) shows, the nearest first. Only the first `count`
// are set: clearing the rest, for every sample of every pixel, would cost more than filling them.
struct Stack {
  std::array<const Layer*, kMaxLayers> layer;
  std::array<float, kMaxLayers> depth;
  int count;

  void add(const Layer& l, float d) {
    int i = count++;
    for (; i > 0 && depth[i - 1] < d; --i) {
      depth[i] = depth[i - 1];
      layer[i] = layer[i - 1];
    }
    depth[i] = d;
    layer[i] = &l;
  }
  bool same_order(const Stack& other) const {
    return count == other.count &&
           std::equal(layer.begin(), layer.begin() + count, other.layer.begin());
  }
};

// Puts the layers of a pixel together over its background.
class Compositor {
 public:
  Compositor(std::span<const Layer> layers, const Lighting& lighting, int samples)
      : layers_(layers), lighting_(lighting), samples_(samples) {}

  Vec3 pixel(int x, int y, Vec3 background) const {
    const int x0 = x * samples_, y0 = y * samples_;
    std::array<Stack, 16> stacks;
    bool any = false, alike = true;
    for (int k = 0; k < samples_ * samples_; ++k) {
      fill_stack(stacks[k], x0 + k % samples_, y0 + k / samples_);
      any = any || stacks[k].count > 0;
      alike = alike && stacks[k].same_order(stacks[0]);
    }
    if (!any) return background;
    if (alike) {
      const float half = .5f * static_cast<float>(samples_);
      Vec3 color = background;
      if (composite(stacks[0], x0, y0, static_cast<float>(x0) + half, static_cast<float>(y0) + half,
                    samples_ > 1, color))
        return color;
    }
    Vec3 sum{};
    for (int k = 0; k < samples_ * samples_; ++k) {
      const int sx = x0 + k % samples_, sy = y0 + k / samples_;
      Vec3 color = background;
      composite(stacks[k], sx, sy, static_cast<float>(sx) + .5f, static_cast<float>(sy) + .5f,
                false, color);
      sum = sum + color;
    }
    return sum * (1.f / static_cast<float>(samples_ * samples_));
  }

 private:
  void fill_stack(Stack& s, int x, int y) const {
    s.count = 0;
    for (const Layer& layer : layers_)
      if (layer.visibility.covers(x, y)) s.add(layer, layer.visibility.depth(x, y));
  }

  // Lays the stack of sample (x, y), looked up at (px, py), over `color`. With `stop_at_detail`,
  // returns false where a visible layer needs each sample shaded.
  bool composite(const Stack& s, int x, int y, float px, float py, bool stop_at_detail,
                 Vec3& color) const {
    Vec3 sum{};
    float through = 1;
    for (int i = 0; i < s.count && through > kOpaque; ++i) {
      const Surface& surface = *s.layer[i]->surface;
      const Fragment at = s.layer[i]->visibility.fragment(surface.mesh, x, y, px, py);
      if (stop_at_detail && surface.detailed(at)) return false;
      const Material m = surface.shade(at);
      if (m.alpha <= .004f) continue;
      sum = sum + lighting_.shade(m, at) * (through * m.alpha);
      through *= 1 - m.alpha;
    }
    color = sum + color * through;
    return true;
  }

  std::span<const Layer> layers_;
  const Lighting& lighting_;
  int samples_;
};

struct Cameras {
  Camera head, body;
};

// The body follows the head by about a third.
Cameras make_cameras(const FaceNuisance& n, int size, int samples) {
  const float side = static_cast<float>(size * samples);
  const float scale = static_cast<float>(n.face_size) * side;
  const float x = static_cast<float>(n.center_x) * side, y = static_cast<float>(n.center_y) * side;
  return {Camera(n.yaw, n.pitch, n.roll, scale, x, y, {0, .45f, -.25f}),
          Camera(n.yaw * .35, 0, n.roll * .3, scale, x, y, {0, 1.2f, -.45f})};
}

std::vector<Layer> make_layers(const FaceShape& face, const FaceNuisance& n, const Cameras& cameras,
                               Vec3 lamp, int size, int samples) {
  const auto seed = static_cast<std::uint32_t>(n.disguise_seed);
  std::vector<Layer> layers;
  const auto add = [&](std::unique_ptr<Surface> surface, const Camera& camera) {
    Layer layer{std::move(surface), {}};
    camera.project(layer.surface->mesh);
    layer.visibility.draw(layer.surface->mesh, size * samples, size * samples,
                          layer.surface->one_sided);
    layers.push_back(std::move(layer));
  };
  add(make_skin(face, size, lamp), cameras.head);
  add(make_hair(face, size), cameras.head);
  add(make_body(face, size, static_cast<std::uint32_t>(n.background_seed)), cameras.body);
  switch (face.disguise) {
    case Disguise::none:
      break;
    case Disguise::glasses:
    case Disguise::sunglasses:
      add(make_glasses(face, size, seed, face.disguise == Disguise::sunglasses), cameras.head);
      break;
    case Disguise::mask:
      add(make_mask(face, size, seed), cameras.head);
      break;
    case Disguise::scarf:
      add(make_scarf(face, size, seed), cameras.head);
      break;
    case Disguise::hat:
      add(make_hat(face, size, seed), cameras.head);
      break;
  }
  return layers;
}

Landmarks true_landmarks(const FaceShape& f, const Camera& camera, float samples) {
  const float corner = f.mouth_line(f.mouth_width);
  const std::array<Point, 5> on_face = {{{-f.eye_x, f.eye_y},
                                         {f.eye_x, f.eye_y},
                                         {0, f.nose_length - .04f},
                                         {-f.mouth_width, corner},
                                         {f.mouth_width, corner}}};
  Landmarks landmarks;
  for (std::size_t i = 0; i < on_face.size(); ++i) {
    const auto [x, y] = on_face[i];
    float sx = 0, sy = 0, depth = 0;
    camera.project({x, y, front_depth(f, x, y)}, sx, sy, depth);
    // Sample positions count from the corner of a pixel, ours from its centre.
    landmarks[i] = {sx / samples - .5f, sy / samples - .5f};
  }
  return landmarks;
}

Box true_box(const Mesh& head, float samples) {
  Box box{1e9f, 1e9f, -1e9f, -1e9f};
  for (const Vertex& v : head.vertices) {
    if (absolute(v.azimuth) >= 1.45f || v.y <= -.80f) continue;
    box.x0 = std::min(box.x0, v.screen_x);
    box.y0 = std::min(box.y0, v.screen_y);
    box.x1 = std::max(box.x1, v.screen_x);
    box.y1 = std::max(box.y1, v.screen_y);
  }
  return {box.x0 / samples - .5f, box.y0 / samples - .5f, box.x1 / samples - .5f,
          box.y1 / samples - .5f};
}

}  // namespace
}  // namespace synthetic

SyntheticFace render_face(const FaceIdentity& identity, const FaceNuisance& nuisance, int size,
                          int supersampling) {
  using namespace synthetic;
  if (size < 32 || size > 2048)
    throw std::invalid_argument("render_face: size must lie in [32, 2048]");
  if (supersampling < 1 || supersampling > 4)
    throw std::invalid_argument("render_face: supersampling must lie in [1, 4]");
  check_options(nuisance);

  const FaceShape face = make_shape(identity, nuisance);
  const Lighting lighting(nuisance);
  const Cameras cameras = make_cameras(nuisance, size, supersampling);
  const std::vector<Layer> layers =
      make_layers(face, nuisance, cameras, lighting.direction(), size, supersampling);

  std::vector<Vec3> light =
      make_background(size, static_cast<std::uint32_t>(nuisance.background_seed));
  const Compositor compositor(layers, lighting, supersampling);
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x) {
      Vec3& pixel = light[static_cast<std::size_t>(y) * size + x];
      pixel = compositor.pixel(x, y, pixel);
    }

  const float samples = static_cast<float>(supersampling);
  SyntheticFace result;
  result.image = expose(light, size, nuisance);
  result.box = true_box(layers[0].surface->mesh, samples);
  result.landmarks = true_landmarks(face, cameras.head, samples);
  result.yaw = nuisance.yaw;
  result.quality = quality_score(nuisance);
  result.age_group = age_group_of(nuisance);
  result.disguise = face.disguise;
  return result;
}

}  // namespace facebench

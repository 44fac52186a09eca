#include "facebench/synthetic/render/mesh.h"

#include <algorithm>
#include <numbers>

namespace facebench::synthetic {
namespace {

constexpr float kCameraDistance = 9;

float signed_power(double s, double exponent) {
  const double r = portable_power(std::abs(s), exponent);
  return static_cast<float>(s < 0 ? -r : r);
}

std::array<float, 9> product(const std::array<float, 9>& a, const std::array<float, 9>& b) {
  std::array<float, 9> c{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) c[i * 3 + j] += a[i * 3 + k] * b[k * 3 + j];
  return c;
}

}  // namespace

void Mesh::compute_normals() {
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i) {
      const Vec3 across =
          at(j, std::min(columns - 1, i + 1)).position - at(j, std::max(0, i - 1)).position;
      const Vec3 down =
          at(std::min(rows - 1, j + 1), i).position - at(std::max(0, j - 1), i).position;
      at(j, i).normal = normalized(cross(across, down));
    }
}

std::vector<AzimuthColumn> azimuth_columns(int count, double reach, bool crowded_front) {
  std::vector<AzimuthColumn> columns(count);
  for (int i = 0; i < count; ++i) {
    const double u = 2.0 * i / (count - 1) - 1;
    const double t = reach * (crowded_front ? .55 * u + .45 * u * u * u : u);
    columns[i] = {static_cast<float>(t), signed_power(portable_sin(t), .86),
                  signed_power(portable_cos(t), .86)};
  }
  return columns;
}

Camera::Camera(double yaw, double pitch, double roll, float scale, float x, float y, Vec3 pivot)
    : scale_(scale), x_(x), y_(y), pivot_(pivot) {
  constexpr double radians = std::numbers::pi / 180;
  const auto c = [](double a) { return static_cast<float>(portable_cos(a * radians)); };
  const auto s = [](double a) { return static_cast<float>(portable_sin(a * radians)); };
  const std::array<float, 9> turn = {c(yaw), 0, s(yaw), 0, 1, 0, -s(yaw), 0, c(yaw)};
  const std::array<float, 9> nod = {1, 0, 0, 0, c(pitch), -s(pitch), 0, s(pitch), c(pitch)};
  const std::array<float, 9> tilt = {c(roll), -s(roll), 0, s(roll), c(roll), 0, 0, 0, 1};
  rotation_ = product(tilt, product(nod, turn));
}

Vec3 Camera::turn(Vec3 p) const {
  const auto& r = rotation_;
  return {r[0] * p.x + r[1] * p.y + r[2] * p.z, r[3] * p.x + r[4] * p.y + r[5] * p.z,
          r[6] * p.x + r[7] * p.y + r[8] * p.z};
}

void Camera::project(Vec3 position, float& screen_x, float& screen_y, float& depth) const {
  const Vec3 q = turn(position - pivot_) + pivot_;
  const float w = kCameraDistance / (kCameraDistance - q.z);
  screen_x = x_ + scale_ * q.x * w;
  screen_y = y_ + scale_ * q.y * w;
  depth = q.z;
}

void Camera::project(Mesh& mesh) const {
  for (Vertex& v : mesh.vertices) {
    project(v.position, v.screen_x, v.screen_y, v.depth);
    v.normal = turn(v.normal);
  }
}

}  // namespace facebench::synthetic

#include "facebench/synthetic/render/head.h"

#include <algorithm>
#include <numbers>
#include <vector>

#include "facebench/synthetic/render/relief.h"
#include "facebench/synthetic/render/surface.h"

namespace facebench::synthetic {
namespace {

// Mean over (2 r + 1) columns, then rows, the edges repeated.
void box_blur(std::vector<float>& values, int columns, int rows, int r) {
  std::vector<float> across(values.size());
  const float scale = 1.f / static_cast<float>(2 * r + 1);
  for (int j = 0; j < rows; ++j) {
    const float* row = &values[static_cast<std::size_t>(j) * columns];
    float sum = 0;
    for (int i = -r; i <= r; ++i) sum += row[std::clamp(i, 0, columns - 1)];
    for (int i = 0; i < columns; ++i) {
      across[j * columns + i] = sum * scale;
      sum += row[std::min(columns - 1, i + r + 1)] - row[std::max(0, i - r)];
    }
  }
  std::vector<float> sum(columns, 0.f);
  const auto row = [&](int j) { return &across[std::clamp(j, 0, rows - 1) * columns]; };
  for (int j = -r; j <= r; ++j)
    for (int i = 0; i < columns; ++i) sum[i] += row(j)[i];
  for (int j = 0; j < rows; ++j) {
    const float *in = row(j + r + 1), *out = row(j - r);
    for (int i = 0; i < columns; ++i) {
      values[j * columns + i] = sum[i] * scale;
      sum[i] += in[i] - out[i];
    }
  }
}

}  // namespace

int mesh_rows(int size) { return std::clamp(size * 6 / 10, 49, 193) | 1; }

Mesh build_head(const FaceShape& f, int size) {
  const int rows = mesh_rows(size), columns = rows;
  Mesh mesh(columns, rows);
  const auto around = azimuth_columns(columns, std::numbers::pi, true);
  std::vector<float> relief(static_cast<std::size_t>(rows) * columns), fine(relief.size());
  // The relief fades towards the ears; behind them there is none.
  constexpr float relief_end = 1.5f;
  int first = 0;
  while (around[first].azimuth < -relief_end) ++first;
  const int count = columns - 2 * first;
  std::vector<float> fade(count), x(count);
  for (int i = 0; i < count; ++i)
    fade[i] = smoothstep(relief_end, .95f, absolute(around[first + i].azimuth));

  const float y0 = -f.top, y1 = f.chin + .03f;
  const float ear_size = .13f + .03f * f.trait(FaceTrait::ears);
  for (int j = 0; j < rows; ++j) {
    const float y = y0 + (y1 - y0) * static_cast<float>(j) / static_cast<float>(rows - 1);
    const float w = f.half_width(y), front = f.front(y), back = f.back(y);
    const float middle = .5f * (front + back), half = .5f * (front - back);
    for (int i = 0; i < count; ++i) x[i] = w * around[first + i].across;
    float* relief_here = &relief[static_cast<std::size_t>(j) * columns + first];
    float* fine_here = &fine[static_cast<std::size_t>(j) * columns + first];
    relief_row(f, y, x, {relief_here, x.size()}, {fine_here, x.size()});
    for (int i = 0; i < count; ++i) relief_here[i] *= fade[i];
    for (int i = 0; i < columns; ++i) {
      Vertex& v = mesh.at(j, i);
      const float t = around[i].azimuth, at = absolute(t);
      v.x = w * around[i].across;
      v.y = y;
      v.azimuth = t;
      const std::size_t k = static_cast<std::size_t>(j) * columns + i;
      v.position = {v.x, y, middle + half * around[i].along + relief[k] + fine[k]};
      const float ear = bump(at - 1.62f, y - .18f - .1f * (at - 1.62f), .10f,
                             .20f + .03f * f.trait(FaceTrait::ears)) *
                        ear_size;
      v.position.x += t > 0 ? ear : -ear;
    }
  }

  // Hollows get less of the ambient light: the relief against its own blur, the radius a constant
  // share of the face.
  std::vector<float> smooth = relief;
  const int radius = std::max(1, rows / 16);
  box_blur(smooth, columns, rows, radius);
  box_blur(smooth, columns, rows, radius);
  for (std::size_t k = 0; k < relief.size(); ++k) {
    const float hollow = relief[k] - smooth[k] + .006f;
    mesh.vertices[k].occlusion = clamp(
        1 + 5.f * std::min(0.f, hollow) + 1.2f * std::max(0.f, hollow) + 7 * fine[k], .30f, 1.15f);
  }
  mesh.compute_normals();
  return mesh;
}

float front_depth(const FaceShape& f, float x, float y) {
  const float w = f.half_width(y), front = f.front(y), back = f.back(y);
  const double side = portable_power(std::min(1.0, std::abs(static_cast<double>(x)) / w), 1 / .86);
  const double along = portable_power(std::sqrt(std::max(0.0, 1 - side * side)), .86);
  float relief = 0, fine = 0;
  relief_row(f, y, {&x, 1}, {&relief, 1}, {&fine, 1});
  return .5f * (front + back) + .5f * (front - back) * static_cast<float>(along) + relief;
}

}  // namespace facebench::synthetic

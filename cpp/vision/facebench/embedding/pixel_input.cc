#include "facebench/embedding/pixel_input.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "facebench/core/internal/kernel_choice.h"
#include "facebench/embedding/internal/pixel_kernels.h"
#include "facebench/images/image.h"

namespace facebench {
namespace {

double of_channel(const std::vector<double>& values, std::size_t c) {
  return values[values.size() == 1 ? 0 : c];
}

const PixelKernels& kernels() { return FACEBENCH_KERNELS(active_isa(), kPixelKernels); }

// The pixels of a row in the order in which they are seen: mirrored, moved, their edge repeated.
void place_row(const std::uint8_t* row, int width, const PixelInput::Placement& placement,
               std::uint8_t* out) {
  for (int x = 0; x < width; ++x) {
    int from = std::clamp(x - placement.dx, 0, width - 1);
    if (placement.mirror) from = width - 1 - from;
    // Four bytes are moved faster than three; the next pixel is written over the fourth.
    std::memcpy(out + 3 * x, row + 3 * from, from + 1 < width ? 4 : 3);
  }
}

}  // namespace

PixelInput::PixelInput(std::string_view color, const std::vector<double>& mean,
                       const std::vector<double>& std) {
  const ColorOrder order = parse_color_order(color);
  gray_ = order == ColorOrder::gray;
  if (order == ColorOrder::bgr) from_ = {2, 1, 0};
  const auto count = static_cast<std::size_t>(channels());
  for (const std::vector<double>* list : {&mean, &std})
    if (list->size() != 1 && list->size() != count)
      throw std::invalid_argument("mean and std need one number, or one for each channel");
  for (std::size_t c = 0; c < count; ++c) {
    mean_[c] = of_channel(mean, c);
    std_[c] = of_channel(std, c);
    for (std::size_t v = 0; v < 256; ++v)
      table_[c][v] = static_cast<float>((static_cast<double>(v) - mean_[c]) / std_[c]);
  }
  choose_way();
}

// Float arithmetic is faster than the table, and rounds as it does for most means and deviations:
// those that are floats, and whose difference to a byte is one.
void PixelInput::choose_way() {
  const auto count = static_cast<std::size_t>(channels());
  for (std::size_t p = 0; p <= count; ++p)
    for (std::size_t k = 0; k < PixelKernels::period; ++k)
      patterns_[p].mean[k] = static_cast<float>(mean_[p < count ? p : k % count]);
  for (const Way way : {Way::multiply, Way::divide}) {
    for (std::size_t p = 0; p <= count; ++p)
      for (std::size_t k = 0; k < PixelKernels::period; ++k) {
        const double std = std_[p < count ? p : k % count];
        patterns_[p].factor[k] = static_cast<float>(way == Way::multiply ? 1 / std : std);
      }
    std::array<std::uint8_t, 256> all{};
    std::array<float, 256> got{};
    for (std::size_t v = 0; v < 256; ++v) all[v] = static_cast<std::uint8_t>(v);
    way_ = way;
    bool same = true;
    for (std::size_t c = 0; c < count && same; ++c) {
      scale(all.data(), 256, static_cast<int>(c), got.data());
      same = got == table_[c];
    }
    if (same) return;
  }
  way_ = Way::table;
}

void PixelInput::scale(const std::uint8_t* bytes, std::int64_t count, int c, float* out) const {
  const auto p = static_cast<std::size_t>(c);
  if (way_ == Way::table) {
    const auto turns = static_cast<std::size_t>(channels());
    for (std::int64_t i = 0; i < count; ++i)
      out[i] = table_[p < turns ? p : static_cast<std::size_t>(i) % turns][bytes[i]];
    return;
  }
  const Pattern& pattern = patterns_[p];
  const PixelKernels& k = kernels();
  (way_ == Way::multiply ? k.multiply : k.divide)(bytes, count, pattern.mean.data(),
                                                  pattern.factor.data(), out);
}

float PixelInput::channel(const float* rgb, int c) const {
  const auto i = static_cast<std::size_t>(c);
  const double value = gray_ ? luma_sum<double>(rgb[0], rgb[1], rgb[2]) / 65536 : rgb[from_[i]];
  return static_cast<float>((value - mean_[i]) / std_[i]);
}

void PixelInput::write(const std::uint8_t* rgb, const ImageShape& shape, const Placement& placement,
                       bool interleaved, float* out) const {
  const int height = shape.height, width = shape.width, count = channels();
  const std::int64_t plane = std::int64_t{height} * width;
  const bool placed = placement != Placement{}, swapped = from_[0] == 2;
  if (!placed && !swapped && !gray_ && interleaved) return scale(rgb, 3 * plane, count, out);
  // A row as it is seen; the same in the channels' order, or channel by channel.
  std::vector<std::uint8_t> seen(3 * static_cast<std::size_t>(width) + 1), ordered(seen.size());
  for (int y = 0; y < height; ++y) {
    const int from_y = std::clamp(y - placement.dy, 0, height - 1);
    const std::uint8_t* row = rgb + std::int64_t{3} * from_y * width;
    const std::int64_t at = std::int64_t{y} * width;
    if (placed) {
      place_row(row, width, placement, seen.data());
      row = seen.data();
    }
    if (gray_) {  // in 16-bit fixed point, as convert_color
      for (int x = 0; x < width; ++x)
        ordered[static_cast<std::size_t>(x)] = static_cast<std::uint8_t>(
            (luma_sum(row[3 * x], row[3 * x + 1], row[3 * x + 2]) + 32768) >> 16);
      scale(ordered.data(), width, 0, out + at);
    } else if (interleaved) {
      if (swapped) {
        for (int x = 0; x < 3 * width; x += 3)
          for (int c = 0; c < 3; ++c) ordered[static_cast<std::size_t>(x + c)] = row[x + 2 - c];
        row = ordered.data();
      }
      scale(row, std::int64_t{3} * width, count, out + 3 * at);
    } else {
      kernels().separate(row, width, width, ordered.data());
      for (int c = 0; c < 3; ++c)
        scale(ordered.data() + std::int64_t{from_[static_cast<std::size_t>(c)]} * width, width, c,
              out + c * plane + at);
    }
  }
}

void PixelInput::write(const float* rgb, const ImageShape& shape, const Placement& placement,
                       bool interleaved, float* out) const {
  const int height = shape.height, width = shape.width, count = channels();
  const std::int64_t plane = std::int64_t{height} * width;
  for (int y = 0; y < height; ++y) {
    const int from_y = std::clamp(y - placement.dy, 0, height - 1);
    const float* row = rgb + std::int64_t{3} * from_y * width;
    for (int x = 0; x < width; ++x) {
      int from_x = std::clamp(x - placement.dx, 0, width - 1);
      if (placement.mirror) from_x = width - 1 - from_x;
      const std::int64_t at = std::int64_t{y} * width + x;
      for (int c = 0; c < count; ++c)
        out[interleaved ? count * at + c : c * plane + at] = channel(row + 3 * from_x, c);
    }
  }
}

}  // namespace facebench

#include "facebench/embedding/internal/dlib_layers.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "facebench/core/error.h"

namespace facebench {
namespace {

static_assert(std::endian::native == std::endian::little);  // as the numbers of a file are

class Cursor {
 public:
  Cursor(std::string_view bytes, std::string_view where) : bytes_(bytes), where_(where) {}

  // Behind the next layer that names itself so; false where none follows.
  bool find(std::string_view name) {
    const std::string named =
        std::string("\1") + static_cast<char>(name.size()) + std::string(name);
    const std::size_t found = bytes_.find(named, at_);
    if (found == std::string_view::npos) return false;
    at_ = found + named.size();
    return true;
  }

  // A byte that says how many follow, its high bit the sign; then those, the lowest first.
  std::int64_t integer() {
    const auto control = static_cast<std::uint8_t>(take(1).front());
    const std::size_t count = control & 0x0f;
    if (count < 1 || count > 8) refuse("an integer has 1 to 8 bytes");
    std::uint64_t value = 0;
    const std::string_view digits = take(count);
    for (std::size_t k = 0; k < count; ++k)
      value |= std::uint64_t{static_cast<std::uint8_t>(digits[k])} << (8 * k);
    if (value > (1u << 30)) refuse("an integer is too large");
    return control & 0x80 ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  }

  // Version 2, four sizes, the numbers.
  std::vector<float> tensor() {
    if (integer() != 2) refuse("expected a tensor of version 2");
    std::size_t numbers = 1;
    for (int k = 0; k < 4; ++k) {
      const std::int64_t size = integer();
      if (size < 1 || numbers * static_cast<std::size_t>(size) > bytes_.size())
        refuse("a tensor is larger than the file, or empty");
      numbers *= static_cast<std::size_t>(size);
    }
    std::vector<float> result(numbers);
    std::memcpy(result.data(), take(4 * numbers).data(), 4 * numbers);
    return result;
  }

  [[noreturn]] void refuse(std::string_view what) const {
    fail(at_byte(where_, at_), what, "Take dlib_face_recognition_resnet_model_v1.dat as published");
  }

 private:
  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) refuse("the file ends within a layer");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }

  std::string_view bytes_, where_;
  std::size_t at_ = 0;
};

DlibConvolution convolution(Cursor& cursor) {
  DlibConvolution result{};
  std::vector<float> numbers = cursor.tensor();
  result.out = cursor.integer();
  result.height = cursor.integer();
  result.width = cursor.integer();
  const auto total = static_cast<std::int64_t>(numbers.size());
  if (result.out < 1 || result.height < 1 || result.width < 1 || result.out > total ||
      result.height > total / result.out || result.width > total / result.out / result.height)
    cursor.refuse("a convolution has more filters or pixels than numbers");
  const std::int64_t of_channel = result.out * result.height * result.width;
  result.in = (total - result.out) / of_channel;
  if (result.in < 1 || result.in * of_channel + result.out != total)
    cursor.refuse(fmt::format("{} numbers are not those of {} filters of {} x {} and their biases",
                              total, result.out, result.height, result.width));
  const auto biases = numbers.end() - result.out;
  result.bias.assign(biases, numbers.end());
  numbers.erase(biases, numbers.end());
  result.weight = std::move(numbers);

  if (!cursor.find("affine_")) cursor.refuse("no affine layer follows the convolution");
  const std::vector<float> affine = cursor.tensor();
  if (std::ssize(affine) != 2 * result.out)
    cursor.refuse(
        fmt::format("an affine layer of {} numbers follows {} filters", affine.size(), result.out));
  result.scale.assign(affine.begin(), affine.begin() + result.out);
  result.shift.assign(affine.begin() + result.out, affine.end());
  return result;
}

}  // namespace

DlibLayers read_dlib_layers(std::string_view bytes, std::string_view where) {
  DlibLayers result{};
  Cursor linear(bytes, where);
  if (!linear.find("fc_2")) linear.refuse("holds no linear layer");
  result.embedding = linear.integer();
  result.features = linear.integer();
  result.linear = linear.tensor();
  if (result.embedding < 1 || result.features < 1 ||
      result.embedding * result.features != std::ssize(result.linear))
    linear.refuse(fmt::format("{} numbers are not those of a linear layer of {} x {}",
                              result.linear.size(), result.features, result.embedding));
  Cursor cursor(bytes, where);
  while (cursor.find("con_4")) result.convolutions.push_back(convolution(cursor));
  return result;
}

}  // namespace facebench

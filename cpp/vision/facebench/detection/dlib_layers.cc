#include "facebench/detection/dlib_layers.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>

#include "facebench/core/error.h"

namespace facebench {
namespace {

static_assert(std::endian::native == std::endian::little);  // as the numbers of a file are

class Cursor {
 public:
  Cursor(std::string_view bytes, std::string_view where) : bytes_(bytes), where_(where) {}

  // Goes behind the next name of a layer that is one of these; empty where none follows.
  std::string_view next(std::initializer_list<std::string_view> names) {
    std::string_view first;
    std::size_t behind = bytes_.size();
    for (const std::string_view name : names) {
      const std::string named =
          std::string("\1") + static_cast<char>(name.size()) + std::string(name);
      const std::size_t found = bytes_.substr(0, behind).find(named, at_);
      if (found == std::string_view::npos) continue;
      first = name;
      behind = found + named.size();
    }
    if (!first.empty()) at_ = behind;
    return first;
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

  // What says where in a tensor others lie: version 1, four sizes.
  void skip_alias() {
    if (integer() != 1) refuse("expected an alias of version 1");
    for (int k = 0; k < 4; ++k) integer();
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
    fail(at_byte(where_, at_), what, "Take the file as dlib's author published it");
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

  result.scale.assign(result.out, 1);
  result.shift.assign(result.out, 0);
  return result;
}

// A tensor of `size` numbers of the layer behind a convolution.
std::vector<float> norm_tensor(Cursor& cursor, std::int64_t size) {
  std::vector<float> result = cursor.tensor();
  if (std::ssize(result) != size)
    cursor.refuse(fmt::format("a norm has {} numbers, expected {}", result.size(), size));
  return result;
}

// Scale and shift, folded.
void read_affine(Cursor& cursor, DlibConvolution& c) {
  const std::vector<float> affine = norm_tensor(cursor, 2 * c.out);
  c.scale.assign(affine.begin(), affine.begin() + c.out);
  c.shift.assign(affine.begin() + c.out, affine.end());
}

// As trained: scale and shift, statistics of the last batch, those of all. dlib's published
// networks have its usual epsilon.
void read_batch_norm(Cursor& cursor, DlibConvolution& c) {
  constexpr double epsilon = 1e-4;
  read_affine(cursor, c);
  for (int k = 0; k < 2; ++k) cursor.skip_alias();
  for (int k = 0; k < 2; ++k) norm_tensor(cursor, c.out);
  const std::vector<float> mean = norm_tensor(cursor, c.out);
  const std::vector<float> variance = norm_tensor(cursor, c.out);
  for (std::int64_t k = 0; k < c.out; ++k) {
    const double scale = c.scale[k] / std::sqrt(variance[k] + epsilon);
    c.shift[k] = static_cast<float>(c.shift[k] - scale * mean[k]);
    c.scale[k] = static_cast<float>(scale);
  }
}

}  // namespace

std::vector<DlibConvolution> read_dlib_convolutions(std::string_view bytes,
                                                    std::string_view where) {
  constexpr std::string_view conv = "con_4", affine = "affine_", norm = "bn_con2";
  std::vector<DlibConvolution> result;
  Cursor cursor(bytes, where);
  for (std::string_view name = cursor.next({conv}); !name.empty();
       name = cursor.next({conv, affine, norm})) {
    if (name == conv)
      result.push_back(convolution(cursor));
    else if (name == affine)
      read_affine(cursor, result.back());
    else
      read_batch_norm(cursor, result.back());
  }
  return result;
}

DlibLinear read_dlib_linear(std::string_view bytes, std::string_view where) {
  DlibLinear result{};
  Cursor cursor(bytes, where);
  if (cursor.next({"fc_2"}).empty()) cursor.refuse("holds no linear layer");
  result.embedding = cursor.integer();
  result.features = cursor.integer();
  result.weight = cursor.tensor();
  if (result.embedding < 1 || result.features < 1 ||
      result.embedding * result.features != std::ssize(result.weight))
    cursor.refuse(fmt::format("{} numbers are not those of a linear layer of {} x {}",
                              result.weight.size(), result.features, result.embedding));
  return result;
}

}  // namespace facebench

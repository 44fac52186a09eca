#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/detection/dlib_layers.h"

namespace facebench {
namespace {

std::string integer(std::uint32_t value) {
  std::string digits;
  for (; value > 0 || digits.empty(); value >>= 8) digits += static_cast<char>(value & 0xff);
  return static_cast<char>(digits.size()) + digits;
}

std::string tensor(std::vector<std::uint32_t> shape, const std::vector<float>& numbers) {
  std::string bytes = integer(2);
  for (const std::uint32_t size : shape) bytes += integer(size);
  return bytes.append(reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size());
}

std::string text(std::string_view value) {
  return integer(static_cast<std::uint32_t>(value.size())).append(value);
}

std::vector<float> counted(std::size_t count, float first) {
  std::vector<float> numbers(count);
  for (float& v : numbers) v = first++;
  return numbers;
}

// Two convolutions, 1 -> 2 of 3x1 and 2 -> 300 of 1x1, and a linear layer 300 -> 3.
struct Parts {
  std::string first = tensor({1, 1, 1, 8}, counted(8, 0)) + integer(2) + integer(3) + integer(1);
  std::string first_affine = tensor({1, 1, 1, 4}, counted(4, 10));
  std::string second =
      tensor({900, 1, 1, 1}, counted(900, 0)) + integer(300) + integer(1) + integer(1);
  std::string second_affine = tensor({600, 1, 1, 1}, counted(600, 0));
  std::string linear = integer(3) + integer(300) + tensor({300, 3, 1, 1}, counted(900, 0));

  std::string bytes() const {
    return "begin" + text("con_4") + first + text("affine_") + first_affine + "between" +
           text("con_4") + second + text("affine_") + second_affine + text("fc_2") + linear;
  }
};

TEST(DlibLayers, AreReadInOrder) {
  const std::vector<DlibConvolution> layers = read_dlib_convolutions(Parts().bytes(), "x.dat");
  ASSERT_EQ(layers.size(), 2u);
  const DlibConvolution& c = layers[0];
  EXPECT_EQ((std::vector{c.out, c.in, c.height, c.width}), (std::vector<std::int64_t>{2, 1, 3, 1}));
  EXPECT_EQ(c.weight, counted(6, 0));
  EXPECT_EQ(c.bias, counted(2, 6));
  EXPECT_EQ(c.scale, counted(2, 10));
  EXPECT_EQ(c.shift, counted(2, 12));
  EXPECT_EQ(layers[1].out, 300);
  EXPECT_EQ(layers[1].in, 2);
  const DlibLinear linear = read_dlib_linear(Parts().bytes(), "x.dat");
  EXPECT_EQ(linear.embedding, 3);
  EXPECT_EQ(linear.features, 300);
  EXPECT_EQ(linear.weight, counted(900, 0));
}

TEST(DlibLayers, ABatchNormIsFoldedAndMayBeLeftOut) {
  const auto norm = [](float first) { return tensor({1, 2, 1, 1}, {first, first + 1}); };
  const std::string alias = integer(1) + integer(1) + integer(2) + integer(1) + integer(1);
  const std::string layer =
      text("con_4") + tensor({1, 1, 1, 4}, counted(4, 0)) + integer(2) + integer(1) + integer(1);
  const std::string bytes = layer + text("bn_con2") + tensor({1, 4, 1, 1}, {3, 4, 5, 6}) + alias +
                            alias + norm(100) + norm(200) + norm(7) + norm(8) + layer;
  const std::vector<DlibConvolution> layers = read_dlib_convolutions(bytes, "x.dat");
  ASSERT_EQ(layers.size(), 2u);
  for (int k = 0; k < 2; ++k) {
    const double scale = (3 + k) / std::sqrt(8 + k + 1e-4);
    EXPECT_FLOAT_EQ(layers[0].scale[k], static_cast<float>(scale));
    EXPECT_FLOAT_EQ(layers[0].shift[k], static_cast<float>(5 + k - scale * (7 + k)));
  }
  EXPECT_EQ(layers[1].scale, (std::vector<float>{1, 1}));
  EXPECT_EQ(layers[1].shift, (std::vector<float>{0, 0}));
}

TEST(DlibLayers, AFileCutShortIsAnError) {
  const std::string bytes = Parts().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto read = [&] {
      read_dlib_convolutions(bytes.substr(0, size), "x.dat");
      read_dlib_linear(bytes.substr(0, size), "x.dat");
    };
    EXPECT_THROW(read(), Error) << size;
  }
}

TEST(DlibLayers, WhatDoesNotFitIsSaidWithItsByte) {
  const auto message = [](const Parts& parts) -> std::string {
    try {
      read_dlib_convolutions(parts.bytes(), "x.dat");
      read_dlib_linear(parts.bytes(), "x.dat");
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  const auto said = [&](auto Parts::*part, const std::string& bytes) {
    Parts parts;
    parts.*part = bytes;
    return message(parts);
  };
  const std::string filters = integer(2) + integer(3) + integer(1);
  EXPECT_NE(said(&Parts::first, integer(1)).find("x.dat: byte"), std::string::npos);
  EXPECT_NE(said(&Parts::first, integer(1)).find("tensor of version 2"), std::string::npos);
  EXPECT_NE(said(&Parts::first, "\x0f").find("1 to 8 bytes"), std::string::npos);
  EXPECT_NE(said(&Parts::first, "\x08\xff\xff\xff\xff\xff\xff\xff\xff").find("too large"),
            std::string::npos);
  EXPECT_NE(said(&Parts::first, integer(2) + integer(0)).find("or empty"), std::string::npos);
  std::string huge = integer(2);
  for (int k = 0; k < 4; ++k) huge += integer(1u << 30);
  EXPECT_NE(said(&Parts::first, huge).find("larger than the file"), std::string::npos);
  EXPECT_NE(said(&Parts::first, tensor({1, 1, 1, 9}, counted(9, 0)) + filters)
                .find("9 numbers are not those of 2 filters of 3 x 1"),
            std::string::npos);
  EXPECT_NE(said(&Parts::first, tensor({1, 1, 1, 2}, counted(2, 0)) + filters)
                .find("more filters or pixels than numbers"),
            std::string::npos);
  EXPECT_NE(said(&Parts::first_affine, tensor({1, 1, 1, 3}, counted(3, 0)))
                .find("a norm has 3 numbers, expected 4"),
            std::string::npos);
  EXPECT_NE(said(&Parts::linear, integer(3) + integer(300) + tensor({1, 1, 1, 2}, counted(2, 0)))
                .find("2 numbers are not those of a linear layer of 300 x 3"),
            std::string::npos);
}

}  // namespace
}  // namespace facebench

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/random.h"
#include "facebench/embedding/batch_model.h"
#include "facebench/embedding/convert.h"
#include "facebench/embedding/extractor.h"
#include "facebench/io/file.h"
#include "facebench/nn/internal/aten.h"
#include "io/helpers.h"

namespace facebench {
namespace {

std::vector<std::uint8_t> noise(std::int64_t bytes) {
  Random random(1, "test");
  std::vector<std::uint8_t> values(static_cast<std::size_t>(bytes));
  for (std::uint8_t& v : values) v = static_cast<std::uint8_t>(random.below(256));
  return values;
}

class EmbeddingTest : public ::testing::Test {
 protected:
  const ImageShape shape{16, 16};
  const std::vector<std::uint8_t> pixels = noise(7 * shape.bytes());
  const ImageArray images{pixels.data(), 7, shape};
  const Model model = make_model("small4", {.height = 16, .width = 16, .embedding = 8},
                                 {.flip = "sum"}, "xavier_uniform", 3);
};

TEST_F(EmbeddingTest, SameBitsForAnyNumberOfThreads) {
  const ExtractOptions options{.micro_batch = 2};
  const EmbeddingSet one = extract(model, images, options, {.threads = 1});
  const EmbeddingSet three = extract(model, images, options, {.threads = 3});
  EXPECT_EQ(one.values, three.values);
  EXPECT_EQ(one.dim, 8);
  EXPECT_EQ(one.names[6], "6");
  for (std::size_t i = 0; i < one.size(); ++i) {
    double squares = 0;
    for (const float v : one.row(i)) squares += double{v} * v;
    EXPECT_NEAR(squares, 1, 1e-5);
  }
  EXPECT_EQ(canonical_json(one.manifest), canonical_json(three.manifest));
}

TEST_F(EmbeddingTest, FailedRowsAreZerosAndDoNotTouchTheOthers) {
  std::vector<SampleStatus> status(7, SampleStatus::ok);
  status[2] = SampleStatus::no_face;
  const ImageArray some{pixels.data(), 7, shape, {}, status};
  const EmbeddingSet all = extract(model, images);
  const EmbeddingSet got = extract(model, some);
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t k = 0; k < 8; ++k)
      EXPECT_EQ(got.row(i)[k], i == 2 ? 0.0F : all.row(i)[k]) << i << ", " << k;
}

TEST_F(EmbeddingTest, AMirroredImageHasTheSameSumOfFlips) {
  std::vector<std::uint8_t> mirrored(pixels.size());
  for (std::int64_t row = 0; row < 7 * 16; ++row)
    for (std::int64_t x = 0; x < 16; ++x)
      for (std::int64_t c = 0; c < 3; ++c)
        mirrored[static_cast<std::size_t>((row * 16 + 15 - x) * 3 + c)] =
            pixels[static_cast<std::size_t>((row * 16 + x) * 3 + c)];
  const ImageArray other{mirrored.data(), 7, shape};
  EXPECT_EQ(extract(model, images).values, extract(model, other).values);
  EXPECT_NE(extract(model, images, {.flip = "none"}).values,
            extract(model, other, {.flip = "none"}).values);
}

TEST_F(EmbeddingTest, ModelFilesAreWholeOrRefused) {
  const TemporaryFolder folder;
  const auto path = folder / "model.safetensors";
  save_model(model, path);
  const Model loaded = load_model(path);
  EXPECT_EQ(model_description(loaded), model_description(model));
  EXPECT_EQ(extract(loaded, images).values, extract(model, images).values);
  const std::string bytes = read_file(path);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    write_file(path, std::string_view(bytes).substr(0, size));
    EXPECT_THROW(load_model(path), Error) << size;
  }
}

// The first pixel of each image, as the model sees it.
class Corner : public BatchModel {
 public:
  using BatchModel::BatchModel;
  at::Tensor embed(const at::Tensor& images) const override {
    EXPECT_TRUE(images.size(0) == 4 || images.size(0) == 1);  // one is asked for by itself
    return info().raw_bytes ? images.select(1, 0).select(1, 0).to(at::kFloat)
                            : images.select(3, 0).select(2, 0).contiguous();
  }
};

TEST_F(EmbeddingTest, AnyModelGetsThePixelsThatItsOptionsSay) {
  BatchModelInfo info;
  info.name = "corner";
  info.options.color = "bgr";
  info.options.mean = {10, 20, 30};
  info.options.std = {2};
  info.options.normalization = "none";
  const ExtractOptions options{.flip = "concat", .micro_batch = 4};
  const auto byte = [&](std::size_t image, std::size_t x, std::size_t c) {
    return static_cast<float>(pixels[image * static_cast<std::size_t>(shape.bytes()) + 3 * x + c]);
  };
  const EmbeddingSet numbers = extract(Corner(info), images, options);
  info.raw_bytes = true;
  const EmbeddingSet bytes = extract(Corner(info), images, options);
  info.thread_safe = true;
  info.embedding_size = 3;
  EXPECT_EQ(extract(Corner(info), images, options, {.threads = 3}).values, bytes.values);
  ASSERT_EQ(numbers.dim, 6);
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      for (const std::size_t x : {0, 15}) {
        const std::size_t k = (x == 0 ? 0 : 3) + c;
        EXPECT_EQ(bytes.row(i)[k], byte(i, x, c));
        EXPECT_EQ(numbers.row(i)[k],
                  (byte(i, x, 2 - c) - static_cast<float>(info.options.mean[c])) / 2);
      }
  EXPECT_EQ(numbers.manifest["model_sha256"], "");
}

// The first pixel of each image, as a share of all of its batch; one image by itself gives it
// alone.
class Shares : public BatchModel {
 public:
  Shares(BatchModelInfo info, bool drawn) : BatchModel(std::move(info)), drawn_(drawn) {}
  at::Tensor embed(const at::Tensor& images) const override {
    const at::Tensor corners = images.select(1, 0).select(1, 0).to(at::kFloat) + 1;
    const at::Tensor rows = corners / corners.select(1, 0).sum();
    return drawn_ ? rows + static_cast<float>(++calls_) : rows;
  }

 private:
  bool drawn_;
  mutable int calls_ = 0;
};

TEST_F(EmbeddingTest, RowsThatDependOnTheirBatchAreMadeAlone) {
  BatchModelInfo info;
  info.name = "shares";
  info.raw_bytes = true;
  info.options.normalization = "none";
  const EmbeddingSet found = extract(Shares(info, false), images, {.micro_batch = 4});
  EXPECT_EQ(found.manifest["extract"]["micro_batch"], 1);
  EXPECT_NE(found.manifest["batch_dependence"].get<std::string>().find("one image at a time"),
            std::string::npos);
  for (std::size_t i = 0; i < 7; ++i) {
    const std::uint8_t* corner = &pixels[i * static_cast<std::size_t>(shape.bytes())];
    const float first = static_cast<float>(corner[0]) + 1;
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_EQ(found.row(i)[c], (static_cast<float>(corner[c]) + 1) / first);
  }
  EXPECT_THROW(extract(Shares(info, true), images, {.micro_batch = 4}), Error);
  const EmbeddingSet sound = extract(model, images);
  EXPECT_FALSE(sound.manifest.contains("batch_dependence"));
}

TEST_F(EmbeddingTest, WrongUseIsRefused) {
  const ImageArray small{pixels.data(), 1, {8, 8}};
  EXPECT_THROW(extract(model, small), std::invalid_argument);
  EXPECT_THROW(extract(model, images, {.flip = "both"}), std::invalid_argument);
  EXPECT_THROW(make_model("small4", {}, {.mean = {1, 2}}), std::invalid_argument);
  EXPECT_THROW(make_model("small4", {}, {.tap = "fc7"}), std::invalid_argument);
  EXPECT_THROW(images.pixels(7), std::out_of_range);
  EXPECT_EQ(conversion_defaults("mobilefacenet").crop, "arcface112");
  EXPECT_THROW(conversion_defaults("mobilefacent"), std::invalid_argument);
}

}  // namespace
}  // namespace facebench

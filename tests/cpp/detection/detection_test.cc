#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "facebench/core/error.h"
#include "facebench/core/isa.h"
#include "facebench/core/random.h"
#include "facebench/detection/detector.h"
#include "facebench/detection/mtcnn.h"
#include "facebench/detection/selection.h"

namespace facebench {
namespace {

bool have_weights() {
  try {
    default_mtcnn_weights();
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Blobs of eight pixels with a little noise; low thresholds find many boxes in it.
Image texture(int width, int height, std::uint64_t seed) {
  Random random(seed, "texture");
  std::vector<double> coarse((width / 8 + 2) * (height / 8 + 2) * 3);
  for (double& v : coarse) v = random.uniform(0, 255);
  Image image(width, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) {
        const auto at = [&](int i, int j) {
          return coarse[((y / 8 + j) * (width / 8 + 2) + x / 8 + i) * 3 + c];
        };
        const double fx = x % 8 / 8.0, fy = y % 8 / 8.0;
        const double v = (at(0, 0) * (1 - fx) + at(1, 0) * fx) * (1 - fy) +
                         (at(0, 1) * (1 - fx) + at(1, 1) * fx) * fy + random.uniform(-5, 5);
        image.row(y)[3 * x + c] = static_cast<std::uint8_t>(std::clamp(v, 0.0, 255.0));
      }
  return image;
}

Json eager() { return {{"thresholds", {0.1, 0.01, 0.003}}}; }

TEST(Mtcnn, EveryInstructionSetGivesTheSameFaces) {
  if (!have_weights()) GTEST_SKIP() << "mtcnn.safetensors was not built";
  const Image image = texture(97, 83, 1);
  const Isa best = active_isa();
  std::vector<std::vector<Face>> found;
  for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512}) {
    if (isa > supported_isa()) continue;
    force_isa(isa);
    found.push_back(make_detector("mtcnn", eager())->detect(image));
  }
  force_isa(best);
  ASSERT_FALSE(found[0].empty());
  for (const auto& faces : found) {
    ASSERT_EQ(faces.size(), found[0].size());
    for (std::size_t i = 0; i < faces.size(); ++i) {
      EXPECT_NEAR(faces[i].score, found[0][i].score, 1e-4);
      EXPECT_NEAR(faces[i].box.x0, found[0][i].box.x0, 0.01);
      EXPECT_NEAR(faces[i].box.y1, found[0][i].box.y1, 0.01);
      for (int k = 0; k < 5; ++k)
        EXPECT_NEAR(faces[i].landmarks[k].x, found[0][i].landmarks[k].x, 0.01);
    }
  }
}

TEST(Mtcnn, BatchesAndOffsets) {
  if (!have_weights()) GTEST_SKIP() << "mtcnn.safetensors was not built";
  std::vector<Image> images;
  for (int i = 0; i < 5; ++i) images.push_back(texture(60 + 9 * i, 80 - 6 * i, 10 + i));
  const auto detector = make_detector("mtcnn", eager());
  Json shifted = eager();
  shifted["box_offset"] = -1;
  const auto zero_based = make_detector("mtcnn", shifted);
  Job job;
  job.threads = 3;
  const auto batch = detect_all(*detector, images, {}, job);
  for (std::size_t i = 0; i < images.size(); ++i) {
    EXPECT_EQ(batch[i], detector->detect(images[i]));
    const auto moved = zero_based->detect(images[i]);
    ASSERT_EQ(moved.size(), batch[i].size());
    for (std::size_t k = 0; k < moved.size(); ++k)
      EXPECT_NEAR(moved[k].box.x0, batch[i][k].box.x0 - 1, 1e-4);
  }
}

TEST(Mtcnn, MissingWeightsSayWhatToRun) {
  setenv("FACEBENCH_MTCNN_WEIGHTS", "/nowhere/mtcnn.safetensors", 1);
  try {
    default_mtcnn_weights();
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("convert_mtcnn.py"), std::string::npos);
  }
  unsetenv("FACEBENCH_MTCNN_WEIGHTS");
}

TEST(Detectors, TableIsDocumentedAndDescribed) {
  for (const DetectorEntry& e : detectors().entries()) {
    EXPECT_FALSE(e.doc.empty());
    ASSERT_NE(e.schema, nullptr);
    for (const OptionField& f : e.schema->fields) EXPECT_FALSE(f.doc.empty()) << f.name;
    EXPECT_THROW(e.make({{"no_such_option", 1}}), std::invalid_argument) << e.name;
  }
  for (const MtcnnMode& mode : mtcnn_modes().entries()) EXPECT_EQ(mode.options.mode, mode.name);
  EXPECT_THROW(make_detector("hgo"), std::invalid_argument);
}

TEST(Detectors, EmptyImagesAreRefused) {
  EXPECT_THROW(make_detector("hog")->detect(Image{}), std::invalid_argument);
}

TEST(Selection, WorkedCase) {
  Face big, near;
  big.box = {0, 0, 50, 50};
  near.box = {40, 40, 60, 60};
  const std::vector<Face> faces{big, near};
  EXPECT_EQ(select_face(faces, 100, 100, "largest"), 0u);
  EXPECT_EQ(select_face(faces, 100, 100, "nearest_center"), 1u);
  // 2500 - 2 * 1250 = 0 against 400.
  EXPECT_EQ(select_face(faces, 100, 100, "center_weighted"), 1u);
  EXPECT_FALSE(select_face({}, 100, 100, "largest").has_value());
}

TEST(Face, IntersectionOverUnion) {
  EXPECT_DOUBLE_EQ(intersection_over_union({0, 0, 2, 2}, {1, 1, 3, 3}), 1.0 / 7);
  EXPECT_DOUBLE_EQ(intersection_over_union({0, 0, 2, 2}, {2, 0, 3, 2}), 0);
  EXPECT_DOUBLE_EQ(intersection_over_union({1, 1, 1, 1}, {1, 1, 1, 1}), 0);
}

}  // namespace
}  // namespace facebench

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "detection/textures.h"
#include "facebench/core/error.h"
#include "facebench/core/isa.h"
#include "facebench/detection/detector.h"
#include "facebench/detection/mtcnn.h"

namespace facebench {
namespace {

TEST(Mtcnn, FastPathGivesTheFacesOfThePlainOneWithEveryInstructionSet) {
  if (!have_weights()) GTEST_SKIP() << "mtcnn.safetensors was not built";
  const Isa best = active_isa();
  std::size_t found = 0;
  // Odd and even sides, and levels wider than several vectors.
  const std::pair<int, int> sizes[] = {{97, 83}, {64, 64}, {131, 47}, {33, 90}, {200, 40}};
  for (const auto& [width, height] : sizes) {
    const Image image = texture(width, height, width);
    for (const char* mode : {"facenet_pytorch", "facenet", "matlab"}) {
      Json options = eager();
      options["mode"] = mode;
      options["path"] = "plain";
      const auto reference = make_detector("mtcnn", options)->detect(image);
      found += reference.size();
      options["path"] = "fast";
      for (const Isa isa : {Isa::plain, Isa::avx2, Isa::avx512}) {
        if (isa > supported_isa()) continue;
        SCOPED_TRACE(std::string(isa_name(isa)) + " " + mode + " " + std::to_string(width));
        force_isa(isa);
        expect_same(make_detector("mtcnn", options)->detect(image), reference);
      }
      force_isa(best);
    }
  }
  EXPECT_GT(found, 20u) << "the case tests little";
}

TEST(Mtcnn, SmallestAndLongestImages) {
  if (!have_weights()) GTEST_SKIP() << "mtcnn.safetensors was not built";
  Json options = eager();
  options["min_face"] = 12;
  for (const char* mode : {"facenet_pytorch", "facenet", "matlab"}) {
    options["mode"] = mode;
    for (const auto& [width, height] :
         {std::pair{1, 1}, {12, 12}, {13, 12}, {12, 13}, {20000, 10}, {10, 3000}, {3000, 14}}) {
      for (const Image& image : {Image(width, height), texture(width, height, 3)}) {
        for (const Face& f : make_detector("mtcnn", options)->detect(image)) {
          EXPECT_TRUE(std::isfinite(f.box.x0 + f.box.y0 + f.box.x1 + f.box.y1 + f.score));
          for (const Point& p : f.landmarks) EXPECT_TRUE(std::isfinite(p.x + p.y));
        }
      }
    }
  }
  EXPECT_TRUE(make_detector("mtcnn")->detect(Image(120, 100)).empty());
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
  const auto batch = detector->detect_all(images, {}, job);
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

}  // namespace
}  // namespace facebench

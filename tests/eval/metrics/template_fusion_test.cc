#include "facebench/metrics/template_fusion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace facebench {
namespace {

// Three samples in the plane: (2, 0) and (0, 1) of one medium, (0, 4) of another.
const std::vector<float> kSamples = {2, 0, 0, 1, 0, 4};
const std::vector<std::int32_t> kMedia = {5, 5, 9};

// tan of the angle of the fused vector, worked out by hand.
double slope(std::string_view name) {
  const auto v = fuse_template(template_fusions().at(name), kSamples, kMedia);
  EXPECT_NEAR(std::hypot(v[0], v[1]), 1, 1e-15);
  return v[1] / v[0];
}

TEST(TemplateFusion, AsWorkedOutByHand) {
  EXPECT_NEAR(slope("mean_raw"), 5.0 / 2, 1e-14);             // (2, 5) / 3
  EXPECT_NEAR(slope("mean_unit"), 2.0, 1e-14);                // (1, 2) / 3
  EXPECT_NEAR(slope("media_mean_sum_raw"), 4.5, 1e-14);       // (1, 0.5) + (0, 4)
  EXPECT_NEAR(slope("media_mean_sum_unit"), 3.0, 1e-14);      // (0.5, 0.5) + (0, 1)
  EXPECT_NEAR(slope("vggface2"), 1 + std::sqrt(2.0), 1e-14);  // (1, 1) / sqrt 2 + (0, 1)
}

TEST(TemplateFusion, EveryEntryIsDocumentedAndKeepsASingleSample) {
  for (const TemplateFusion& f : template_fusions().entries()) {
    EXPECT_FALSE(f.doc.empty() || f.source.empty()) << f.name;
    const auto v = fuse_template(f, std::vector<float>{3, 4}, std::vector<std::int32_t>{0},
                                 std::vector<float>{0.5});
    EXPECT_NEAR(v[0], 0.6, 1e-15) << f.name;
    EXPECT_NEAR(v[1], 0.8, 1e-15) << f.name;
  }
}

TEST(TemplateFusion, RefusesWhatHasNoDirection) {
  const TemplateFusion& f = template_fusions().at("mean_raw");
  const std::vector<std::int32_t> two = {0, 1};
  EXPECT_THROW(fuse_template(f, {}, {}), std::invalid_argument);
  EXPECT_THROW(fuse_template(f, std::vector<float>{1, 2, 3}, two), std::invalid_argument);
  EXPECT_THROW(fuse_template(f, std::vector<float>{1, 0, 0, 0}, two), std::invalid_argument);
  EXPECT_THROW(fuse_template(f, std::vector<float>{1, 0, -1, 0}, two), std::invalid_argument);
  EXPECT_THROW(fuse_template(f, std::vector<float>{NAN, 0, 1, 0}, two), std::invalid_argument);
}

}  // namespace
}  // namespace facebench

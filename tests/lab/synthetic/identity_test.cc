#include "facebench/synthetic/identity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "facebench/core/error.h"
#include "io/helpers.h"

namespace facebench {
namespace {

TEST(Identity, RepeatsAndHasTheAskedSpread) {
  const FaceIdentity a = make_identity(7, 3, 0.6), b = make_identity(7, 3, 0.6);
  EXPECT_EQ(a.traits, b.traits);
  EXPECT_NE(a.traits, make_identity(7, 4, 0.6).traits);
  EXPECT_NE(a.traits, make_identity(8, 3, 0.6).traits);
  for (const float t : make_identity(7, 3, 0).traits) EXPECT_EQ(t, 0);
  double sum = 0, squares = 0;
  int n = 0;
  for (int i = 0; i < 200; ++i)
    for (const float t : make_identity(1, i, 0.5).traits) {
      sum += t;
      squares += t * t;
      ++n;
    }
  EXPECT_NEAR(sum / n, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / n), 0.5, 0.02);
  EXPECT_THROW(make_identity(1, -1), std::invalid_argument);
  EXPECT_THROW(make_identity(1, 0, 2.5), std::invalid_argument);
  EXPECT_EQ(face_trait_names().size(), static_cast<std::size_t>(kFaceTraits));
}

}  // namespace
}  // namespace facebench

#include "facebench/synthetic/nuisance.h"

#include <gtest/gtest.h>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "io/helpers.h"
#include "synthetic/photo.h"

namespace facebench {
namespace {

TEST(Nuisance, EveryKindIsWithinItsDeclaredRanges) {
  for (const NuisanceKind& kind : nuisance_kinds().entries()) {
    EXPECT_FALSE(kind.doc.empty());
    for (std::uint64_t i = 0; i < 50; ++i) EXPECT_NO_THROW(check_options(photo(kind.name, i)));
  }
  Random random(1, "test");
  EXPECT_THROW(make_nuisance("frontl", random), std::invalid_argument);
}

TEST(Nuisance, QualityGroupsAreCutAt30And60) {
  EXPECT_EQ(quality_group(29.9), QualityGroup::low);
  EXPECT_EQ(quality_group(30), QualityGroup::middle);
  EXPECT_EQ(quality_group(60), QualityGroup::high);
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(quality_group(quality_score(photo("frontal", i))), QualityGroup::high);
    EXPECT_EQ(quality_group(quality_score(photo("low_resolution", i))), QualityGroup::low);
  }
}

}  // namespace
}  // namespace facebench

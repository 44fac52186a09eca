#include "facebench/core/natural_order.h"

#include <gtest/gtest.h>

namespace facebench {
namespace {

TEST(NaturalOrder, NumbersCountAsNumbers) {
  EXPECT_TRUE(natural_less("s2/1.pgm", "s10/1.pgm"));
  EXPECT_TRUE(natural_less("2.pgm", "10.pgm"));
  EXPECT_TRUE(natural_less("a", "b"));
  EXPECT_TRUE(natural_less("a", "ab"));
  EXPECT_FALSE(natural_less("a10", "a2"));
  EXPECT_FALSE(natural_less("a", "a"));
  // Leading zeros decide last, and one way.
  EXPECT_TRUE(natural_less("a01b", "a1c"));
  EXPECT_NE(natural_less("a01", "a1"), natural_less("a1", "a01"));
}

}  // namespace
}  // namespace facebench

#include <gtest/gtest.h>

#include "facebench/synthetic/writer.h"
#include "io/helpers.h"

namespace facebench {
namespace {

TEST(Sheet, HasARowForEachPersonAndAColumnForEachKind) {
  SheetOptions o;
  o.people = 2;
  o.size = 32;
  const Image sheet = render_sheet(o);
  EXPECT_EQ(sheet.height, 64);
  EXPECT_EQ(sheet.width, 32 * static_cast<int>(nuisance_kinds().entries().size()));
}

}  // namespace
}  // namespace facebench

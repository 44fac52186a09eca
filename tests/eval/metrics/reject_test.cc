#include "facebench/metrics/reject.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace facebench {
namespace {

using Labels = std::vector<std::uint8_t>;
using Scores = std::vector<double>;

TEST(Reject, HandWorked) {
  const RejectCurve curve = error_versus_reject(Labels{1, 0, 0, 1}, Scores{0.1, 0.5, 0.9, 0.5});
  EXPECT_EQ(curve.error, (std::vector<double>{0.5, 1.0 / 3, 0}));
  EXPECT_EQ(curve.area(0.25), 0.5);
  EXPECT_DOUBLE_EQ(curve.area(0.5), (0.25 * 0.5 + 0.25 / 3) / 0.5);
  EXPECT_DOUBLE_EQ(curve.area(), 0.25 * 0.5 + 0.5 / 3);
  EXPECT_DOUBLE_EQ(curve.best_area(), 0.25 * 0.5 + 0.25 / 3);
}

}  // namespace
}  // namespace facebench

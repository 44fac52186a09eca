#include "facebench/core/devices.h"

#include <gtest/gtest.h>

namespace facebench {
namespace {

TEST(CudaDevices, ThereAreSomeOrAReason) {
  const CudaDevices found = cuda_devices();
  EXPECT_EQ(found.devices.empty(), !found.reason.empty()) << found.reason;
}

TEST(CudaDevices, EachIsDescribedInOrder) {
  const CudaDevices found = cuda_devices();
  if (found.devices.empty()) GTEST_SKIP() << "no device: " << found.reason;
  for (std::size_t i = 0; i < found.devices.size(); ++i) {
    EXPECT_EQ(found.devices[i].index, static_cast<int>(i));
    EXPECT_FALSE(found.devices[i].name.empty());
    EXPECT_GT(found.devices[i].memory_bytes, std::int64_t{1} << 28);
    EXPECT_GE(found.devices[i].compute_major, 5);
  }
}

}  // namespace
}  // namespace facebench

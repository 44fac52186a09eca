#include "facebench/core/devices.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

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

TEST(ParseDevice, NamesOfDevices) {
  EXPECT_EQ(parse_device("cpu"), std::nullopt);
  for (const char* unknown : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "CUDA", "cpu:0"})
    try {
      parse_device(unknown);
      ADD_FAILURE() << unknown;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("known: cpu, cuda, cuda:N"), std::string::npos);
    }
  const CudaDevices found = cuda_devices();
  for (std::size_t i = 0; i < found.devices.size(); ++i)
    EXPECT_EQ(parse_device("cuda:" + std::to_string(i)), static_cast<int>(i));
  EXPECT_THROW(parse_device("cuda:99"), std::invalid_argument);
  if (found.devices.empty()) {
    EXPECT_THROW(parse_device("cuda"), std::invalid_argument);
  }
}

}  // namespace
}  // namespace facebench

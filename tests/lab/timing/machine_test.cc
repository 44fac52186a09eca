#include "facebench/timing/machine.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "io/helpers.h"

namespace facebench {
namespace {

TEST(Machine, Caches) {
  const TemporaryFolder folder;
  const auto write = [&](const char* index, const char* file, const char* text) {
    std::filesystem::create_directories(folder / index);
    std::ofstream(folder / index / file) << text;
  };
  write("index0", "level", "1\n");
  write("index0", "size", "32K\n");
  write("index0", "type", "Data\n");
  write("index0", "shared_cpu_list", "0,4-6\n");
  write("index1", "level", "3\n");
  write("index1", "size", "16M\n");
  write("index1", "shared_cpu_list", "0-x\n");
  write("index2", "level", "two\n");
  write("index2", "size", "1K\n");
  write("index3", "level", "2\n");
  write("index3", "size", "99999999999999G\n");
  const std::vector<CacheFacts> caches = read_caches(folder.path());
  ASSERT_EQ(caches.size(), 2U);
  EXPECT_EQ(caches[0].bytes, 32768);
  EXPECT_EQ(caches[0].type, "Data");
  EXPECT_EQ(caches[0].shared_by, 4);
  EXPECT_EQ(caches[1].bytes, std::int64_t{16} << 20);
  EXPECT_EQ(caches[1].shared_by, 0);
}

TEST(Machine, FactsAreJson) {
  const Json facts = machine_facts();
  EXPECT_FALSE(canonical_json(facts).empty());
  EXPECT_GE(facts["cpu"]["allowed"].get<int>(), 1);
  EXPECT_GT(facts["memory_bytes"].get<std::int64_t>(), 0);
}

}  // namespace
}  // namespace facebench

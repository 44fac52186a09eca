#include "facebench/timing/proc.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/helpers.h"

namespace facebench {
namespace {

// --- /proc
// ----------------------------------------------------------------------------------------

constexpr const char* kStat =
    "cpu  100 20 30 400 50 6 7 8 0 0\n"
    "cpu0 60 10 10 200 25 3 4 4 0 0\n"
    "cpu1 40 10 20 200 25 3 3 4 0 0\n"
    "intr 1 2 3\n";

TEST(Proc, TimesOfTheProcessorsThatCount) {
  const auto all = parse_processor_times(kStat, {}, 100);
  ASSERT_TRUE(all);
  EXPECT_NEAR(all->user, 1.2, 1e-12);
  EXPECT_NEAR(all->system, 0.3, 1e-12);
  EXPECT_NEAR(all->idle, 4, 1e-12);
  EXPECT_NEAR(all->iowait, 0.5, 1e-12);
  EXPECT_NEAR(all->interrupts, 0.13, 1e-12);
  EXPECT_NEAR(all->stolen, 0.08, 1e-12);
  const std::vector<int> second{1};
  EXPECT_NEAR(parse_processor_times(kStat, second, 100)->user, 0.5, 1e-12);
}

TEST(Proc, HostileTextIsAbsent) {
  const std::vector<int> first{0};
  for (const char* text :
       {"", "cpu", "cpu 1 2 3", "cpu0 1 2 x 4 5", "cpu0 -1 2 3 4 5", "cpuX 1 2 3 4 5",
        "cpu0 99999999999999999999999 2 3 4 5", "nothing\0here"}) {
    EXPECT_FALSE(parse_processor_times(text, first, 100)) << text;
  }
  for (const char* text : {"", "1 (x) R", "1 x R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
                           "1 (x) R 1 2 3 4 5 6 7 8 9 10 -5 1 1 1", "1 (x"})
    EXPECT_FALSE(parse_process_times(text, 100)) << text;
  for (const char* text :
       {"", "VmRSS:", "VmRSS: 12", "VmRSS: 12 MB", "VmRSS: -1 kB", "VmRSSX: 1 kB",
        "VmRSS: 99999999999999999999 kB", "VmRSS: 9007199254740992 kB"})
    EXPECT_FALSE(parse_memory_size(text, "VmRSS")) << text;
}

TEST(Proc, AProcessMayBeCalledAnything) {
  const auto times =
      parse_process_times("12 (evil) R 0 0 (\n) S 1 2 3 4 5 6 7 8 9 10 300 200 10 20 20 0", 100);
  ASSERT_TRUE(times);
  EXPECT_NEAR(times->user, 3.1, 1e-12);
  EXPECT_NEAR(times->system, 2.2, 1e-12);
}

TEST(Proc, MemorySizes) {
  EXPECT_EQ(parse_memory_size("VmPeak:  9 kB\nVmHWM:\t  12 kB\nVmRSS:\t 8 kB\n", "VmRSS"), 8192);
  EXPECT_EQ(parse_memory_size("MemTotal:       16384 kB", "MemTotal"), 16384 * 1024);
}

TEST(Proc, CpuinfoOfTwoSockets) {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += "processor\t: " + std::to_string(i) +
            "\nmodel name\t: Chip\nphysical id\t: " + std::to_string(i / 4) +
            "\ncore id\t\t: " + std::to_string(i % 2) + "\ncpu MHz\t\t: 200" + std::to_string(i) +
            ".5\n\n";
  const CpuFacts facts = parse_cpuinfo(text);
  EXPECT_EQ(facts.model, "Chip");
  EXPECT_EQ(facts.sockets, 2);
  EXPECT_EQ(facts.cores, 4);
  EXPECT_EQ(facts.processors, 8);
  EXPECT_EQ(facts.mhz.size(), 8U);
  EXPECT_EQ(facts.mhz[3], 2003.5);
}

TEST(Proc, CpuinfoThatSaysNothing) {
  // ARM names no model; clocks that are not clocks are left out.
  const CpuFacts facts =
      parse_cpuinfo("processor : 0\nBogoMIPS : 50\ncpu MHz : inf\ncpu MHz : -4\nno colon\n: :\n");
  EXPECT_EQ(facts.processors, 1);
  EXPECT_TRUE(facts.model.empty());
  EXPECT_EQ(facts.cores, 0);
  EXPECT_TRUE(facts.mhz.empty());
  EXPECT_EQ(parse_cpuinfo("model name : " + std::string(100000, 'x')).model.size(), 200U);
}

}  // namespace
}  // namespace facebench

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "facebench/timing/iteration.h"
#include "facebench/timing/machine.h"
#include "facebench/timing/proc.h"
#include "facebench/timing/process_meter.h"
#include "facebench/timing/series.h"
#include "facebench/timing/step_bench.h"
#include "io/helpers.h"

namespace facebench {
namespace {

// --- series
// ---------------------------------------------------------------------------------------

TEST(Series, ByHand) {
  // Two skipped; 1 2 3 4 10 are left.
  const std::vector<double> times{9, 5, 4, 1, 3, 2, 10};
  const SeriesSummary s = summarize_times(times, {.skip = 2});
  EXPECT_EQ(s.skipped, 2);
  EXPECT_EQ(s.first, 9);
  EXPECT_EQ(s.skipped_mean, 7);
  EXPECT_EQ(s.count, 5);
  EXPECT_EQ(s.mean, 4);
  EXPECT_EQ(s.median, 3);
  EXPECT_NEAR(s.p95, 4 + 0.8 * 6, 1e-12);  // position 3.8 of 0..4
  EXPECT_NEAR(s.sd, std::sqrt((9 + 4 + 1 + 0 + 36) / 4.0), 1e-12);
  EXPECT_EQ(s.low, 1);
  EXPECT_EQ(s.high, 10);
  EXPECT_LE(s.mean_interval.low, 4);
  EXPECT_GE(s.mean_interval.high, 4);
}

TEST(Series, ShortOnesKeepTheirLastTime) {
  const std::vector<double> times{3, 2};
  const SeriesSummary s = summarize_times(times, {.skip = 10});
  EXPECT_EQ(s.skipped, 1);
  EXPECT_EQ(s.count, 1);
  EXPECT_EQ(s.mean, 2);
  EXPECT_TRUE(std::isnan(s.sd));
  EXPECT_TRUE(std::isnan(s.mean_interval.low));
}

TEST(Series, RefusesWhatIsNoTime) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {nan, -1.0, std::numeric_limits<double>::infinity()}) {
    const std::vector<double> times{1, bad};
    EXPECT_THROW(summarize_times(times), std::invalid_argument);
  }
  EXPECT_THROW(summarize_times(std::vector<double>{}), std::invalid_argument);
}

TEST(Series, BlocksAreLongerThanSingleDrawsWhereNeighboursResembleEachOther) {
  // Slow for 100 iterations, fast for 100: drawn one by one the mean's interval has a half width of
  // 1.96 * 0.5 / sqrt(200) = 0.07; whole blocks of 6 make it sqrt(6) times as wide.
  std::vector<double> times(200, 1.0);
  std::fill(times.begin() + 100, times.end(), 2.0);
  const SeriesSummary s = summarize_times(times, {.skip = 0});
  const double half = (s.mean_interval.high - s.mean_interval.low) / 2;
  EXPECT_GT(half, 0.12);
  EXPECT_LT(half, 0.23);
}

TEST(Series, RepeatSpread) {
  EXPECT_NEAR(repeat_spread(std::vector<double>{1.0, 1.1, 1.05}), 0.1 / 1.05, 1e-12);
  EXPECT_TRUE(std::isnan(repeat_spread(std::vector<double>{1.0})));
}

// --- equations
// ------------------------------------------------------------------------------------

TEST(Equations, SixIsThePapers) {
  // Wang & Guo 2019, section 4.3: Caffe's VGG-16, 79, 156 and 316 images/s on 1, 2 and 4 GPUs:
  // 97 % (as printed) and 102.6 % (printed 103 %).
  EXPECT_NEAR(scaling_speedup(79, 156), 0.9747, 1e-4);
  EXPECT_NEAR(scaling_speedup(156, 316), 1.0256, 1e-4);
  EXPECT_EQ(scaling_speedup(10, 10), 0);
  EXPECT_THROW(scaling_speedup(0, 1), std::invalid_argument);
}

TEST(Equations, SevenAndEightByHand) {
  // Alone: 3 s of data, 10 s of computing, 2 s of aggregation.
  const IterationModel none = iteration_model(3, 10, 2, 15);
  EXPECT_EQ(none.sequential, 15);
  EXPECT_EQ(none.overlapped, 10);
  EXPECT_EQ(none.overlap, 0);
  EXPECT_EQ(iteration_model(3, 10, 2, 10).overlap, 1);
  EXPECT_NEAR(iteration_model(3, 10, 2, 12).overlap, 0.6, 1e-12);  // 3 of 5 s hidden
  EXPECT_LT(iteration_model(3, 10, 2, 16).overlap, 0);             // they disturb each other
  EXPECT_EQ(iteration_model(20, 10, 2, 20).overlap, 1);            // the data set the pace
  EXPECT_TRUE(std::isnan(iteration_model(0, 10, 0, 10).overlap));  // nothing to hide
  EXPECT_THROW(iteration_model(-1, 1, 1, 1), std::invalid_argument);
}

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

// --- load
// -----------------------------------------------------------------------------------------

TEST(Load, SharesByHand) {
  // Ten seconds of two processors: 12 s user, 1 s system, 1 s waiting, 6 s idle; 12.5 s are ours.
  const ProcessorTimes before{.user = 100, .system = 10, .iowait = 1, .idle = 1000};
  const ProcessorTimes after{.user = 112, .system = 11, .iowait = 2, .idle = 1006};
  const LoadShares shares = load_shares(before, after, 12.5);
  EXPECT_NEAR(shares.user, 0.6, 1e-12);
  EXPECT_NEAR(shares.system, 0.05, 1e-12);
  EXPECT_NEAR(shares.iowait, 0.05, 1e-12);
  EXPECT_NEAR(shares.own, 0.625, 1e-12);
  EXPECT_NEAR(shares.others, 0.025, 1e-12);
  EXPECT_FALSE(shares.busy);
  EXPECT_TRUE(load_shares(before, after, 11.5).busy);  // 1.5 of 20 s: 7.5 %
  EXPECT_EQ(load_shares(before, after, 14).others, 0);
  EXPECT_TRUE(std::isnan(load_shares(before, before, 0).others));
}

TEST(Load, StolenTimeIsOthers) {
  const ProcessorTimes before{};
  const ProcessorTimes after{.user = 1, .idle = 8, .stolen = 1};
  EXPECT_TRUE(load_shares(before, after, 1).busy);
}

TEST(Meter, SeesThisProcess) {
  ProcessMeter meter(0, 0.001);
  std::vector<char> memory(64 << 20, 1);
  double sum = 0;
  for (int i = 0; i < 5'000'000; ++i) sum += std::sqrt(static_cast<double>(i + memory[0]));
  EXPECT_GT(sum, 0);
  const ProcessUse use = meter.stop();
  EXPECT_GE(use.memory_peak, use.memory_before + (60 << 20));
  EXPECT_GE(use.memory_peak, use.memory_average);
  EXPECT_GE(use.samples, 1);
  EXPECT_GT(use.seconds, 0);
  EXPECT_EQ(meter.stop().samples, use.samples);
  EXPECT_FALSE(canonical_json(process_use_json(use)).empty());
}

TEST(Meter, RefusesWhatIsNoProcess) {
  EXPECT_THROW(ProcessMeter(std::numeric_limits<int>::max()), std::invalid_argument);
  EXPECT_THROW(ProcessMeter(-3), std::invalid_argument);
  EXPECT_THROW(ProcessMeter(0, 0), std::invalid_argument);
}

TEST(StepBench, NeitherMultipliesTf32NorSearches) {
  at::Context& context = at::globalContext();
  context.setAllowTF32CuDNN(true);
  StepBench bench({.network = "small4", .mode = "inference", .batch = 1, .threads = 1},
                  {.height = 32, .width = 32});
  int steps = 0;
  Job job;
  job.poll = [&] {
    EXPECT_FALSE(context.allowTF32CuDNN());
    EXPECT_FALSE(context.benchmarkCuDNN());
    ++steps;
  };
  bench.run(2, job);
  EXPECT_EQ(steps, 2);
  EXPECT_TRUE(context.allowTF32CuDNN());
}

}  // namespace
}  // namespace facebench

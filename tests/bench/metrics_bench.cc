// Kernels of the metrics floor on each instruction set, and the calls that are made of them.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "facebench/core/isa.h"
#include "facebench/core/random.h"
#include "facebench/metrics/all_pairs.h"
#include "facebench/metrics/internal/dot_kernels.h"
#include "facebench/metrics/internal/pair_panels.h"
#include "facebench/metrics/listed_pairs.h"
#include "facebench/metrics/tar_at_fars.h"

namespace facebench {
namespace {

constexpr std::int64_t kDim = 512;

// Unit normal vectors: the scores of different people.
const std::vector<float>& values(std::int64_t count) {
  static std::vector<float> all;
  const auto wanted = static_cast<std::size_t>(count * kDim);
  if (all.size() < wanted) {
    Random random(1, "bench");
    while (all.size() < wanted) all.push_back(static_cast<float>(random.normal()));
  }
  return all;
}
EmbeddingRows rows(std::int64_t count) {
  return EmbeddingRows(std::span(values(count)).first(static_cast<std::size_t>(count * kDim)),
                       kDim);
}
std::vector<std::int32_t> numbered(std::int64_t count, std::int64_t below) {
  Random random(2, "bench");
  std::vector<std::int32_t> result;
  while (static_cast<std::int64_t>(result.size()) < count)
    result.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(below))));
  return result;
}

void score_rate(benchmark::State& state, std::int64_t scores) {
  state.SetItemsProcessed(state.iterations() * scores);
  state.counters["flops"] = benchmark::Counter(
      2.0 * static_cast<double>(state.iterations() * scores * kDim), benchmark::Counter::kIsRate);
}

void dot_listed(benchmark::State& state, const DotKernels* kernels) {
  constexpr std::int64_t kPairs = 4096, kRows = 23'124;
  const EmbeddingRows set = rows(kRows);
  const auto first = numbered(2 * kPairs, kRows);
  std::vector<double> out(kPairs);
  for (auto _ : state)
    kernels->listed(set.data(), set.data(), kDim, first.data(), first.data() + kPairs, kPairs,
                    out.data());
  score_rate(state, kPairs);
}

void dot_block(benchmark::State& state, const DotKernels* kernels) {
  constexpr std::int64_t kSide = 64, kStride = kDim + 8;
  std::vector<double> wide(2 * kSide * kStride);
  for (std::int64_t i = 0; i < 2 * kSide; ++i)
    std::copy_n(values(2 * kSide).begin() + i * kDim, kDim, wide.begin() + i * kStride);
  std::vector<double> out(kSide * kSide);
  for (auto _ : state)
    kernels->block(wide.data(), kSide, wide.data() + kSide * kStride, kSide, kDim, kStride,
                   out.data(), kSide);
  score_rate(state, kSide * kSide);
}

enum class Then { nothing, above, tally };

// A block of panels as large as the scan's innermost loop.
void filter(benchmark::State& state, const FilterKernels* kernels, Then then) {
  const FilterKernels& k = *kernels;
  const std::int64_t groups = panel_groups(k, kDim);
  const std::int64_t row_panels = 16, column_panels = (512 << 10) / (groups * k.columns * 4);
  const auto pack = [&](std::int64_t panels, int width) {
    std::vector<std::int32_t> which(static_cast<std::size_t>(panels * width));
    for (std::size_t i = 0; i < which.size(); ++i) which[i] = static_cast<std::int32_t>(i);
    std::vector<std::uint32_t> out(which.size() * static_cast<std::size_t>(groups));
    const EmbeddingRows set = rows(panels * width);
    pack_panels(set, which, width, k, out.data());
    return out;
  };
  const auto a = pack(row_panels, k.rows), b = pack(column_panels, k.columns);
  const int tile = k.rows * k.columns;
  std::vector<float> scores(static_cast<std::size_t>(tile));
  std::vector<unsigned short> where(scores.size());
  std::vector<unsigned> counts(400);
  for (auto _ : state)
    for (std::int64_t r = 0; r < row_panels; ++r)
      for (std::int64_t c = 0; c < column_panels; ++c) {
        k.tile(a.data() + r * k.rows * groups, b.data() + c * k.columns * groups, groups,
               scores.data());
        if (then == Then::above)
          benchmark::DoNotOptimize(k.above(scores.data(), tile, 0.16f, where.data()));
        if (then == Then::tally) k.tally(scores.data(), tile, 200, 200, 400, counts.data());
      }
  score_rate(state, row_panels * column_panels * tile);
}

void listed_call(benchmark::State& state) {
  constexpr std::int64_t kPairs = 1 << 20, kRows = 23'124;
  const EmbeddingRows set = rows(kRows);
  const auto index = numbered(2 * kPairs, kRows);
  const auto first = std::span(index).first(kPairs), second = std::span(index).last(kPairs);
  std::vector<double> out(kPairs);
  for (auto _ : state) listed_pair_scores(set, set, first, second, out);
  score_rate(state, kPairs);
}

void dense_call(benchmark::State& state) {
  constexpr std::int64_t kRows = 4096;
  const EmbeddingRows set = rows(kRows);
  std::vector<float> out(kRows * kRows);
  for (auto _ : state) dense_scores(set, set, std::span(out));
  score_rate(state, kRows * kRows);
}

void all_pairs_call(benchmark::State& state, std::int64_t bins) {
  constexpr std::int64_t kRows = 16'384;
  const EmbeddingRows set = rows(kRows);
  const auto who = numbered(kRows, 4000);
  AllPairsOptions options;
  options.far = 1e-4;
  options.bins = bins;
  for (auto _ : state) benchmark::DoNotOptimize(all_pairs(set, who, options));
  score_rate(state, kRows * (kRows - 1) / 2);
}

void thresholds_call(benchmark::State& state) {
  constexpr std::int64_t kScores = 1 << 23;
  Random random(3, "bench");
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  for (std::int64_t i = 0; i < kScores; ++i) {
    labels.push_back(i % 800 == 0);
    scores.push_back(0.044 * random.normal() + 0.5 * labels.back());
  }
  const std::vector<double> fars{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
  for (auto _ : state) benchmark::DoNotOptimize(tar_at_fars(scores, labels, fars));
  state.SetItemsProcessed(state.iterations() * kScores);
}

[[maybe_unused]] const bool registered = [] {
  struct Set {
    Isa isa;
    const DotKernels* dot;
    const FilterKernels* filter;
  };
  const std::vector<Set> sets {
    {Isa::plain, &kDotKernelsPlain, &kFilterKernelsPlain},
#if defined(__x86_64__)
        {Isa::avx2, &kDotKernelsAvx2, &kFilterKernelsAvx2},
        {Isa::avx512, &kDotKernelsAvx512, &kFilterKernelsAvx512},
        {Isa::avx512bf16, nullptr, &kFilterKernelsAvx512Bf16},
#endif
  };
  const auto add = [](const std::string& name, auto... arguments) {
    return benchmark::RegisterBenchmark(name.c_str(), arguments...)->MinTime(0.2);
  };
  for (const Set& set : sets) {
    if (set.isa > supported_isa()) continue;
    const std::string isa(isa_name(set.isa));
    if (set.dot) {
      add("kernel/dot_listed/" + isa, dot_listed, set.dot);
      add("kernel/dot_block/" + isa, dot_block, set.dot);
    }
    add("kernel/filter/" + isa, filter, set.filter, Then::nothing);
    add("kernel/filter_above/" + isa, filter, set.filter, Then::above);
    add("kernel/filter_tally/" + isa, filter, set.filter, Then::tally);
  }
  add("call/listed_pair_scores", listed_call)->UseRealTime();
  add("call/dense_scores", dense_call)->UseRealTime();
  add("call/all_pairs", all_pairs_call, 0)->UseRealTime();
  add("call/all_pairs_400_bins", all_pairs_call, 400)->UseRealTime();
  add("call/tar_at_fars", thresholds_call)->UseRealTime();
  return true;
}();

}  // namespace
}  // namespace facebench

#include <benchmark/benchmark.h>

// BENCHMARK_MAIN() in the form that lets each FLOOR_bench.cc register what this processor runs.
int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}

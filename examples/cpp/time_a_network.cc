// Times training or inference of a network, as the field's papers do: the first iterations apart,
// the mean of many with its interval, split into the parts of a step.
//
//   time_a_network [NETWORK] [BATCH] [training|inference]     default: small4 8 training
#include <facebench/timing/series.h>
#include <facebench/timing/step_bench.h>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

int main(int argc, char** argv) try {
  facebench::StepOptions options;
  options.network = argc > 1 ? argv[1] : "small4";
  options.batch = argc > 2 ? std::stoi(argv[2]) : 8;
  options.mode = argc > 3 ? argv[3] : "training";
  options.classes = 1000;
  options.threads = 1;
  facebench::NetworkOptions network;  // zeros: the network's own input size
  if (argc == 1) network.height = network.width = 64;

  const auto memory = facebench::predict_step_memory(options, network);
  std::cout << "predicted: " << static_cast<double>(memory.total()) / (1 << 20) << " MiB\n";

  facebench::StepBench bench(options, network);
  const auto times = bench.run(30);
  const auto summary = facebench::summarize_times(times.iteration, {.skip = 10});
  std::cout << options.network << ", " << options.mode << ", batch " << options.batch << ": "
            << 1e3 * summary.mean << " ms [" << 1e3 * summary.mean_interval.low << ", "
            << 1e3 * summary.mean_interval.high << "], median " << 1e3 * summary.median << ", p95 "
            << 1e3 * summary.p95 << "; the first " << 1e3 * summary.first << "\n"
            << static_cast<double>(options.batch) / summary.mean << " images/s\n";
  for (std::size_t p = 0; p < facebench::kStepPhases; ++p)
    if (!times.phases[p].empty())
      std::cout << "  " << facebench::step_phase_name(static_cast<facebench::StepPhase>(p)) << ": "
                << 1e3 * facebench::summarize_times(times.phases[p], {.skip = 10}).mean << " ms\n";
  return EXIT_SUCCESS;
} catch (const std::exception& e) {
  std::cerr << "time_a_network: " << e.what() << "\n";
  return EXIT_FAILURE;
}

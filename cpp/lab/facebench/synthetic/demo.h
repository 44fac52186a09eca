#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"

namespace facebench {

struct DemoOptions {
  std::int64_t train_people = 200;
  std::int64_t train_images = 16;
  std::int64_t test_people = 100;
  std::int64_t test_images = 8;
  std::vector<std::string> protocols = {"lfw",          "vggface2_pose", "vggface2_age",
                                        "ijba_quality", "dfw",           "umdfaces"};
  std::string recipe = "demo";
  std::int64_t replicates = 1000;
  std::int64_t seed = 0;

  static void describe(OptionsBuilder<DemoOptions>& o);
};

struct DemoStep {
  std::string name;
  std::string detail;  // the result in a few words
  double seconds = 0;
};

// One system under one protocol.
struct DemoRun {
  std::string folder;  // relative to the demo's: "lfw/trained"
  std::string protocol;
  std::string title;  // of the system: "trained network"
};

struct DemoResult {
  std::filesystem::path folder;
  std::vector<DemoRun> runs;
  std::vector<DemoStep> steps;
};

// Synthetic faces -> detect -> crop -> train -> embed -> protocols, with three systems: the trained
// network, the same network untrained, and raw pixels; nobody is both trained and tested on, and no
// two data sets share people. The folder `out` then holds data/, packs/, training/, sheet.png,
// demo.json and for each protocol a folder with a run folder for each system. An earlier demo in
// `out` is replaced, anything else is refused (Error). Throws std::invalid_argument for a protocol
// that has no synthetic data set.
DemoResult demo(const DemoOptions& options, const std::filesystem::path& out, const Job& job = {});

}  // namespace facebench

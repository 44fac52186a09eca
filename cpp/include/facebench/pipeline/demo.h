#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options.h"

namespace facebench {

struct DemoOptions {
  std::int64_t train_people = 200;
  std::int64_t train_images = 16;
  std::int64_t test_people = 100;
  std::int64_t test_images = 8;
  std::string recipe = "demo";
  std::int64_t replicates = 1000;
  std::int64_t seed = 0;

  static void describe(OptionsBuilder<DemoOptions>& o) {
    o.name("DemoOptions", "The main job on synthetic faces.");
    o.field("train_people", &DemoOptions::train_people, "people to train on", 20, 1e6);
    o.field("train_images", &DemoOptions::train_images, "images of each of them", 2, 1e4);
    o.field("test_people", &DemoOptions::test_people, "other people, to test on", 20, 1e6);
    o.field("test_images", &DemoOptions::test_images, "images of each of them", 2, 1e4);
    o.field("recipe", &DemoOptions::recipe, "training recipe: a name or a TOML file");
    o.field("replicates", &DemoOptions::replicates, "bootstrap replicates", 20, 1e6);
    o.field("seed", &DemoOptions::seed, "of faces, training and resampling", 0, 4294967295.0);
  }
};

struct DemoStep {
  std::string name;
  std::string detail;  // what came of it, in a few words
  double seconds = 0;
};

struct DemoResult {
  std::filesystem::path folder;
  std::vector<std::string> runs;    // run folders inside of it: "trained", "untrained", ...
  std::vector<std::string> titles;  // one a run, for tables
  std::vector<DemoStep> steps;
};

// Synthetic faces -> detect -> crop -> train -> embed -> protocol, three times: the trained
// network, the same network untrained, and raw pixels; people are never both trained and tested on.
// The folder `out` then holds data/, train.h5, test.h5, training/, sheet.png, demo.json and a run
// folder for each. An earlier demo in `out` is replaced, anything else is refused (Error). `finish`
// (may be empty) may add files before the folder appears.
DemoResult demo(const DemoOptions& options, const std::filesystem::path& out, const Job& job = {},
                const std::function<void(const DemoResult&)>& finish = {});

}  // namespace facebench

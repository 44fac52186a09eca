#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "facebench/core/registry.h"
#include "facebench/training/batch_loader.h"

namespace facebench {

// Where the images of a timed iteration come from.
struct StepInputOptions {
  std::string source = "synthetic";  // of step_inputs()
  std::filesystem::path path;        // a pack, or a folder of images; empty: none
  std::int64_t batch = 16;
  int channels = 3;  // others: of noise alone
  int height = 112;
  int width = 112;
  int words = 0;                // of each sequence, in place of images; 0: images
  int vocabulary = 0;           // of the words, and of their labels
  std::int64_t classes = 1000;  // labels of images that have none of their own
  std::uint64_t seed = 0;
  bool channels_last = true;
  int data_threads = 1;  // that make batches ahead; 0: the step itself does the work
  int rank = 0;          // of several processes that share a batch
  int ranks = 1;
};

// Batches without end.
class StepInput {
 public:
  virtual ~StepInput() = default;
  // A batch on the CPU; images scaled to about -1 to 1, or words. Throws Error as the files do.
  virtual Batch next() = 0;
  // The number of classes that its labels need.
  virtual std::int64_t classes() const = 0;
  // Whether next() works (decodes, reads, scales) or hands out what is there.
  virtual bool works() const = 0;
};

struct StepInputEntry {
  std::string name;
  std::string doc;
  bool needs_path = false;
  std::unique_ptr<StepInput> (*make)(const StepInputOptions&);
};
// synthetic, preloaded, pack, files.
const Table<StepInputEntry>& step_inputs();
// Throws std::invalid_argument for an unknown source (did you mean), a path that is missing, words
// or other channels than three of a source of images, or a pack of another size; Error as the files
// do.
std::unique_ptr<StepInput> make_step_input(const StepInputOptions& options);

// Seconds of each of `batches` batches, made while nothing else runs, after two that are not
// counted.
std::vector<double> time_input(StepInput& input, std::int64_t batches);

// Decodes every file (already in memory) `rounds` times on `threads` threads; images per second.
// Throws Error naming a file that cannot be decoded.
double decode_rate(const std::vector<std::filesystem::path>& files, int threads, int rounds);

}  // namespace facebench

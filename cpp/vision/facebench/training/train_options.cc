#include "facebench/core/options.h"
#include "facebench/training/trainer.h"

namespace facebench {

void TrainOptions::describe(OptionsBuilder<TrainOptions>& o) {
  o.name("TrainOptions", "How a training is run.");
  o.field("resume", &TrainOptions::resume, "go on from the newest checkpoint");
  o.field("extend", &TrainOptions::extend,
          "folder of a finished training to go on from: its network, loss and momentum, by the "
          "recipe's schedule anew");
  o.field("threads", &TrainOptions::threads,
          "threads of the arithmetic, they decide the last bits; 0: the checkpoint's in a resume, "
          "otherwise one for each processor",
          0, 1024);
  o.field("data_threads", &TrainOptions::data_threads, "threads that make batches", 0, 1024);
  o.field("checkpoint_every", &TrainOptions::checkpoint_every,
          "steps between checkpoints; default: one at the end of each epoch", 1, 1e12);
  o.field("keep", &TrainOptions::keep, "checkpoints kept, the newest", 1, 1e6);
  o.field("log_every", &TrainOptions::log_every,
          "steps between lines of the log; up to 20 the first 20 steps have lines, too", 1, 1e9);
  o.field("device", &TrainOptions::device, "where it runs: cpu, cuda or cuda:N");
  o.field("deterministic", &TrainOptions::deterministic,
          "on CUDA, only kernels that give the same bits each time");
}

}  // namespace facebench

#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "facebench/nn/inference/plan.h"

namespace facebench {

struct InferenceWorkspace;

// Runs a plan. Of many images the calling thread and its helpers take group after group through all
// layers; images that are left over are computed by all threads together, layer by layer. Every
// number is computed in one order whatever the threads and the number of images, so that its bits
// depend on its image and the instruction set alone.
class InferenceEngine {
 public:
  explicit InferenceEngine(Plan plan);
  ~InferenceEngine();

  // images: float32 (N, C, H, W) on the CPU, in any memory order. Safe to call from several
  // threads at once; at::get_num_threads() says how many each call uses.
  at::Tensor run(const at::Tensor& images) const;
  // Seconds that each step of the plan takes of a run: the median of `rounds` runs, after one that
  // does not count. Threads that compute images side by side are averaged.
  std::vector<double> time_steps(const at::Tensor& images, int rounds) const;
  const Plan& plan() const { return plan_; }

 private:
  std::unique_ptr<InferenceWorkspace> take() const;
  void give_back(std::unique_ptr<InferenceWorkspace> workspace) const;
  // `seconds`, where not null, is what is added to for each step; run() has one for each thread.
  at::Tensor run(const at::Tensor& images, std::vector<std::vector<double>>* seconds) const;
  // Takes one after the other of so many groups of the first `total` images.
  void run_groups(const at::Tensor& images, std::int64_t total, std::int64_t groups,
                  std::atomic<std::int64_t>& next, float* out, double* seconds) const;
  void run_together(const at::Tensor& images, std::int64_t image, int threads, float* out,
                    double* seconds) const;

  Plan plan_;
  std::size_t group_;  // images that go through the shared steps in turn
  mutable std::mutex mutex_;
  // Kept for later calls.
  mutable std::vector<std::unique_ptr<InferenceWorkspace>> free_;
};

}  // namespace facebench

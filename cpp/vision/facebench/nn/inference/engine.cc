#include "facebench/nn/inference/engine.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "facebench/nn/inference/helper_threads.h"
#include "facebench/nn/inference/step_pass.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

// Memory that the images of a group take together, at most.
constexpr long kGroupFloats = 24L << 20;
constexpr std::size_t kMostInGroup = 8;

// Adds what `act` takes to seconds[step]; asks no clock where nobody wants to know.
template <class Act>
void timed(double* seconds, std::size_t step, const Act& act) {
  if (!seconds) return act();
  const auto begin = std::chrono::steady_clock::now();
  act();
  seconds[step] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The parts of a step, for whichever thread comes first. A thread whose core another program has
// taken keeps nobody waiting but for the part that it is in.
class StepParts {
 public:
  // Returns when all parts are done, by this thread or by others that call it.
  template <class Act>
  void run(int parts, const Act& act) {
    for (int part = 0; (part = next_.fetch_add(1, std::memory_order_relaxed)) < parts;) {
      const Done done(done_);
      act(part);
    }
    int done = 0;
    look_then_sleep([&] { return (done = done_.load(std::memory_order_acquire)) >= parts; },
                    [&] { done_.wait(done, std::memory_order_acquire); });
  }

 private:
  struct Done {  // also of a part that throws, so that nobody waits for it
    explicit Done(std::atomic<int>& count) : count(count) {}
    ~Done() {
      count.fetch_add(1, std::memory_order_release);
      count.notify_all();
    }
    Done(const Done&) = delete;
    Done& operator=(const Done&) = delete;
    std::atomic<int>& count;
  };
  std::atomic<int> next_ = 0, done_ = 0;
};

}  // namespace

InferenceEngine::InferenceEngine(Plan plan)
    : plan_(std::move(plan)),
      group_(std::clamp<std::size_t>(static_cast<std::size_t>(kGroupFloats / plan_.arena), 1,
                                     kMostInGroup)) {}

InferenceEngine::~InferenceEngine() = default;

std::unique_ptr<InferenceWorkspace> InferenceEngine::take() const {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return std::make_unique<InferenceWorkspace>();
  std::unique_ptr<InferenceWorkspace> workspace = std::move(free_.back());
  free_.pop_back();
  return workspace;
}

void InferenceEngine::give_back(std::unique_ptr<InferenceWorkspace> workspace) const {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(workspace));
}

void InferenceEngine::run_groups(const at::Tensor& images, std::int64_t total, std::int64_t groups,
                                 std::atomic<std::int64_t>& next, float* out,
                                 double* seconds) const {
  std::unique_ptr<InferenceWorkspace> workspace = take();
  StepPass pass(plan_, images, *workspace, 0, 1);
  const std::int64_t size = element_count(plan_.result_shape);
  for (std::int64_t g = 0; (g = next.fetch_add(1, std::memory_order_relaxed)) < groups;) {
    const std::int64_t first = total * g / groups;
    const auto count = static_cast<std::size_t>(total * (g + 1) / groups - first);
    std::vector<float*> arenas(count);
    for (std::size_t i = 0; i < count; ++i) {
      arenas[i] = workspace->arena(i, plan_.arena);
      for (std::size_t s = 0; s < plan_.shared_from; ++s)
        timed(seconds, s,
              [&] { pass.run(plan_.steps[s], {arenas[i]}, first + static_cast<std::int64_t>(i)); });
    }
    for (std::size_t s = plan_.shared_from; s < plan_.steps.size(); ++s)
      timed(seconds, s, [&] { pass.run(plan_.steps[s], arenas, first); });
    for (std::size_t i = 0; i < count; ++i)
      pass.read(plan_.result, arenas[i], out + (first + static_cast<std::int64_t>(i)) * size);
  }
  give_back(std::move(workspace));
}

void InferenceEngine::run_together(const at::Tensor& images, std::int64_t image, int threads,
                                   float* out, double* seconds) const {
  std::vector<std::unique_ptr<InferenceWorkspace>> workspaces;
  std::vector<StepPass> passes;
  for (int t = 0; t < threads; ++t) {
    workspaces.push_back(take());
    passes.emplace_back(plan_, images, *workspaces.back(), t, threads);
  }
  const std::vector<float*> arena{workspaces[0]->arena(0, plan_.arena)};
  std::vector<StepParts> parts(plan_.steps.size());
  with_helpers(threads, [&](int thread) {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s)
      timed(thread == 0 ? seconds : nullptr, s, [&] {
        parts[s].run(threads,
                     [&](int part) { passes[at_index(part)].run(plan_.steps[s], arena, image); });
      });
  });
  passes[0].read(plan_.result, arena[0], out + image * element_count(plan_.result_shape));
  for (auto& workspace : workspaces) give_back(std::move(workspace));
}

at::Tensor InferenceEngine::run(const at::Tensor& images) const { return run(images, nullptr); }

at::Tensor InferenceEngine::run(const at::Tensor& images,
                                std::vector<std::vector<double>>* seconds) const {
  std::vector<std::int64_t> sizes{images.size(0)};
  sizes.insert(sizes.end(), plan_.result_shape.begin(), plan_.result_shape.end());
  const at::Tensor result = at::empty(sizes, at::kFloat);
  auto* out = result.data_ptr<float>();
  const std::int64_t count = images.size(0);
  const int threads = at::in_parallel_region() ? 1 : at::get_num_threads();
  const std::int64_t each = count / threads;
  if (seconds) seconds->assign(at_index(threads), std::vector<double>(plan_.steps.size()));
  const auto seconds_of = [&](std::int64_t thread) {
    return seconds ? (*seconds)[static_cast<std::size_t>(thread)].data() : nullptr;
  };
  if (each > 0) {
    const auto most = static_cast<std::int64_t>(group_);
    const std::int64_t groups = (each + most - 1) / most * threads;
    std::atomic<std::int64_t> next = 0;
    with_helpers(threads, [&](int thread) {
      run_groups(images, each * threads, groups, next, out, seconds_of(thread));
    });
  }
  // The threads' common time is added to each, so that their mean holds it once.
  std::vector<double> together(seconds ? plan_.steps.size() : 0);
  for (std::int64_t image = each * threads; image < count; ++image)
    run_together(images, image, threads, out, seconds ? together.data() : nullptr);
  for (std::size_t s = 0; s < together.size(); ++s)
    for (std::vector<double>& of_thread : *seconds) of_thread[s] += together[s];
  return result;
}

std::vector<double> InferenceEngine::time_steps(const at::Tensor& images, int rounds) const {
  std::vector<std::vector<double>> by_step(plan_.steps.size()), by_thread;
  run(images);
  for (int round = 0; round < rounds; ++round) {
    run(images, &by_thread);
    for (std::size_t s = 0; s < by_step.size(); ++s) {
      double sum = 0;
      for (const std::vector<double>& seconds : by_thread) sum += seconds[s];
      by_step[s].push_back(sum / static_cast<double>(by_thread.size()));
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& seconds : by_step) {
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    medians.push_back(*middle);
  }
  return medians;
}

}  // namespace facebench

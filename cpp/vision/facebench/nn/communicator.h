#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

namespace facebench {

// Communication between the processes of one training. Calls are collective: every rank makes the
// same ones in the same order, with tensors of the same shapes and types (all_gather: types). Where
// a process has ended the others get an Error. Shaped after c10d's
// process group, which the many-process implementation wraps.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;  // in [0, size)
  virtual int size() const = 0;
  // Each tensor becomes the sum over all ranks, in place, the same bits on each rank.
  virtual void all_reduce(std::span<at::Tensor> tensors) = 0;
  // Each tensor becomes that of rank `root`, in place.
  virtual void broadcast(std::span<at::Tensor> tensors, int root) = 0;
  // The tensors of all ranks, by rank, with the same bits on each. They may differ in their first
  // extent, which may be 0.
  virtual std::vector<at::Tensor> all_gather(const at::Tensor& own) = 0;
  // Returns when every rank has called it.
  virtual void barrier() = 0;
};

// One process: every call returns at once.
class SingleProcess : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_reduce(std::span<at::Tensor>) override {}
  void broadcast(std::span<at::Tensor>, int) override {}
  std::vector<at::Tensor> all_gather(const at::Tensor& own) override { return {own}; }
  void barrier() override {}
};

}  // namespace facebench

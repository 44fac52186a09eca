#include "facebench/training/process_group.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace facebench {
namespace {

constexpr std::int64_t bucket_bytes = 25 << 20;  // as torch's DistributedDataParallel

class ProcessGroupCommunicator : public Communicator {
 public:
  ProcessGroupCommunicator(c10::intrusive_ptr<c10d::ProcessGroup> group, at::Device device)
      : group_(std::move(group)), device_(device) {}

  int rank() const override { return group_->getRank(); }
  int size() const override { return group_->getSize(); }

  void all_reduce(std::span<at::Tensor> tensors) override {
    in_buckets(tensors, [&](std::vector<at::Tensor>& flat) { return group_->allreduce(flat); });
  }

  void broadcast(std::span<at::Tensor> tensors, int root) override {
    c10d::BroadcastOptions options;
    options.rootRank = root;
    in_buckets(tensors,
               [&](std::vector<at::Tensor>& flat) { return group_->broadcast(flat, options); });
  }

  // Not the group's own: NCCL's would have to guess the device.
  void barrier() override {
    at::Tensor one = at::ones({1}, at::TensorOptions(at::kFloat));
    all_reduce(std::span(&one, 1));
  }

 private:
  using Call = std::function<c10::intrusive_ptr<c10d::Work>(std::vector<at::Tensor>&)>;

  struct Bucket {
    std::vector<at::Tensor*> members;
    std::vector<at::Tensor> flat;  // one tensor, as the group's calls take it
    c10::intrusive_ptr<c10d::Work> work;
  };

  void in_buckets(std::span<at::Tensor> tensors, const Call& call) const {
    const at::NoGradGuard no_grad;
    std::vector<Bucket> buckets;
    // Tensors of one type fill a bucket in their order, which is the same on every rank.
    std::map<at::ScalarType, std::pair<std::size_t, std::int64_t>> open;  // bucket, bytes
    for (at::Tensor& t : tensors) {
      const auto bytes = static_cast<std::int64_t>(t.nbytes());
      const auto it = open.find(t.scalar_type());
      if (it == open.end() || it->second.second + bytes > bucket_bytes) {
        open[t.scalar_type()] = {buckets.size(), 0};
        buckets.emplace_back();
      }
      auto& [bucket, filled] = open[t.scalar_type()];
      buckets[bucket].members.push_back(&t);
      filled += bytes;
    }
    for (Bucket& b : buckets) {
      std::vector<at::Tensor> parts;
      for (const at::Tensor* t : b.members) parts.push_back(t->reshape(-1));
      b.flat = {at::cat(parts).to(device_)};
      b.work = call(b.flat);
    }
    for (Bucket& b : buckets) {
      b.work->wait();
      std::int64_t at = 0;
      for (at::Tensor* t : b.members) {
        t->copy_(b.flat.front().narrow(0, at, t->numel()).view(t->sizes()));
        at += t->numel();
      }
    }
  }

  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  at::Device device_;
};

}  // namespace

std::unique_ptr<Communicator> process_group_communicator(
    c10::intrusive_ptr<c10d::ProcessGroup> group, at::Device device) {
  return std::make_unique<ProcessGroupCommunicator>(std::move(group), device);
}

}  // namespace facebench

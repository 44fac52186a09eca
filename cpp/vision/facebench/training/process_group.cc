#include "facebench/training/process_group.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/nn/internal/aten.h"

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

  // The group's own wants equal shapes: the number of rows goes ahead, and the rows are filled up.
  std::vector<at::Tensor> all_gather(const at::Tensor& own) override {
    const at::NoGradGuard no_grad;
    const at::Tensor count = at::full({1}, own.size(0), at::TensorOptions(at::kLong));
    std::vector<std::int64_t> counts;
    for (const at::Tensor& t : gathered(count)) counts.push_back(t.item<std::int64_t>());
    std::vector<std::int64_t> size = own.sizes().vec();
    size[0] = *std::max_element(counts.begin(), counts.end());
    at::Tensor padded = at::zeros(size, own.options());
    padded.narrow(0, 0, own.size(0)).copy_(own);
    std::vector<at::Tensor> all = gathered(padded);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = all[i].narrow(0, 0, counts[i]).to(own.device());
    return all;
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

  std::vector<at::Tensor> gathered(const at::Tensor& own) const {
    std::vector<at::Tensor> in{own.to(device_).contiguous()};
    std::vector<std::vector<at::Tensor>> out(1);
    for (int i = 0; i < size(); ++i) out[0].push_back(at::empty_like(in[0]));
    in_group([&] { return group_->allgather(out, in); });
    return out[0];
  }

  // Runs a call of the group to its end. Gloo's and NCCL's own messages name neither what happened
  // nor what to do.
  template <class Call>
  void in_group(const Call& call) const {
    try {
      call()->wait();
    } catch (const std::exception& error) {
      lost(error);
    }
  }

  [[noreturn]] void lost(const std::exception& error) const {
    const std::string_view why = error.what();
    fail(fmt::format("process {} of {}", rank(), size()),
         fmt::format("another process of this training has ended or cannot be reached ({})",
                     why.substr(0, why.find('\n'))),
         "Resume from the last checkpoint");
  }

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
      try {
        b.work = call(b.flat);
      } catch (const std::exception& error) {
        lost(error);
      }
    }
    for (Bucket& b : buckets) {
      in_group([&] { return b.work; });
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

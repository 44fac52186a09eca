#pragma once

#include <atomic>
#include <barrier>
#include <exception>
#include <functional>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "facebench/nn/communicator.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {

// Threads as the processes of one training. Where one throws, so do the others in their next
// exchange.
class ThreadProcesses {
 public:
  explicit ThreadProcesses(int size) : gate_(size), given_(static_cast<std::size_t>(size)) {}

  // Calls body(communicator) in each, and rethrows what one of them threw after all have ended.
  void run(const std::function<void(Communicator&)>& body) {
    std::vector<std::exception_ptr> failures(given_.size());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < given_.size(); ++rank)
      threads.emplace_back([&, rank] {
        Member member(*this, static_cast<int>(rank));
        try {
          body(member);
        } catch (...) {
          failures[rank] = std::current_exception();
          failed_ = true;
          gate_.arrive_and_drop();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
  }

 private:
  using Tensors = std::vector<at::Tensor>;

  class Member : public Communicator {
   public:
    Member(ThreadProcesses& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(all_.given_.size()); }
    void all_reduce(std::span<at::Tensor> tensors) override {
      exchange(tensors, [&] {
        for (std::size_t i = 0; i < tensors.size(); ++i) {
          at::Tensor sum = all_.given_[0][i].clone();
          for (std::size_t r = 1; r < all_.given_.size(); ++r) sum += all_.given_[r][i];
          tensors[i].copy_(sum);
        }
      });
    }
    void broadcast(std::span<at::Tensor> tensors, int root) override {
      exchange(tensors, [&] {
        for (std::size_t i = 0; i < tensors.size(); ++i)
          tensors[i].copy_(all_.given_[static_cast<std::size_t>(root)][i]);
      });
    }
    std::vector<at::Tensor> all_gather(const at::Tensor& own) override {
      Tensors tensors{own}, result;
      exchange(tensors, [&] {
        for (const Tensors& given : all_.given_) result.push_back(given[0].clone());
      });
      return result;
    }
    void barrier() override {
      all_.gate_.arrive_and_wait();
      if (all_.failed_) throw std::runtime_error("another process has ended");
    }

   private:
    template <class Take>
    void exchange(std::span<const at::Tensor> tensors, const Take& take) {
      Tensors& given = all_.given_[static_cast<std::size_t>(rank_)];
      given.clear();
      for (const at::Tensor& t : tensors) given.push_back(t.detach().clone());
      barrier();
      take();
      barrier();
    }
    ThreadProcesses& all_;
    int rank_;
  };

  std::barrier<> gate_;
  std::atomic<bool> failed_ = false;
  std::vector<Tensors> given_;
};

}  // namespace facebench

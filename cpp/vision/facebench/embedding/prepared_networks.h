#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/nn/network.h"

namespace facebench {

// What inference makes of a network's weights (batch norms folded, weights laid out, a copy on a
// card), kept so that a call with few images costs what the network costs. Two are kept, those
// that were used last; they are released with this. Safe to call from several threads.
class PreparedNetworks {
 public:
  using Make = std::function<std::shared_ptr<const void>()>;

  // What `make` made for `use` ("own float32"), by this call or by one before; made anew where the
  // weights have changed since. A change is one that torch counts (Tensor::_version) or a tensor
  // that was exchanged.
  template <class Prepared>
  std::shared_ptr<const Prepared> get(
      const Network& weights, const std::string& use,
      const std::function<std::shared_ptr<const Prepared>()>& make) {
    return std::static_pointer_cast<const Prepared>(find(weights, use, make));
  }

  // From now on somebody else holds the weights, who may change them unknown to torch (through a
  // numpy array): calls compare all of their numbers.
  void weights_are_shared();

 private:
  // The weights as they were: the same memory, the same version, the same sum of all numbers.
  struct Seen {
    at::Tensor tensor;  // keeps the memory, so that no other tensor comes to lie there
    std::int64_t version = 0;
  };
  struct Entry {
    std::string use;
    std::vector<Seen> weights;
    std::uint64_t numbers = 0;
    std::shared_ptr<const void> prepared;
  };
  std::shared_ptr<const void> find(const Network& weights, const std::string& use,
                                   const Make& make);
  bool holds(const Entry& entry, const std::vector<NamedTensor>& tensors,
             std::uint64_t numbers) const;

  std::mutex mutex_;
  bool shared_ = false;
  std::vector<Entry> entries_;  // the last used first
};

}  // namespace facebench

#include "facebench/embedding/prepared_networks.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace facebench {
namespace {

constexpr std::size_t kKept = 2;

std::int64_t version_of(const at::Tensor& tensor) {
  return tensor.is_inference() ? 0 : static_cast<std::int64_t>(tensor._version());
}

// A number that another value in any place changes (FNV-1a over words of eight bytes).
std::uint64_t numbers_of(const std::vector<NamedTensor>& tensors) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const NamedTensor& t : tensors) {
    const at::Tensor values = t.tensor.cpu().contiguous();
    const auto* bytes = static_cast<const char*>(values.const_data_ptr());
    for (std::size_t left = values.nbytes(); left > 0;) {
      const std::size_t taken = std::min(left, sizeof(std::uint64_t));
      std::uint64_t word = 0;
      std::memcpy(&word, bytes, taken);
      hash = (hash ^ word) * 1099511628211ULL;
      bytes += taken;
      left -= taken;
    }
  }
  return hash;
}

}  // namespace

void PreparedNetworks::weights_are_shared() {
  const std::lock_guard lock(mutex_);
  shared_ = true;
  entries_.clear();  // nobody knows the sums of their numbers
}

bool PreparedNetworks::holds(const Entry& entry, const std::vector<NamedTensor>& tensors,
                             std::uint64_t numbers) const {
  return entry.numbers == numbers &&
         std::ranges::equal(entry.weights, tensors, [](const Seen& then, const NamedTensor& now) {
           return then.tensor.is_alias_of(now.tensor) &&
                  then.tensor.const_data_ptr() == now.tensor.const_data_ptr() &&
                  then.version == version_of(now.tensor);
         });
}

std::shared_ptr<const void> PreparedNetworks::find(const Network& weights, const std::string& use,
                                                   const Make& make) {
  const std::lock_guard lock(mutex_);
  const std::vector<NamedTensor> tensors = weights.tensors();
  const std::uint64_t numbers = shared_ ? numbers_of(tensors) : 0;
  const auto kept = std::ranges::find(entries_, use, &Entry::use);
  if (kept != entries_.end() && holds(*kept, tensors, numbers)) {
    std::rotate(entries_.begin(), kept, kept + 1);
    return entries_.front().prepared;
  }
  if (kept != entries_.end()) entries_.erase(kept);
  if (entries_.size() == kKept) entries_.pop_back();
  Entry entry{use, {}, numbers, make()};
  for (const NamedTensor& t : tensors)
    entry.weights.push_back({t.tensor.detach(), version_of(t.tensor)});
  entries_.insert(entries_.begin(), std::move(entry));
  return entries_.front().prepared;
}

}  // namespace facebench

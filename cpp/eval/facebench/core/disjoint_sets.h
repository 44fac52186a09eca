#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace facebench {

// Numbers from 0 on in sets that grow together; each begins alone. A set goes by its least number.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t numbers) : parent_(numbers) {
    for (std::size_t n = 0; n < numbers; ++n) parent_[n] = static_cast<std::int32_t>(n);
  }
  std::int32_t least(std::int32_t n) {
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }
  void join(std::int32_t a, std::int32_t b) {
    a = least(a);
    b = least(b);
    if (a < b)
      parent_[b] = a;
    else
      parent_[a] = b;
  }
  // least() of every number.
  std::vector<std::int32_t> all() {
    std::vector<std::int32_t> result;
    for (const std::int32_t parent : parent_) result.push_back(least(parent));
    return result;
  }

 private:
  std::vector<std::int32_t> parent_;
};

}  // namespace facebench

#include "metrics/tail_collector.h"

#include <algorithm>
#include <functional>

namespace facebench {

TailCollector::TailCollector(std::int64_t wanted, double bound)
    : wanted_(wanted),
      capacity_(static_cast<std::size_t>(wanted + std::max<std::int64_t>(wanted / 2, 1 << 16))),
      bound_(bound) {}

void TailCollector::add(std::span<const double> scores) {
  std::lock_guard lock(mutex_);
  for (const double score : scores) {
    const double bound = bound_.load(std::memory_order_relaxed);
    if (score == bound) {
      ++equal_;
    } else if (score > bound) {
      above_.push_back(score);
      if (above_.size() >= capacity_) compact();
    }
  }
}

// At least `wanted` scores lie above the bound: raises it to the lowest wanted one.
void TailCollector::compact() {
  const auto last = above_.begin() + (wanted_ - 1);
  std::nth_element(above_.begin(), last, above_.end(), std::greater<double>());
  const double lowest = *last;
  equal_ = std::count(above_.begin(), above_.end(), lowest);
  std::erase_if(above_, [&](double score) { return score <= lowest; });
  bound_ = lowest;
}

void TailCollector::finish(ScoreTail& tail) {
  if (static_cast<std::int64_t>(above_.size()) >= wanted_ && wanted_ > 0) compact();
  tail.impostor_reach = count();
  std::sort(above_.begin(), above_.end(), std::greater<double>());
  // Where the tail wants fewer than came, all that came but are not above equal the bound.
  above_.resize(static_cast<std::size_t>(std::min(wanted_, count())), bound());
  tail.impostor = std::move(above_);
}

}  // namespace facebench

#include "facebench/metrics/internal/tail_collector.h"

#include <algorithm>

namespace facebench {

TailCollector::TailCollector(std::int64_t wanted, double bound, std::int64_t equal)
    : wanted_(wanted),
      capacity_(static_cast<std::size_t>(wanted + std::max<std::int64_t>(wanted / 2, 1 << 12))),
      bound_(bound),
      equal_(equal) {}

void TailCollector::add(std::span<const Entry> entries) {
  std::lock_guard lock(mutex_);
  for (const Entry& entry : entries) {
    const double bound = bound_.load(std::memory_order_relaxed);
    if (entry.score == bound) {
      ++equal_;
    } else if (entry.score > bound) {
      above_.push_back(entry);
      if (above_.size() >= capacity_) compact();
    }
  }
}

// At least `wanted` scores lie above the bound: raises it to the lowest wanted one.
void TailCollector::compact() {
  const auto last = above_.begin() + (wanted_ - 1);
  std::nth_element(above_.begin(), last, above_.end(),
                   [](const Entry& a, const Entry& b) { return a.score > b.score; });
  const double lowest = last->score;
  equal_ = std::ranges::count(above_, lowest, &Entry::score);
  std::erase_if(above_, [&](const Entry& entry) { return entry.score <= lowest; });
  bound_ = lowest;
}

void TailCollector::list_above(ScoreTail& tail) {
  tail.impostor_reach = count();
  std::ranges::sort(above_, before);
  for (const Entry& entry : above_) {
    tail.impostor.push_back(entry.score);
    tail.impostor_row.push_back(entry.row);
    tail.impostor_column.push_back(entry.column);
  }
}

void TailCollector::finish(ScoreTail& tail) {
  if (static_cast<std::int64_t>(above_.size()) >= wanted_ && wanted_ > 0 &&
      tail.impostor_count > wanted_)
    compact();
  list_above(tail);
  // If more scores came than the tail keeps, those that are not above the bound are equal to it.
  tail.impostor.resize(static_cast<std::size_t>(std::min(wanted_, count())), bound());
}

}  // namespace facebench

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace facebench {

// Error versus reject: the error rate that remains when the worst share of comparisons is set
// aside. Good quality values (or confidences) reject the wrong ones first. Source: Grother &
// Tabassi, "Performance of biometric quality measures", IEEE TPAMI 2007; Schlett et al.,
// "Considerations on the evaluation of biometric quality assessment algorithms", 2023.
struct RejectCurve {
  // One point for each number of comparisons that can be rejected (equal qualities go together),
  // the first with none, the last with all of one quality left.
  std::vector<double> rejected;     // share set aside, rising from 0
  std::vector<double> error;        // of those kept
  std::vector<double> quality;      // the lowest quality kept
  std::vector<std::int64_t> wrong;  // among those kept
  std::vector<std::int64_t> kept;
  std::size_t size() const { return rejected.size(); }
  // Adds a point, whose error follows.
  void add(double share_rejected, double lowest_quality, std::int64_t wrong_kept,
           std::int64_t all_kept);

  // The area under the curve (a step function: an error holds until more is rejected) from 0 to
  // `limit`, divided by limit: the mean error of what is kept. limit in (0, 1], else
  // std::invalid_argument.
  double area(double limit = 1) const;
  // The area that the best qualities would have, which reject every wrong comparison first.
  double best_area(double limit = 1) const;
};

// wrong: 1 where a comparison is decided wrongly. quality: of each comparison (of two images the
// lower one's), higher = better, finite. Throws std::invalid_argument for lengths that differ, no
// comparison, a flag other than 0 and 1, and a quality that is not finite.
RejectCurve error_versus_reject(std::span<const std::uint8_t> wrong,
                                std::span<const double> quality);

}  // namespace facebench

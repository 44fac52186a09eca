#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "facebench/core/job.h"

namespace facebench {

// Searches of probes in a gallery, ranked once, so that every metric, and each of a bootstrap's
// thousand replicates, is one pass over the probes.
//
// Candidates are people, not images: a person in the gallery scores as the highest of their gallery
// entries. A probe whose identity is in the gallery is mated; one whose identity is not is
// non-mated, and every answer to it is false.
class Searches {
 public:
  // similarity: probes x gallery entries, row-major, finite, higher = more alike. Throws
  // std::invalid_argument for a NaN or infinite score (row and column named), for sizes that do not
  // fit, for no probes and for an empty gallery.
  Searches(std::span<const double> similarity, std::span<const std::int32_t> probe_identity,
           std::span<const std::int32_t> gallery_identity, const Job& job = {});
  Searches(std::span<const float> similarity, std::span<const std::int32_t> probe_identity,
           std::span<const std::int32_t> gallery_identity, const Job& job = {});

  std::size_t size() const { return score_.size(); }  // probes
  std::int64_t mated() const { return mated_count_; }
  std::int64_t non_mated() const { return static_cast<std::int64_t>(size()) - mated_count_; }
  std::int64_t gallery() const { return gallery_; }  // people in the gallery

  // All of the following in the caller's order of probes.
  std::span<const std::uint8_t> is_mated() const { return is_mated_; }
  // The mate's score of a mated probe; the highest score of a non-mated one.
  std::span<const double> score() const { return score_; }
  // Other people with a higher score than the mate, and with the same one; 0 for non-mated probes.
  std::span<const std::int32_t> ahead() const { return ahead_; }
  std::span<const std::int32_t> tied() const { return tied_; }

  // Probes by descending score(); equal ones in the caller's order.
  std::span<const std::uint32_t> order() const { return order_; }

  // The highest scores of mated probes with people who are not their mates, descending: twice as
  // many as there are mated probes (or all). What the convention "ijb_1n" thresholds.
  struct Impostor {
    double score;
    std::uint32_t probe;
  };
  std::span<const Impostor> impostors() const { return impostors_; }

 private:
  template <class T>
  void search(std::span<const T> similarity, std::span<const std::int32_t> probe_identity,
              std::span<const std::int32_t> gallery_identity, const Job& job);

  std::vector<std::uint8_t> is_mated_;
  std::vector<double> score_;
  std::vector<std::int32_t> ahead_;
  std::vector<std::int32_t> tied_;
  std::vector<std::uint32_t> order_;
  std::vector<Impostor> impostors_;
  std::int64_t mated_count_ = 0;
  std::int64_t gallery_ = 0;
};

}  // namespace facebench

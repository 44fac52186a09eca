#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/metrics/embedding_rows.h"

namespace facebench {

// What is kept of searches without their scores: enough for every identification metric. Vectors
// have one entry a probe, in the caller's order.
struct SearchRecord {
  // A score of a mated probe with somebody who is not its mate.
  struct Impostor {
    double score;
    std::uint32_t probe;
    bool operator==(const Impostor&) const = default;
  };

  std::int64_t gallery = 0;            // people in the gallery
  std::vector<std::uint8_t> is_mated;  // whether the probe's identity is in the gallery
  // The mate's score of a mated probe; the highest score of a non-mated one.
  std::vector<double> score;
  // Other people with a higher score than the mate, and with the same one; 0 for non-mated probes.
  std::vector<std::int32_t> ahead, tied;
  // The highest, descending: twice as many as there are mated probes (or all). What the convention
  // "ijb_1n" thresholds.
  std::vector<Impostor> impostors;

  bool operator==(const SearchRecord&) const = default;
};

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
  // The same of more scores than can be stored: rows(first, count) gives those of some probes,
  // `count` x gallery entries, and is asked for each probe once, in order.
  using Rows = std::function<std::vector<float>(std::size_t first, std::size_t count)>;
  Searches(const Rows& rows, std::span<const std::int32_t> probe_identity,
           std::span<const std::int32_t> gallery_identity, const Job& job = {});
  // From what was kept. Throws std::invalid_argument for a record that cannot come from searches.
  explicit Searches(SearchRecord record);

  const SearchRecord& record() const { return record_; }
  std::size_t size() const { return record_.score.size(); }  // probes
  std::int64_t mated() const { return mated_count_; }
  std::int64_t non_mated() const { return static_cast<std::int64_t>(size()) - mated_count_; }

  // As in the record.
  std::int64_t gallery() const { return record_.gallery; }
  std::span<const std::uint8_t> is_mated() const { return record_.is_mated; }
  std::span<const double> score() const { return record_.score; }
  std::span<const std::int32_t> ahead() const { return record_.ahead; }
  std::span<const std::int32_t> tied() const { return record_.tied; }
  std::span<const SearchRecord::Impostor> impostors() const { return record_.impostors; }

  // Probes by descending score(); equal ones in the caller's order.
  std::span<const std::uint32_t> order() const { return order_; }

 private:
  void finish();

  SearchRecord record_;
  std::vector<std::uint32_t> order_;
  std::int64_t mated_count_ = 0;
};

// Every probe searched in the gallery by cosine (embedding_rows.h, rounded to float32 once), in
// memory that does not grow with the number of scores. Throws std::invalid_argument for dimensions
// that differ and a number of identities other than of embeddings, Error for an embedding without
// direction. The same on every processor, for any number of threads.
Searches search_embeddings(const EmbeddingRows& probes,
                           std::span<const std::int32_t> probe_identity,
                           const EmbeddingRows& gallery,
                           std::span<const std::int32_t> gallery_identity, const Job& job = {});

}  // namespace facebench

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/claims/claim_sources.h"
#include "facebench/claims/printed_number.h"
#include "facebench/evaluation/spec.h"

namespace facebench {

// Can a printed number exist? A rate that is counted out of `total` things is k / total for a whole
// number k, so with enough digits most printed numbers are impossible.

// Whole numbers first..last; none where last < first.
struct CountRange {
  std::int64_t first = 0;
  std::int64_t last = -1;
  bool empty() const { return last < first; }
  std::int64_t size() const { return empty() ? 0 : last - first + 1; }
};

// Ways in which a value becomes the printed one.
struct Rounding {
  std::string name;  // "nearest", "down", "up"
  std::string doc;
};
const Table<Rounding>& roundings();

// The k in 0..total with k / total printed so; for "nearest" a value exactly half way counts for
// both neighbours. Exact integers. Throws std::invalid_argument for an unknown rounding, total < 1,
// and for total * scale above 2^61.
CountRange counts_printed_as(const PrintedNumber& printed, std::int64_t total,
                             std::string_view rounding);

// What a claim is about. Numbers that are 0 are taken from the protocol where one is named.
struct ClaimOptions {
  std::string metric = "accuracy";
  // Unset: what the protocol says.
  std::optional<std::string> track;
  std::optional<std::int64_t> genuine;
  std::optional<std::int64_t> impostor;
  std::optional<std::int64_t> folds;
  double level = 0.95;
  double power = 0.8;
  static void describe(OptionsBuilder<ClaimOptions>& o);
};

// The false accepts to expect behind a TAR at a FAR.
struct FarSupport {
  double far = 0;
  double expected_false_accepts = 0;  // far * impostor
  bool reliable = false;              // at least ten, as TarAtFar has it
  double achievable_far = 0;          // the largest k / impostor that does not exceed far
  std::int64_t impostors_for_one = 0, impostors_for_ten = 0;
};

// How many independent comparisons (in each class that the metric counts, all together for an
// accuracy) tell two rates apart, two-sided, at the given level and power.
struct SampleSize {
  // Two systems on different comparisons (two proportions).
  std::int64_t unpaired = 0;
  // The same comparisons (McNemar): where the better system's errors are all errors of the other
  // too, the most favourable case, and where the two err independently.
  std::int64_t paired_nested = 0, paired_independent = 0;
  // People for `paired_independent`, if no two comparisons shared anybody: one for a genuine
  // comparison, two for an impostor. Shared people make it more.
  std::int64_t identities = 0;
};
// a, b in (0, 1), not equal. `people_per_comparison`: 1 genuine, 2 impostor, 1.5 half and half.
// Source: Fleiss, Levin, Paik, Statistical Methods for Rates and Proportions, 2003, (4.14) without
// continuity correction; Connor, "Sample size for testing differences in proportions for the
// paired-sample design", Biometrics 1987.
SampleSize sample_size(double a, double b, double people_per_comparison, double level,
                       double power);

struct Claim {
  PrintedNumber printed;
  std::string metric;
  std::string protocol;    // id, or empty
  std::int64_t total = 0;  // what the rate is counted out of
  std::int64_t folds = 0;  // of equal size, 0 = none: their mean is a count out of `total` too
  struct Possible {
    std::string rounding;
    CountRange counts;
  };
  std::vector<Possible> possible;  // one for each rounding
  // The neighbours of the printed value among k / total.
  std::int64_t below = 0, above = 0;
  // If rounding to the nearest cannot give it: the smallest number of comparisons left out of
  // `total` (such as dropped failed enrolments) that makes it possible; 0 = none up to a tenth.
  std::int64_t left_out = 0;
  std::optional<FarSupport> far;
  // The spread over the folds that was printed with it, and for each of spread_kinds() the counts
  // of the number with which the folds can have it; no kinds without folds.
  struct Spread {
    PrintedNumber printed;
    struct Kind {
      std::string name;
      std::vector<std::int64_t> counts;
      bool exact = true;  // CountsWithSpread
    };
    std::vector<Kind> kinds;
  };
  std::optional<Spread> spread;
  // Against a second claim of the same kind.
  std::optional<PrintedNumber> against;
  std::optional<SampleSize> apart;  // none where both print the same
  double level = 0, power = 0;      // of `apart`
  // Where the two are printed already, for the same protocol, track and metric.
  std::vector<ClaimSource> sources, against_sources;

  bool exists(std::string_view rounding = "nearest") const;
};

// Tests a printed number, with its spread where it has one (parse_printed_with_spread; that of
// `against` is not tested). `spec` (may be null) gives the counts of its official list. Throws
// std::invalid_argument for a metric that is none of the four, a protocol whose counts are not
// stated, and where neither a protocol nor counts say what the number is counted out of.
Claim check_claim(std::string_view printed, const ProtocolSpec* spec = nullptr,
                  const ClaimOptions& options = {}, std::string_view against = "");

Json claim_json(const Claim& claim);

}  // namespace facebench

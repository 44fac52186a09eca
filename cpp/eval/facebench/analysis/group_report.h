#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "facebench/io/json.h"
#include "facebench/metrics/group_rates.h"

namespace facebench {

// Error rates by groups of people of a run, from a table of attributes beside it.

struct GroupReportOptions {
  std::optional<std::string> column;  // unset: the second
  std::optional<std::string> key;     // unset: the first
  std::optional<std::string> track;   // unset: the run's only verification
  std::optional<double> threshold;    // unset: that of `far`
  double far = 0.001;
  std::string impostors = "all";

  static void describe(OptionsBuilder<GroupReportOptions>& o);
};

struct GroupReport {
  std::string protocol, track, column;
  std::string threshold_from;  // a sentence: where the threshold comes from
  std::int64_t comparisons = 0;
  std::int64_t left_out = 0;     // comparisons with a failed enrolment that the run leaves out
  std::int64_t not_matched = 0;  // impostor comparisons that matching leaves out
  std::int64_t unknown = 0;      // people or samples of the track without an attribute
  std::int64_t unused_rows = 0;  // of the table: nobody of the track
  GroupRates rates;
};

// The rates of the groups that column `column` of a CSV file (with a header) forms. Its column
// `key` names people, or samples (with or without extension) where an attribute changes from
// photograph to photograph. Who has no row or an empty cell belongs to the group "(unknown)". The
// threshold is the one that gives `far` by the rule "exact" on all comparisons of the track, those
// of the run `other` where it is not empty (a threshold chosen there is tested here), or
// `threshold`. With impostors "matched" impostor comparisons of two groups, or of an unknown one,
// are left out, so that FMR and FAR are those of people who share a group; there is then no
// permutation test. Throws Error where files cannot be read, the run's track is not a list whose
// scores were all kept, or no row of the table names anybody; std::invalid_argument for an unknown
// track.
GroupReport group_report(const std::filesystem::path& run, const std::filesystem::path& attributes,
                         const GroupReportOptions& options, const GroupRatesOptions& rates = {},
                         const std::filesystem::path& other = {}, const Job& job = {});

// With all digits.
Json group_report_json(const GroupReport& report);

}  // namespace facebench

#include <fmt/format.h>

#include <cmath>

#include "facebench/datasets/exclusion.h"
#include "facebench/datasets/overlap.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

const std::string& person_of(const OverlapSide& side, std::int32_t i) {
  return side.people[static_cast<std::size_t>(i)];
}

std::string sample_of(const OverlapSide& side, std::int64_t i) {
  return i < 0 ? std::string() : side.samples[static_cast<std::size_t>(i)];
}

std::string why(const OverlapReport& report, const OverlapEntry& e) {
  std::string text;
  if (!e.rule.empty()) text = fmt::format("name: {}", e.rule);
  if (e.similar_pairs > 0)
    text += fmt::format("{}{} pairs of images at or above {:.4f}", text.empty() ? "" : "; ",
                        e.similar_pairs, report.threshold);
  else if (report.compared_images)
    text += std::isnan(e.score) ? "; no images to compare" : "; no similar images: a namesake?";
  return text;
}

}  // namespace

std::string overlap_csv(const OverlapReport& report) {
  std::string out = csv_record({"person", "images", "match", "why", "name_rule", "similar_pairs",
                                "score", "threshold", "sample", "match_sample"});
  for (const OverlapEntry& e : report.entries)
    out += csv_record({person_of(report.train, e.person), fmt::format("{}", e.images),
                       person_of(report.test, e.match), why(report, e), e.rule,
                       fmt::format("{}", e.similar_pairs),
                       std::isnan(e.score) ? "" : fmt::format("{}", e.score),
                       report.compared_images ? fmt::format("{}", report.threshold) : "",
                       sample_of(report.train, e.sample), sample_of(report.test, e.match_sample)});
  return out;
}

Json overlap_json(const OverlapReport& report) {
  Json entries = Json::array();
  for (const OverlapEntry& e : report.entries)
    entries.push_back({{"person", person_of(report.train, e.person)},
                       {"images", e.images},
                       {"match", person_of(report.test, e.match)},
                       {"why", why(report, e)},
                       {"name_rule", e.rule},
                       {"similar_pairs", e.similar_pairs},
                       {"score", std::isnan(e.score) ? Json() : Json(e.score)},
                       {"sample", sample_of(report.train, e.sample)},
                       {"match_sample", sample_of(report.test, e.match_sample)}});
  const auto side = [](const OverlapSide& s, std::int64_t unnamed) {
    return Json{{"name", s.name},
                {"people", s.people.size()},
                {"images", s.samples.size()},
                {"identifiers", unnamed}};
  };
  return {{"train", side(report.train, report.train_unnamed)},
          {"test", side(report.test, report.test_unnamed)},
          {"options", options_to_json(report.options)},
          {"compared_images", report.compared_images},
          {"threshold", report.compared_images ? Json(report.threshold) : Json()},
          {"threshold_reason", report.threshold_reason},
          {"dropped",
           {{"people", report.dropped_people().size()}, {"images", report.dropped_images()}}},
          {"entries", entries}};
}

std::string overlap_exclusion(const OverlapReport& report) {
  std::vector<std::string> people;
  for (const std::int32_t p : report.dropped_people()) people.push_back(person_of(report.train, p));
  std::string comment = fmt::format("People of {} who are in {} too: {} of {}, {} images.",
                                    report.train.name, report.test.name, people.size(),
                                    report.train.people.size(), report.dropped_images());
  if (report.compared_images)
    comment += fmt::format("\nThreshold {}: {}.", report.threshold, report.threshold_reason);
  return exclusion_text(people, {}, comment);
}

}  // namespace facebench

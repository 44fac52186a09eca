#include "facebench/claims/claim_sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "facebench/claims/published_json.h"
#include "facebench/core/numbers.h"
#include "facebench/evaluation/metric.h"
#include "facebench/metrics/template_fusion.h"

namespace facebench {
namespace {

// Printed digits are not exact binary numbers.
constexpr double kRounding = 1e-12;

// "tar@far=1e-4" and "tar@far=0.0001" are one number.
bool same_metric(std::string_view a, std::string_view b) {
  const NamedMetric one = metric_of_number(a), other = metric_of_number(b);
  return one.metric && one.metric == other.metric &&
         number_of(one.target) == number_of(other.target);
}

bool same_measure(const MeasureAddress& a, const MeasureAddress& b) {
  return a.protocol == b.protocol && a.track == b.track && a.row == b.row && a.column == b.column &&
         same_metric(a.metric, b.metric);
}

std::string condition_of(const PublishedRow& row, std::string_view name) {
  for (const auto& [key, value] : row.conditions)
    if (key == name) return value;
  return "not stated";
}

// The switches in which two fusions differ; nothing where one of them has no name here.
std::vector<std::string> fusion_differences(const std::string& a, const std::string& b) {
  const TemplateFusion* one = template_fusions().find(a);
  const TemplateFusion* other = template_fusions().find(b);
  if (!one || !other) return {};
  const std::vector<std::string> ones = fusion_switches(*one), others = fusion_switches(*other);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(ones.size(), others.size()); ++i)
    if (ones[i] != others[i]) out.push_back(fmt::format("{}, not {}", ones[i], others[i]));
  return out;
}

// What two printed values were measured with, where that differs, a sentence each: "flip is sum,
// not none"; a fusion by its switches, "norms kept, not each sample of unit length".
std::vector<std::string> condition_differences(const PublishedRow& a, const PublishedRow& b) {
  std::vector<std::string> out;
  for (const ConditionName& c : condition_names().entries()) {
    const std::string one = condition_of(a, c.name), other = condition_of(b, c.name);
    if (one == other) continue;
    const std::vector<std::string> switches =
        c.name == "fusion" ? fusion_differences(one, other) : std::vector<std::string>{};
    if (switches.empty())
      out.push_back(fmt::format("{} is {}, not {}", c.name, one, other));
    else
      out.insert(out.end(), switches.begin(), switches.end());
  }
  return out;
}

// The embedded publications, parsed once.
const std::vector<std::shared_ptr<const Publication>>& publications() {
  static const std::vector<std::shared_ptr<const Publication>> all = [] {
    std::vector<std::shared_ptr<const Publication>> read;
    for (const std::string& name : publication_names())
      read.push_back(std::make_shared<const Publication>(load_publication(name)));
    return read;
  }();
  return all;
}

}  // namespace

std::vector<ClaimSource> claim_sources(double value, double step, const MeasureAddress& measures) {
  std::vector<ClaimSource> out;
  for (const std::shared_ptr<const Publication>& publication : publications()) {
    for (const PublishedValue& v : published_values(*publication)) {
      if (!v.cell->value || !same_measure(v.column->measures, measures)) continue;
      const double scale = published_units().at(v.column->unit).scale;
      const double coarser = std::max(step / 2, v.cell->half_unit * scale);
      if (std::abs(*v.cell->value * scale - value) <= coarser + kRounding)
        out.push_back({publication, v});
    }
  }
  return out;
}

std::vector<SourcePair> source_pairs(const std::vector<ClaimSource>& ones,
                                     const std::vector<ClaimSource>& others) {
  std::vector<SourcePair> out;
  for (const ClaimSource& a : ones)
    for (const ClaimSource& b : others)
      if (a.publication->id == b.publication->id && a.value.table->id == b.value.table->id &&
          a.value.row->name != b.value.row->name)
        out.push_back({&a, &b, condition_differences(*a.value.row, *b.value.row)});
  return out;
}

Json claim_sources_json(const std::vector<ClaimSource>& sources) {
  Json out = Json::array();
  for (const ClaimSource& s : sources) {
    Json entry = published_value_json(s.value);
    entry["publication"] = s.publication->id;
    out.push_back(std::move(entry));
  }
  return out;
}

Json source_pairs_json(const std::vector<SourcePair>& pairs) {
  Json out = Json::array();
  for (const SourcePair& p : pairs)
    out.push_back({{"one", p.one->value.row->name},
                   {"other", p.other->value.row->name},
                   {"place", p.one->value.table->place},
                   {"differences", p.differences}});
  return out;
}

}  // namespace facebench

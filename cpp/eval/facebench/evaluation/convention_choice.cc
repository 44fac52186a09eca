#include "facebench/evaluation/convention_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "facebench/evaluation/metric.h"
#include "facebench/evaluation/spec.h"
#include "facebench/metrics/accuracy.h"
#include "facebench/metrics/identification.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {
namespace {

template <const auto& table>
std::string unknown_in(const std::string& name) {
  return table().find(name) ? "" : unknown_name_message(table().kind(), name, table().names());
}

const ConventionRule& rule_of(const Metric& metric) {
  return *std::ranges::find(convention_rules(), metric.convention, &ConventionRule::of);
}

bool asks_for(const ProtocolSpec& spec, const ConventionRule& rule) {
  return std::ranges::any_of(spec.metrics, [&](const MetricRequest& request) {
    return protocol_metrics().at(request.name).convention == rule.of;
  });
}

void check_used(const ProtocolSpec& spec, const ConventionRule& rule, const std::string& chosen) {
  if (const std::string wrong = rule.unknown(chosen); !wrong.empty())
    throw std::invalid_argument(wrong);
  if (!asks_for(spec, rule))
    throw std::invalid_argument(
        fmt::format("protocol {} has no metric that {} '{}' is for", spec.id, rule.name, chosen));
}

bool has_rule(const Convention& convention, const Metric& metric) {
  return metric.convention && metric.convention != &Convention::rank_ties &&
         !(convention.*metric.convention).empty();
}

// A convention that decides nothing would be printed beside numbers that it did not make.
void check_decides(const ProtocolSpec& spec, const Convention& convention) {
  if (convention.name == "exact") return;
  std::vector<std::string> metrics;
  for (const MetricRequest& request : spec.metrics) {
    const Metric& metric = protocol_metrics().at(request.name);
    if (metric.convention && metric.convention != &Convention::rank_ties) return;
    metrics.push_back(request.name);
  }
  throw std::invalid_argument(
      fmt::format("protocol {}: the convention '{}' decides none of its metrics ({}); they have "
                  "one definition, and the convention is 'exact'",
                  spec.id, convention.name, fmt::join(metrics, ", ")));
}

// The rule that options as a manifest has them name in place of their convention's own; else "".
std::string in_its_place(const Json& options, const ConventionRule& rule) {
  const Convention* chosen_convention = conventions().find(text_at(options, "/convention"));
  const std::string rule_chosen = text_at(options, fmt::format("/{}", rule.name));
  return chosen_convention && chosen_convention->*rule.of == rule_chosen ? "" : rule_chosen;
}

}  // namespace

const std::vector<ConventionRule>& convention_rules() {
  using Options = EvaluationOptions;
  static const std::vector<ConventionRule> rules = {
      {"accuracy_convention", "accuracy", &Convention::accuracy, &Options::accuracy_convention,
       unknown_in<accuracy_conventions>},
      {"tar_at_far_convention", "TAR at FAR", &Convention::tar_at_far,
       &Options::tar_at_far_convention, unknown_in<tar_at_far_conventions>},
      {"identification_convention", "DIR at FPIR", &Convention::identification,
       &Options::identification_convention, unknown_in<identification_conventions>},
      {"rank_ties", "equal scores in ranks", &Convention::rank_ties, &Options::rank_ties,
       unknown_in<rank_ties>}};
  return rules;
}

void choose_rules(const ProtocolSpec& spec, bool caller_chose, EvaluationOptions& options) {
  const Convention& convention = conventions().at(*options.convention);
  for (const ConventionRule& rule : convention_rules()) {
    std::optional<std::string>& chosen = options.*rule.option;
    if (!chosen && !caller_chose)
      for (const auto& [name, value] : spec.rules)
        if (name == rule.name) chosen = value;
    if (chosen) check_used(spec, rule, *chosen);
  }
  check_decides(spec, convention);
  const bool decides = std::ranges::any_of(spec.metrics, [&](const MetricRequest& request) {
    return has_rule(convention, protocol_metrics().at(request.name));
  });
  for (const MetricRequest& request : spec.metrics) {
    const Metric& metric = protocol_metrics().at(request.name);
    if (!metric.convention) continue;
    std::optional<std::string>& chosen = options.*rule_of(metric).option;
    if (chosen) continue;
    if (!decides) try {
        require_rule(metric, convention);
      } catch (const std::invalid_argument& e) {
        throw std::invalid_argument(fmt::format("protocol {}: {}", spec.id, e.what()));
      }
    chosen = convention.*metric.convention;
    if (chosen->empty()) chosen = conventions().at("exact").*metric.convention;
  }
}

Convention chosen_convention(const EvaluationOptions& options) {
  Convention convention = conventions().at(*options.convention);
  for (const ConventionRule& rule : convention_rules())
    if (const auto& chosen = options.*rule.option) convention.*rule.of = *chosen;
  return convention;
}

void require_rule(const Metric& metric, const Convention& convention) {
  if (!metric.convention || !(convention.*metric.convention).empty()) return;
  const auto able = conventions().names_where(
      [&](const Convention& c) { return !(c.*metric.convention).empty(); });
  throw std::invalid_argument(
      fmt::format("the convention '{}' has no rule for {}; these have one: {}. Choose one of them, "
                  "or give {} for this metric alone",
                  convention.name, metric.name, fmt::join(able, ", "), rule_of(metric).name));
}

std::string rule_in_its_place(const Json& options, const Metric& metric) {
  return metric.convention ? in_its_place(options, rule_of(metric)) : "";
}

std::string convention_text(const Json& options) {
  const std::string name = text_at(options, "/convention");
  if (name.empty()) return "?";
  std::vector<std::string> others;
  for (const ConventionRule& rule : convention_rules())
    if (const std::string chosen = in_its_place(options, rule); !chosen.empty())
      others.push_back(fmt::format("{}: {}", rule.title, chosen));
  return others.empty() ? name : fmt::format("{} ({})", name, fmt::join(others, ", "));
}

}  // namespace facebench

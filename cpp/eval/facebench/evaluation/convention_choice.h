#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facebench/evaluation/evaluation_options.h"
#include "facebench/io/json.h"
#include "facebench/trials/conventions.h"

// Which rule each metric of an evaluation follows.
namespace facebench {

struct Metric;
struct ProtocolSpec;

// A rule of a convention that can be chosen by itself. Its name is that of the option, and of the
// key in the table [evaluation] of a protocol.
struct ConventionRule {
  std::string name;   // "accuracy_convention"
  std::string title;  // "accuracy"
  std::string Convention::*of = nullptr;
  std::optional<std::string> EvaluationOptions::*option = nullptr;
  // "" for a rule of that name, else a message with "did you mean".
  std::string (*unknown)(const std::string& name) = nullptr;
};
const std::vector<ConventionRule>& convention_rules();

// Sets the rule of every metric that the protocol asks for: the caller's, else that of the
// caller's convention, else the protocol's, else that of the protocol's convention. A metric that
// the convention has no rule for is computed exactly, where it has one for another metric.
// `options.convention` is set; `caller_chose` says whether by the caller. Throws
// std::invalid_argument for an unknown rule (did you mean), for one that no metric of the protocol
// follows, and for a convention without a rule for any metric, naming those that have one.
void choose_rules(const ProtocolSpec& spec, bool caller_chose, EvaluationOptions& options);

// The rules that resolved options name, as one convention.
Convention chosen_convention(const EvaluationOptions& options);

// Throws std::invalid_argument where the convention has no rule for the metric.
void require_rule(const Metric& metric, const Convention& convention);

// The rule that a metric follows where it is not the convention's own, else "". Of options as a
// manifest has them.
std::string rule_in_its_place(const Json& options, const Metric& metric);

// "facenet", or, where rules are not the convention's own, "sphereface (TAR at FAR: exact)". Of
// options as a manifest has them; "?" where there is none.
std::string convention_text(const Json& options);

}  // namespace facebench

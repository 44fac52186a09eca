#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "facebench/backends/backend.h"
#include "facebench/core/numbers.h"

namespace facebench {

const Table<BackendKind>& backend_kinds() {
  static const Table<BackendKind> table(
      "back end",
      {{"center", "the mean of the training set is subtracted", "", {}, ""},
       {"unit", "rows of length 1", "Garcia-Romero & Espy-Wilson, Interspeech 2011", {}, ""},
       {"pca",
        "principal components",
        "Turk & Pentland, Eigenfaces, J. Cognitive Neuroscience 1991",
        {"value"},
        "dimensions, or below 1 the share of the variance; default: all with spread"},
       {"whiten",
        "unit covariance: zca keeps the axes, pca turns to the principal ones",
        "Bell & Sejnowski, Vision Research 1997",
        {"value", "shrinkage"},
        "zca (default) or pca"},
       {"lda",
        "the directions that separate people most, with unit covariance within a person",
        "Belhumeur et al., Fisherfaces, PAMI 1997",
        {"value", "shrinkage"},
        "dimensions, below the number of people; default: all",
        false,
        true},
       {"wccn",
        "unit covariance within a person",
        "Hatch et al., Interspeech 2006",
        {"shrinkage"},
        "",
        false,
        true},
       {"cosine", "cosine of the angle; what scores where no step says it", "", {}, "", true},
       {"mahalanobis",
        "minus the squared distance in units of the covariance within a person",
        "Mahalanobis 1936",
        {"shrinkage"},
        "",
        true,
        true},
       {"plda",
        "log likelihood ratio of two normal covariances, between and within people, by EM",
        "Prince & Elder, ICCV 2007; Brummer & de Villiers, Odyssey 2010",
        {"value", "shrinkage", "iterations"},
        "rank of the covariance between people; default: full",
        true,
        true},
       {"joint_bayesian",
        "the same ratio; covariances by the paper's EM, which drops what a mean leaves unsure",
        "Chen et al., Bayesian Face Revisited, ECCV 2012",
        {"shrinkage", "iterations"},
        "",
        true,
        true}});
  return table;
}

namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != text.npos; text.remove_prefix(std::min(text.size(), end + 1)))
    parts.push_back(text.substr(0, end = text.find(at)));
  return parts;
}

[[noreturn]] void refuse(std::string_view step, const std::string& why) {
  throw std::invalid_argument(fmt::format("back end '{}': {}", step, why));
}

double number_in(std::string_view text, double low, double high, std::string_view step,
                 std::string_view what) {
  const auto number = number_of(text);
  if (!number || *number < low || *number > high)
    refuse(step, fmt::format("{} must be a number from {} to {}, not '{}'", what, low, high, text));
  return *number;
}

double whole_in(std::string_view text, double low, double high, std::string_view step,
                std::string_view what) {
  const double number = number_in(text, low, high, step, what);
  if (number != std::floor(number)) refuse(step, fmt::format("{} must be whole", what));
  return number;
}

void set_value(BackendStep& step, std::string_view value, std::string_view text) {
  if (step.name == "whiten") {
    if (value != "zca" && value != "pca") refuse(text, "whiten is zca or pca");
    step.form = value;
  } else if (const auto share = number_of(value); step.name == "pca" && share && *share < 1) {
    step.value = number_in(value, 1e-9, 1, text, "the share");
  } else {
    step.value = whole_in(value, 1, 1e6, text, "dimensions");
  }
}

BackendStep parse_step(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  const std::size_t equal = parts[0].find('=');
  const BackendKind& kind = backend_kinds().at(parts[0].substr(0, equal));
  const auto takes = [&](std::string_view key) {
    return std::ranges::find(kind.takes, key) != kind.takes.end();
  };
  BackendStep step{kind.name};
  if (kind.name == "whiten") step.form = "zca";
  if (equal != parts[0].npos) {
    if (!takes("value")) refuse(text, fmt::format("{} takes no value", kind.name));
    set_value(step, parts[0].substr(equal + 1), text);
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t at = std::min(parts[i].find('='), parts[i].size());
    const std::string_view key = parts[i].substr(0, at);
    const std::string_view value = parts[i].substr(std::min(at + 1, parts[i].size()));
    if (key == "value" || !takes(key))
      refuse(text, fmt::format("{} has no setting '{}' (see: facebench show {})", kind.name, key,
                               kind.name));
    if (key == "iterations")
      step.iterations = static_cast<int>(whole_in(value, 1, 100000, text, key));
    else if (value == "lw")
      step.shrinkage = -1;
    else
      step.shrinkage = number_in(value, 0, 1, text, key);
  }
  return step;
}

}  // namespace

std::vector<BackendStep> parse_backend(std::string_view spec) {
  std::vector<BackendStep> steps;
  for (const std::string_view text : split(spec, ',')) {
    if (!steps.empty() && backend_kinds().at(steps.back().name).scores)
      refuse(spec, fmt::format("{} gives the score, so nothing follows it", steps.back().name));
    steps.push_back(parse_step(text));
  }
  if (!backend_kinds().at(steps.back().name).scores) steps.push_back({"cosine"});
  return steps;
}

std::string backend_text(std::span<const BackendStep> steps) {
  std::string text;
  for (const BackendStep& step : steps) {
    text += (text.empty() ? "" : ",") + step.name;
    if (!step.form.empty()) text += "=" + step.form;
    if (step.value > 0) text += fmt::format("={}", step.value);
    if (step.shrinkage)
      text += *step.shrinkage < 0 ? ":shrinkage=lw" : fmt::format(":shrinkage={}", *step.shrinkage);
    if (step.iterations > 0) text += fmt::format(":iterations={}", step.iterations);
  }
  return text;
}

}  // namespace facebench

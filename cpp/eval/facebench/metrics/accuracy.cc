#include "facebench/metrics/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "facebench/metrics/internal/cosine_keys.h"
#include "facebench/metrics/internal/rates.h"

namespace facebench {
namespace {

double cosine_of_squared_distance(double key) { return 1 + key / 2; }

double negative_angle(double cosine) {
  return -std::acos(std::clamp(cosine, -1.0, 1.0)) / std::numbers::pi;
}
double cosine_of_angle(double key) { return std::cos(-key * std::numbers::pi); }

// Distances as keys: negated, so in the order in which the scripts try them the keys descend.
std::vector<double> negated(std::vector<double> grid) {
  for (double& g : grid) g = -g;
  return grid;
}

std::vector<double> sphereface_grid() {
  std::vector<double> grid;
  for (int i = -10'000; i <= 10'000; ++i) grid.push_back(i / 10'000.0);
  return grid;
}

// One fold's training comparisons, in descending order of key.
struct Training {
  const Comparisons& comparisons;
  std::span<const Weight> weights;
  std::span<const double> keys;
  int fold;
  std::int64_t genuine = 0;
  std::int64_t impostor = 0;

  bool has(std::size_t i) const { return weights[i] != 0 && comparisons.folds()[i] != fold; }
};

// Counts of what lies above (or at) thresholds that are asked for in descending order.
class Counter {
 public:
  Counter(const Training& training, bool equal) : t_(training), equal_(equal) {}
  void advance(double threshold) {
    const auto labels = t_.comparisons.labels();
    for (; i_ < t_.keys.size() && (equal_ ? t_.keys[i_] >= threshold : t_.keys[i_] > threshold);
         ++i_)
      if (t_.comparisons.folds()[i_] != t_.fold)
        (labels[i_] ? genuine : impostor) += t_.weights[i_];
  }
  std::int64_t genuine = 0;
  std::int64_t impostor = 0;

 private:
  const Training& t_;
  bool equal_;
  std::size_t i_ = 0;
};

double choose_on_grid(const Training& t, const AccuracyConvention& rule,
                      std::span<const double> grid) {
  const bool descending = grid.front() > grid.back();
  // The walk goes from the highest threshold down; "first" and "last" mean the order of the grid.
  const bool later_wins = (rule.tie_rule == TieRule::last) == descending;
  Counter accepted(t, rule.accept_equal);
  Counter at_or_above(t, true);
  double best = -std::numeric_limits<double>::infinity();
  double chosen = nan;
  long double sum = 0;  // the mean of a symmetric set of grid points must not miss by a last bit
  std::int64_t count = 0;
  for (std::size_t j = 0; j < grid.size(); ++j) {
    const double threshold = grid[descending ? j : grid.size() - 1 - j];
    accepted.advance(threshold);
    std::int64_t false_accepts = accepted.impostor;
    if (rule.train_equal_is_wrong) {
      at_or_above.advance(threshold);
      false_accepts = at_or_above.impostor;
    }
    // Youden's index as the scripts compute it, a difference of two rounded rates, since its ties
    // depend on the rounding.
    const double value =
        rule.criterion == Criterion::youden
            ? static_cast<double>(accepted.genuine) / static_cast<double>(t.genuine) -
                  static_cast<double>(false_accepts) / static_cast<double>(t.impostor)
            : static_cast<double>(accepted.genuine + t.impostor - false_accepts);
    if (value > best) {
      best = value;
      chosen = threshold;
      sum = threshold;
      count = 1;
    } else if (value == best) {
      if (later_wins) chosen = threshold;
      sum += threshold;
      ++count;
    }
  }
  return rule.tie_rule == TieRule::mean ? static_cast<double>(sum / count) : chosen;
}

// All thresholds between neighbouring scores, and the two that accept nothing and everything, which
// are taken only where no other one is as good.
double choose_between_scores(const Training& t) {
  const auto labels = t.comparisons.labels();
  const std::size_t n = t.keys.size();
  std::size_t i = 0;
  while (i < n && !t.has(i)) ++i;
  if (i == n) return nan;
  std::int64_t correct = t.impostor;  // of the threshold above everything
  std::int64_t best = correct;
  double widest = 0;
  double chosen = threshold_above(t.keys[i]);
  while (true) {
    const double key = t.keys[i];
    for (; i < n && (t.keys[i] == key || !t.has(i)); ++i) {
      if (!t.has(i)) continue;
      correct += labels[i] ? std::int64_t{t.weights[i]} : -std::int64_t{t.weights[i]};
    }
    const double gap = i < n ? key - t.keys[i] : 0;
    if (correct > best || (correct == best && gap > widest)) {
      best = correct;
      widest = gap;
      chosen = i < n ? threshold_between(t.keys[i], key) : key;
    }
    if (i == n) return chosen;
  }
}

double choose_threshold(Training& t, const AccuracyConvention& rule) {
  const auto labels = t.comparisons.labels();
  double low = nan, high = nan;
  for (std::size_t i = 0; i < t.keys.size(); ++i) {
    if (!t.has(i)) continue;
    (labels[i] ? t.genuine : t.impostor) += t.weights[i];
    if (std::isnan(high)) high = t.keys[i];
    low = t.keys[i];
  }
  if (t.genuine + t.impostor == 0) return nan;
  if (rule.criterion == Criterion::youden && (t.genuine == 0 || t.impostor == 0)) return nan;
  if (!rule.grid.empty()) return choose_on_grid(t, rule, rule.grid);
  if (rule.span_steps == 0) return choose_between_scores(t);
  std::vector<double> grid(rule.span_steps);
  const double step = (high - low) / rule.span_steps;
  for (int s = 0; s < rule.span_steps; ++s) grid[s] = low + step * (s + 1);
  return choose_on_grid(t, rule, grid);
}

AccuracyConvention facenet_rule(std::string name, std::string doc, std::string source) {
  return {.name = std::move(name),
          .doc = std::move(doc),
          .source = std::move(source),
          .cosine_only = true,
          .key = negative_squared_distance,
          .to_score = cosine_of_squared_distance,
          .grid = negated(arange(0, 4, 0.01)),
          .spread = Spread::population_sd};
}

void summarize_folds(Accuracy& a, Spread spread) {
  const auto n = static_cast<double>(a.fold_accuracy.size());
  double sum = 0, squares = 0;
  for (const double v : a.fold_accuracy) sum += v;
  a.value = sum / n;
  for (const double v : a.fold_accuracy) squares += (v - a.value) * (v - a.value);
  a.sd = std::sqrt(squares / (n - 1));
  a.standard_error = a.sd / std::sqrt(n);
  switch (spread) {
    case Spread::sd:
      a.spread = a.sd;
      break;
    case Spread::population_sd:
      a.spread = std::sqrt(squares / n);
      break;
    case Spread::standard_error:
      a.spread = a.standard_error;
      break;
    case Spread::none:
      a.spread = nan;
      break;
  }
}

void measure_fold(const Comparisons& comparisons, const AccuracyConvention& rule,
                  std::span<const Weight> weights, std::span<const double> keys, int fold,
                  Accuracy& result) {
  const auto labels = comparisons.labels();
  Training training{comparisons, weights, keys, fold};
  const double threshold = choose_threshold(training, rule);
  std::int64_t total = 0, correct = 0;
  for (const std::uint32_t i : comparisons.fold_members(fold)) {
    total += weights[i];
    const bool accepted = rule.accept_equal ? keys[i] >= threshold : keys[i] > threshold;
    const bool right =
        labels[i] ? accepted : !accepted && !(rule.equal_is_wrong && keys[i] == threshold);
    if (right) correct += weights[i];
  }
  const bool undefined = std::isnan(threshold) || total == 0;
  result.fold_accuracy.push_back(
      undefined ? nan : static_cast<double>(correct) / static_cast<double>(total));
  result.fold_threshold.push_back(rule.to_score ? rule.to_score(threshold) : threshold);
  result.comparisons += total;
  result.wrong += total - correct;
}

std::vector<double> accuracy_keys(const Comparisons& comparisons, const AccuracyConvention& rule) {
  const auto scores = comparisons.scores();
  std::vector<double> keys(scores.begin(), scores.end());
  if (rule.key) std::ranges::transform(keys, keys.begin(), rule.key);
  return keys;
}

}  // namespace

std::vector<double> arange(double start, double stop, double step) {
  const auto n = static_cast<std::size_t>(std::max(0.0, std::ceil((stop - start) / step)));
  const double delta = (start + step) - start;  // numpy measures the step on its first two values
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = start + static_cast<double>(i) * delta;
  return values;
}

const Table<AccuracyConvention>& accuracy_conventions() {
  static const Table<AccuracyConvention> table(
      "accuracy convention",
      {{.name = "exact",
        .doc =
            "thresholds between all neighbouring training scores, maximal accuracy, middle of the "
            "widest gap, accept >=; spread: sd (n - 1)",
        .source = "this project",
        .tie_rule = TieRule::widest_gap,
        .accept_equal = true},
       facenet_rule("facenet",
                    "squared distance of unit embeddings (2 - 2 cos) on the grid 0, 0.01, ... 4, "
                    "maximal accuracy, first, accept <; spread: sd (n)",
                    "davidsandberg/facenet src/facenet.py calculate_roc"),
       facenet_rule("insightface",
                    "the facenet rule; the projects differ in how images become embeddings (here: "
                    "sum of the image's and its mirror image's, then normalised)",
                    "deepinsight/insightface recognition/arcface_torch/eval/verification.py"),
       {.name = "facexzoo",
        .doc = "1000 thresholds from the lowest to the highest training score, maximal TPR - FPR, "
               "first; a score at the threshold is wrong; spread: standard error",
        .source = "JDAI-CV/FaceX-Zoo test_protocol/lfw/lfw_evaluator.py",
        .span_steps = 1000,
        .criterion = Criterion::youden,
        .equal_is_wrong = true,
        .spread = Spread::standard_error},
       {.name = "sphereface",
        .doc =
            "cosines -1, -0.9999, ... 1, maximal accuracy, mean of all maximisers; a score at the "
            "threshold is wrong; no spread; of embeddings less the mean of the training folds",
        .source = "wy1iu/sphereface test/code/evaluation.m",
        .cosine_only = true,
        .centred = true,
        .grid = sphereface_grid(),
        .tie_rule = TieRule::mean,
        .equal_is_wrong = true,
        .train_equal_is_wrong = true,
        .spread = Spread::none},
       {.name = "sphereface_pytorch",
        .doc = "cosines -1, -0.995, ... 0.995, maximal accuracy, last, accept >; spread: sd (n)",
        .source = "clcarwin/sphereface_pytorch lfw_eval.py",
        .cosine_only = true,
        .grid = arange(-1.0, 1.0, 0.005),
        .tie_rule = TieRule::last,
        .spread = Spread::population_sd},
       {.name = "magface",
        .doc = "angle / pi on the grid 0, 0.01, ... 4 (so about 100 thresholds matter), maximal "
               "accuracy, first, accept <; spread: sd (n); of embeddings less the mean of the "
               "training folds",
        .source = "IrvingMeng/MagFace eval/eval_recognition/eval_1v1.py",
        .cosine_only = true,
        .centred = true,
        .key = negative_angle,
        .to_score = cosine_of_angle,
        .grid = negated(arange(0, 4, 0.01)),
        .spread = Spread::population_sd}});
  return table;
}

Accuracy measure_accuracy(const Comparisons& comparisons, const AccuracyConvention& rule,
                          std::span<const Weight> weights) {
  Accuracy result;
  result.convention = rule.name;
  result.folds.assign(comparisons.fold_names().begin(), comparisons.fold_names().end());
  const Comparisons* whose = nullptr;  // keys and weights
  std::vector<double> keys;
  std::vector<Weight> sorted;
  for (int fold = 0; fold < comparisons.fold_count(); ++fold) {
    const Comparisons& of_fold =
        rule.centred && comparisons.has_centred() ? comparisons.centred(fold) : comparisons;
    if (whose != &of_fold) {
      keys = accuracy_keys(of_fold, rule);
      sorted = of_fold.sorted_weights(weights);
    }
    whose = &of_fold;
    measure_fold(of_fold, rule, sorted, keys, fold, result);
  }
  summarize_folds(result, rule.spread);
  return result;
}

Accuracy accuracy(const Comparisons& comparisons, std::string_view convention,
                  std::span<const Weight> weights) {
  return accuracy(comparisons, accuracy_conventions().at(convention), weights);
}

Accuracy accuracy(const Comparisons& comparisons, const AccuracyConvention& rule,
                  std::span<const Weight> weights) {
  if (comparisons.fold_count() < 2)
    throw std::invalid_argument(
        "the accuracy's thresholds are chosen on other folds: give at least two folds");
  if (rule.cosine_only) check_cosines(comparisons, "accuracy", rule.name);
  Accuracy result = measure_accuracy(comparisons, rule, weights);
  if (std::isnan(result.value))
    throw std::invalid_argument(
        "the accuracy is undefined: a fold, or what a threshold is chosen on, has no comparisons "
        "of a kind that the convention needs");
  return result;
}

}  // namespace facebench

#include "facebench/metrics/many_comparisons.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "facebench/core/random.h"
#include "facebench/metrics/bootstrap.h"
#include "facebench/metrics/comparisons.h"
#include "facebench/metrics/paired.h"
#include "facebench/metrics/roc.h"
#include "facebench/metrics/tar_at_far.h"

namespace facebench {
namespace {

// Random dense scores and the same comparisons as a list. `steps` rounds scores, so that few steps
// make many ties.
struct Case {
  std::vector<float> scores;
  std::vector<std::int32_t> rows, columns;
  std::vector<std::uint8_t> mask, no_row, no_column;
  bool triangle = false;

  std::vector<double> listed;
  std::vector<std::uint8_t> labels;
  std::vector<std::int32_t> first, second;

  Case(std::uint64_t seed, int steps, bool is_triangle, bool masked, bool leave_out)
      : triangle(is_triangle) {
    Random random(seed, "dense_case");
    const std::size_t n = 12 + random.below(20), m = is_triangle ? n : 8 + random.below(20);
    const auto identity = [&] { return static_cast<std::int32_t>(3 * random.below(7)); };
    for (std::size_t i = 0; i < n; ++i) rows.push_back(identity());
    if (is_triangle)
      columns = rows;
    else
      for (std::size_t j = 0; j < m; ++j) columns.push_back(identity());
    if (leave_out) {
      no_row.assign(n, 0);
      no_column.assign(m, 0);
      no_row[1] = 1;
      (is_triangle ? no_column[1] : no_column[2]) = 1;
    }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < m; ++j) {
        const bool genuine = rows[i] == columns[j];
        const double score = random.normal() + (genuine ? 1.5 : 0);
        scores.push_back(static_cast<float>(std::nearbyint(score * steps) / steps));
        if (masked) mask.push_back(random.below(4) == 0 ? 0 : genuine ? 1 : 2);
        if ((triangle && j <= i) || (masked && mask.back() == 0)) continue;
        if (leave_out && (no_row[i] || no_column[j])) continue;
        listed.push_back(scores.back());
        labels.push_back(genuine);
        first.push_back(rows[i]);
        second.push_back(columns[j]);
      }
  }
  DenseScores view() const { return {scores, rows, columns, triangle, mask, no_row, no_column}; }
  // The same comparisons, dense and as a list.
  std::vector<std::shared_ptr<const ManyComparisons>> many() const {
    return {std::make_shared<const ManyComparisons>(view()),
            std::make_shared<const ManyComparisons>(ListedScores{listed, labels, first, second})};
  }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  std::uint64_t seed = 0;
  for (const int steps : {1, 3, 1000})
    for (const bool triangle : {false, true})
      for (const bool masked : {false, true})
        for (const bool leave_out : {false, true})
          for (int k = 0; k < 4; ++k) all.emplace_back(++seed, steps, triangle, masked, leave_out);
  return all;
}

// Where few people have genuine comparisons most replicates are undefined, and the bounds NaN.
void expect_near_or_both_nan(double a, double b, const std::string& what) {
  EXPECT_EQ(std::isnan(a), std::isnan(b)) << what;
  if (!std::isnan(a)) {
    EXPECT_NEAR(a, b, 1e-11) << what;
  }
}

constexpr double kFars[] = {0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 1.0};

TEST(ManyComparisons, PointValuesAreThoseOfTheSameComparisonsSorted) {
  for (const Case& c : cases()) {
    const Comparisons listed(c.listed, c.labels);
    for (const auto& many : c.many()) {
      EXPECT_EQ(many->genuine(), listed.genuine());
      EXPECT_EQ(many->impostor(), listed.impostor());
      EXPECT_EQ(auc(many->roc()), auc(listed.roc()));
      EXPECT_NEAR(eer(many->roc()), eer(listed.roc()), 1e-14);
      for (const TarAtFarConvention& rule : tar_at_far_conventions().entries()) {
        if (rule.needs_folds) continue;
        for (const double far : kFars) {
          TarAtFar a, b;
          try {
            b = tar_at_far(listed, far, rule.name);
          } catch (const std::invalid_argument&) {
            EXPECT_THROW(tar_at_far(*many, far, rule.name), std::invalid_argument) << rule.name;
            continue;
          }
          a = tar_at_far(*many, far, rule.name);
          EXPECT_EQ(a.value, b.value) << rule.name << far;
          EXPECT_EQ(a.false_accepts, b.false_accepts) << rule.name << far;
          EXPECT_EQ(a.genuine_accepted, b.genuine_accepted) << rule.name << far;
          EXPECT_EQ(a.threshold, b.threshold) << rule.name << far;
          EXPECT_EQ(a.reliable, b.reliable) << rule.name << far;
        }
      }
    }
  }
}

TEST(ManyComparisons, IntervalsAreThoseOfTheBootstrapOfTheList) {
  BootstrapOptions o;
  o.replicates = 70;  // not a multiple of the replicates that are taken at once
  for (const Case& c : cases()) {
    const auto statistics = [](const std::shared_ptr<const ScoreSet>& scores) {
      std::vector<Statistic> all = {auc_statistic(scores), eer_statistic(scores)};
      for (const double far : kFars) {
        all.push_back(tar_at_far_statistic(scores, far));
        all.push_back(threshold_statistic(scores, far));
      }
      return all;
    };
    const std::vector<Statistic> theirs =
        statistics(std::make_shared<const Comparisons>(c.listed, c.labels));
    const auto b = Bootstrap({c.first, c.second, {}}, Resampling::dyadic).intervals(theirs, o);
    for (const auto& many : c.many()) {
      const std::vector<Statistic> ours = statistics(many);
      const auto a = Bootstrap::of_people(many).intervals(ours, o);
      for (std::size_t i = 0; i < a.size(); ++i) {
        expect_near_or_both_nan(a[i].low, b[i].low, ours[i].name);
        expect_near_or_both_nan(a[i].high, b[i].high, ours[i].name);
        EXPECT_EQ(a[i].undefined, b[i].undefined) << ours[i].name;
        EXPECT_EQ(a[i].method, b[i].method) << ours[i].name;
      }
      // Cut short where the statistics allow it.
      const std::vector<Statistic> one = {tar_at_far_statistic(many, 0.05)};
      expect_near_or_both_nan(Bootstrap::of_people(many).intervals(one, o).front().low,
                              a[2 + 2 * 3].low, "cut short");
    }
  }
}

TEST(ManyComparisons, IntervalsOfAnyConventionAreNearThoseOfTheList) {
  BootstrapOptions o;
  o.replicates = 200;
  const Case c(1, 1000, false, false, false);
  const auto list = std::make_shared<const Comparisons>(c.listed, c.labels);
  const Bootstrap of_list({c.first, c.second, {}}, Resampling::dyadic);
  for (const TarAtFarConvention& rule : tar_at_far_conventions().entries()) {
    if (rule.needs_folds) continue;
    for (const auto& many : c.many()) {
      const std::vector<Statistic> theirs = {tar_at_far_statistic(list, 0.05, rule.name)};
      const std::vector<Statistic> ours = {tar_at_far_statistic(many, 0.05, rule.name)};
      const Interval b = of_list.intervals(theirs, o).front();
      const Interval a = Bootstrap::of_people(many).intervals(ours, o).front();
      // These look at counts alone, and the curve has those at every genuine score. The others may
      // look at the next genuine score, or interpolate between other points.
      const bool counts_alone = rule.name != "ijb" && rule.name != "openbr" && rule.name != "bob";
      const double near = counts_alone ? 1e-11 : 0.25 * (b.high - b.low);
      EXPECT_NEAR(a.low, b.low, near) << rule.name;
      EXPECT_NEAR(a.high, b.high, near) << rule.name;
      EXPECT_EQ(a.undefined, b.undefined) << rule.name;
    }
  }
}

// Every rule gives on the points around a FAR what it gives on all of them.
TEST(ManyComparisons, PointsAroundAFarDecideEveryRule) {
  for (const Case& c : cases()) {
    const Comparisons list(c.listed, c.labels);
    const RocCurve all = list.roc();
    std::vector<double> fars = {0, 1e-4, 1e-3, 0.01, 0.05, 0.3, 0.7, 1};
    for (int k = 1; k <= 12; ++k)  // at whole counts and half way between two
      fars.push_back(0.5 * k / static_cast<double>(all.impostor));
    for (const auto& many : c.many())
      for (const double far : fars) {
        const RocCurve around = many->roc_around(far);
        EXPECT_EQ(around.genuine, all.genuine);
        EXPECT_EQ(around.impostor, all.impostor);
        EXPECT_EQ(around.false_accepts.back(), all.impostor);
        EXPECT_LE(around.size(), all.size());
        for (const TarAtFarConvention& rule : tar_at_far_conventions().entries()) {
          if (rule.needs_folds) continue;
          const TarAtFar a = rule.of_curve(around, far), b = rule.of_curve(all, far);
          const std::string where = rule.name + " at " + std::to_string(far);
          expect_near_or_both_nan(a.value, b.value, where);
          EXPECT_EQ(a.false_accepts, b.false_accepts) << where;
          EXPECT_EQ(a.genuine_accepted, b.genuine_accepted) << where;
        }
      }
  }
}

// Numbers of people too far apart for a table.
TarAtFar exact_tar(const RocCurve& curve, double far) {
  return tar_at_far_conventions().at("exact").of_curve(curve, far);
}

// A bootstrap takes the parts of curves; what they give is to the bit what whole curves do.
TEST(ManyComparisons, PartsOfCurvesSayWhatTheWholeCurvesDo) {
  constexpr std::size_t lanes = ManyComparisons::kLanes;
  const std::vector<double> fars{0, .001, .01, .02, .021, .1, .5, 1};
  std::size_t kept = 0, all = 0;
  for (const Case& c : cases()) {
    const auto many = c.many().front();
    EXPECT_EQ(many->has_parts(), c.mask.empty());
    if (!many->has_parts()) continue;
    Random random(5, "parts");
    std::vector<Weight> weights(static_cast<std::size_t>(many->identities()) * lanes);
    for (std::size_t k = 0; k < weights.size(); ++k)  // the last lane draws nobody
      weights[k] = k % lanes + 1 == lanes ? 0 : static_cast<Weight>(random.below(3));
    const auto curves = many->curves(weights, lanes, 1);
    const auto parts = many->curve_parts(weights, lanes, {true, true, fars});
    const auto ends = many->curve_parts(weights, lanes, {false, false, {.01}});
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const RocCurve &curve = curves[lane], &points = parts[lane].points;
      all += curve.size();
      kept += points.size();
      EXPECT_EQ(points.genuine, curve.genuine);
      EXPECT_EQ(points.impostor, curve.impostor);
      const double tar = exact_tar(curve, .01).value;
      const double early = exact_tar(ends[lane].points, .01).value;
      EXPECT_TRUE(early == tar || (std::isnan(early) && std::isnan(tar)));
      if (curve.genuine == 0 || curve.impostor == 0) {
        EXPECT_TRUE(std::isnan(parts[lane].auc));
        continue;
      }
      EXPECT_EQ(parts[lane].auc, auc(curve));
      EXPECT_EQ(eer(points), eer(curve));
      for (const double far : fars) {
        EXPECT_EQ(exact_tar(points, far).value, exact_tar(curve, far).value);
        EXPECT_EQ(exact_tar(points, far).threshold, exact_tar(curve, far).threshold);
      }
    }
  }
  EXPECT_LT(kept, all);
}

// Few people with so many comparisons that what is accepted is looked up in blocks of scores.
TEST(ManyComparisons, ThresholdsOfFewPeopleAreThoseOfTheList) {
  Random random(3, "blocks");
  constexpr std::size_t n = 300;
  std::vector<std::int32_t> people(n);
  std::vector<float> scores(n * n);
  for (std::size_t i = 0; i < n; ++i) people[i] = static_cast<std::int32_t>(i % 4);
  for (float& score : scores) score = static_cast<float>(std::nearbyint(random.normal() * 3e4));
  std::vector<double> listed;
  std::vector<std::uint8_t> labels;
  std::vector<std::int32_t> first, second;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) {
      listed.push_back(scores[i * n + j] += people[i] == people[j] ? 2e4f : 0.f);
      labels.push_back(people[i] == people[j]);
      first.push_back(people[i]);
      second.push_back(people[j]);
    }
  const ManyComparisons many(DenseScores{scores, people, people, true, {}, {}, {}});
  const Comparisons list(listed, labels);
  for (int draw = 0; draw < 20; ++draw) {
    std::vector<Weight> weights(4), each;
    for (Weight& w : weights) w = static_cast<Weight>(random.below(3));
    for (std::size_t k = 0; k < listed.size(); ++k)
      each.push_back(weights[first[k]] * (labels[k] ? 1 : weights[second[k]]));
    const RocCurve curve = list.roc(each);
    if (curve.genuine == 0 || curve.impostor == 0) continue;
    for (const double far : {0., 1e-5, .001, .05, .3, .9, 1.}) {
      const TarAtFar near = exact_tar(many.roc_near(far, weights), far),
                     all = exact_tar(curve, far);
      EXPECT_EQ(near.value, all.value) << far;
      EXPECT_EQ(near.threshold, all.threshold) << far;
      EXPECT_EQ(near.false_accepts, all.false_accepts) << far;
    }
  }
}

TEST(ManyComparisons, PeopleOfAnyNumbers) {
  Case c(1, 1000, false, false, false);
  Case spread = c;
  for (auto* sides : {&spread.first, &spread.second})
    for (std::int32_t& person : *sides) person = 100'000'000 * (person / 3) - 300'000'000;
  const auto of = [](const Case& k) {
    return ManyComparisons(ListedScores{k.listed, k.labels, k.first, k.second});
  };
  const ManyComparisons near = of(c), far = of(spread);
  ASSERT_EQ(near.identities(), far.identities());
  EXPECT_LT(far.people().front(), 0);
  std::vector<Weight> weights;
  for (std::int64_t i = 0; i < near.identities(); ++i)
    weights.push_back(static_cast<Weight>(i % 3));
  EXPECT_EQ(near.roc(weights).false_accepts, far.roc(weights).false_accepts);
  EXPECT_EQ(near.roc(weights).true_accepts, far.roc(weights).true_accepts);
}

// Weighted, against the list with each comparison as often as it is drawn.
TEST(ManyComparisons, PointsAroundAFarUnderWeights) {
  const Case c(1, 1000, false, false, false);
  const auto list = Comparisons(c.listed, c.labels);
  for (const auto& many : c.many()) {
    Random random(9, "weights");
    std::vector<Weight> people(static_cast<std::size_t>(many->identities()));
    for (Weight& w : people) w = static_cast<Weight>(random.below(3));
    std::vector<Weight> of_list;
    for (std::size_t k = 0; k < c.listed.size(); ++k) {
      const auto place = [&](std::int32_t person) {
        return static_cast<std::size_t>(std::ranges::lower_bound(many->people(), person) -
                                        many->people().begin());
      };
      const Weight one = people[place(c.first[k])], other = people[place(c.second[k])];
      of_list.push_back(c.labels[k] ? one : one * other);
    }
    const RocCurve all = list.roc(of_list);
    for (const double far : {0.0, 0.001, 0.02, 0.2, 1.0})
      for (const char* name : {"ijb", "pfe", "bob", "openbr", "fare", "exact"}) {
        const TarAtFarConvention& rule = tar_at_far_conventions().at(name);
        EXPECT_NEAR(rule.of_curve(many->roc_around(far, people), far).value,
                    rule.of_curve(all, far).value, 1e-12)
            << name << far;
      }
  }
}

TEST(ManyComparisons, PairedDifferencesAreThoseOfTheList) {
  BootstrapOptions o;
  o.replicates = 70;
  const auto statistics = [](const std::shared_ptr<const ScoreSet>& scores) {
    return std::vector<Statistic>{auc_statistic(scores), tar_at_far_statistic(scores, 0.05)};
  };
  const auto draws = [](const std::shared_ptr<const ManyComparisons>& many) {
    return Bootstrap::of_people(many);
  };
  for (Case c : cases()) {
    Case d = c;  // another system, the same comparisons
    Random random(5, "other");
    std::size_t k = 0;
    for (std::size_t i = 0; i < c.rows.size(); ++i)
      for (std::size_t j = 0; j < c.columns.size(); ++j) {
        float& score = d.scores[i * c.columns.size() + j];
        score += static_cast<float>(0.5 * random.normal());
        if ((c.triangle && j <= i) || (!c.mask.empty() && c.mask[i * c.columns.size() + j] == 0))
          continue;
        if (!c.no_row.empty() && (c.no_row[i] || c.no_column[j])) continue;
        d.listed[k++] = score;
      }
    const auto la = std::make_shared<const Comparisons>(c.listed, c.labels);
    const auto lb = std::make_shared<const Comparisons>(d.listed, d.labels);
    const Bootstrap listed({c.first, c.second, {}}, Resampling::dyadic);
    const auto theirs = compare_paired(listed, statistics(la), listed, statistics(lb), o);
    for (std::size_t form = 0; form < 2; ++form) {
      const auto a = c.many()[form], b = d.many()[form];
      const auto ours = compare_paired(draws(a), statistics(a), draws(b), statistics(b), o);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(ours[i].value, theirs[i].value);
        expect_near_or_both_nan(ours[i].interval.low, theirs[i].interval.low, "low");
        expect_near_or_both_nan(ours[i].interval.high, theirs[i].interval.high, "high");
        expect_near_or_both_nan(ours[i].p_value, theirs[i].p_value, "p");
        EXPECT_EQ(ours[i].interval.method, theirs[i].interval.method);
      }
      const std::vector<Statistic> fewer = {auc_statistic(b)};
      EXPECT_THROW(compare_paired(draws(a), statistics(a), draws(b), fewer, o),
                   std::invalid_argument);
    }
  }
  const Case small(1, 3, false, false, false), large(2, 3, false, false, false);
  const auto a = small.many()[0], b = large.many()[0];
  EXPECT_THROW(compare_paired(draws(a), statistics(a), draws(b), statistics(b), o),
               std::invalid_argument);
}

TEST(ManyComparisons, WeightsCountAsRepetition) {
  const Case c(99, 3, false, false, false);
  const ManyComparisons dense(c.view());
  for (const Weight large : {3u, 5000u}) {  // beyond what a float counts exactly, too
    std::vector<Weight> identity(static_cast<std::size_t>(dense.identities()), 1);
    identity[0] = large;
    identity[1] = 0;
    // The lowest identity is 0, the second lowest of multiples of three 3 (all seven are there).
    ASSERT_EQ(dense.identities(), 7);
    std::vector<Weight> weights;
    const auto weight = [&](std::int32_t i) { return identity[static_cast<std::size_t>(i / 3)]; };
    for (std::size_t k = 0; k < c.first.size(); ++k)
      weights.push_back(c.first[k] == c.second[k] ? weight(c.first[k])
                                                  : weight(c.first[k]) * weight(c.second[k]));
    const Comparisons listed(c.listed, c.labels);
    const RocCurve curve = dense.roc(identity);
    const RocCurve whole = listed.roc(weights);
    EXPECT_EQ(curve.genuine, whole.genuine);
    EXPECT_EQ(curve.impostor, whole.impostor);
    EXPECT_EQ(auc(curve), auc(whole));
  }
}

TEST(ManyComparisons, TheSameForAnyNumberOfThreads) {
  const Case c(5, 1000, false, false, false);
  Job one, three;
  one.threads = 1;
  three.threads = 3;
  const auto intervals = [&](const Job& job) {
    const auto many = std::make_shared<const ManyComparisons>(c.view(), job);
    const std::vector<Statistic> both = {auc_statistic(many), eer_statistic(many)};
    return Bootstrap::of_people(many).intervals(both, {}, job);
  };
  const auto ia = intervals(one), ib = intervals(three);
  for (std::size_t i = 0; i < ia.size(); ++i) {
    EXPECT_EQ(ia[i].low, ib[i].low);
    EXPECT_EQ(ia[i].high, ib[i].high);
  }
}

TEST(ManyComparisons, WrongUseIsRefused) {
  const std::vector<float> scores = {1, 2, 3, 4};
  const std::vector<std::int32_t> two = {0, 1};
  const auto refused = [](DenseScores s) {
    EXPECT_THROW(ManyComparisons{s}, std::invalid_argument);
  };
  refused({scores, two, {}, false, {}, {}, {}});
  refused({std::span(scores).first(3), two, two, false, {}, {}, {}});
  const std::vector<std::uint8_t> bad_mask = {0, 1, 2, 3};
  refused({scores, two, two, false, bad_mask, {}, {}});
  const std::vector<std::int32_t> other = {0, 2};
  refused({scores, two, other, true, {}, {}, {}});
  const std::vector<std::int32_t> same = {4, 4}, apart = {7, 8};
  refused({scores, same, same, false, {}, {}, {}});  // no impostor
  refused({scores, two, apart, false, {}, {}, {}});  // no genuine
  const std::vector<float> bad = {1, 2, std::numeric_limits<float>::quiet_NaN(), 4};
  refused({bad, two, two, false, {}, {}, {}});
  EXPECT_NO_THROW(ManyComparisons(DenseScores{scores, two, two, false, {}, {}, {}}));
  const ManyComparisons good(DenseScores{scores, two, two, false, {}, {}, {}});
  EXPECT_THROW(tar_at_far(good, 1.5), std::invalid_argument);
  const std::vector<Weight> three = {1, 1, 1};
  EXPECT_THROW(good.roc(three), std::invalid_argument);
}

}  // namespace
}  // namespace facebench

#include "facebench/trials/trials.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include "facebench/core/error.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/io/file.h"
#include "facebench/metrics/summary.h"
#include "facebench/runs/run_folder.h"
#include "facebench/trials/dense_trials.h"
#include "facebench/trials/identification_trials.h"
#include "facebench/trials/listed_trials.h"
#include "facebench/trials/matrix_trials.h"
#include "lists/tiny_lfw.h"
#include "trials/random_people.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr int kSubjects = 6, kSamples = 8, kTemplateDim = 16;

// Six people with four templates of two samples each, and a protocol with one track of each kind.
struct TemplateSet {
  TrialSet trials;
  ProtocolSpec spec;
  EmbeddingSet embeddings;

  TemplateSet() {
    RandomPeople{kSubjects, kSamples, kTemplateDim, 3, 3, 1.2}.fill(trials, embeddings);
    for (std::int32_t i = 0; i < kSubjects * kSamples; ++i) {
      const std::int32_t p = trials.identity[i], s = i % kSamples;
      if (s % 2 == 0)
        trials.templates.add("p" + std::to_string(p) + "t" + std::to_string(s / 2), p);
      trials.templates.add_sample(i, s % 2);
    }
    DenseTrials dense;
    MatrixTrials matrix;
    IdentificationTrials search;
    ListedTrials listed;
    matrix.groups = {"young", "old"};
    for (std::int32_t p = 0; p < kSubjects; ++p) {
      const auto t = [p](std::int32_t k) { return 4 * p + k; };
      dense.rows.push_back(t(0));
      dense.columns.push_back(t(2));
      matrix.first.insert(matrix.first.end(), {t(0), t(2)});
      matrix.second.insert(matrix.second.end(), {t(1), t(3)});
      search.probes.push_back(t(1));
      if (p < 4) search.gallery.push_back(t(0));
      listed.comparisons.push_back({t(0), t(1)});
      listed.genuine.push_back(1);
      listed.comparisons.push_back({t(0), (t(0) + 4) % 24});
      listed.genuine.push_back(0);
      listed.fold.insert(listed.fold.end(), {p % 2, p % 2});
    }
    trials.tracks = {{"list", listed}, {"cross", dense}, {"ages", matrix}, {"search", search}};
    trials.check();
    spec = protocol_by_hand(R"(
fusion = "mean_unit"
[[metrics]]
name = "auc"
[[metrics]]
name = "tar_at_far"
targets = [0.1]
[[metrics]]
name = "mean_similarity"
[[metrics]]
name = "impostor_similarity"
[[metrics]]
name = "dprime"
)");
  }

  // The cosine of two templates, straight from the definition.
  double cosine(std::int32_t a, std::int32_t b) const {
    const auto fused = [&](std::int32_t t) {
      std::vector<double> sum(kTemplateDim, 0.0);
      for (auto i = trials.templates.begin[t]; i < trials.templates.begin[t + 1]; ++i) {
        const auto row = embeddings.row(static_cast<std::size_t>(trials.templates.sample[i]));
        double length = 0;
        for (const float x : row) length += double(x) * double(x);
        if (length == 0) continue;
        for (int k = 0; k < kTemplateDim; ++k) sum[k] += row[k] / std::sqrt(length);
      }
      double squared = 0;
      for (const double v : sum) squared += v * v;
      // A template's embedding is float32, as any other.
      for (double& v : sum) v = static_cast<float>(v / std::sqrt(squared));
      return sum;
    };
    const auto x = fused(a), y = fused(b);
    double xy = 0, xx = 0, yy = 0;
    for (int k = 0; k < kTemplateDim; ++k) xy += x[k] * y[k], xx += x[k] * x[k], yy += y[k] * y[k];
    return xy / std::sqrt(xx * yy);
  }
};

EvaluationOptions quick() {
  EvaluationOptions o;
  o.replicates = 50;
  return o;
}

TEST(TrackKinds, ScoresAreTheCosinesOfTheTemplates) {
  TemplateSet set;
  fail_sample(set.embeddings, 0);  // one of the two of a template: the other carries it
  const Result r = evaluate(under(set.spec, set.trials), set.embeddings, quick());
  for (std::size_t t = 0; t < 4; ++t) {
    const Track& track = set.trials.tracks[t];
    for (std::int64_t k = 0; k < r.scores[t].count(); ++k) {
      const Comparison c = *track.trials->comparison_at(k);
      EXPECT_NEAR(r.scores[t].at(k), set.cosine(c.first, c.second),
                  track.trials->single() ? 1e-7 : 1e-14)
          << track.name << " " << k;
    }
    EXPECT_TRUE(r.tracks[t].failed.empty());
    ASSERT_EQ(r.tracks[t].left_out.size(), 1u) << track.name;
    EXPECT_EQ(r.tracks[t].left_out[0].name, "p0/0.jpg");
  }
  const TrackResult& cross = r.track("cross");
  EXPECT_EQ(cross.kind, "dense");
  EXPECT_EQ(cross.comparisons, 36);
  EXPECT_EQ(cross.genuine, 6);
  EXPECT_EQ(cross.templates, 12);
  EXPECT_EQ(cross.samples, 24);
  const TrackResult& search = r.track("search");
  EXPECT_EQ(search.more_counts,
            (std::vector<std::pair<std::string, std::int64_t>>{
                {"gallery", 4}, {"probes", 6}, {"mated", 4}, {"non_mated", 2}}));
}

TEST(TrackKinds, MatrixCellsAreMeansOverSubjectsAndTheirTwinsOverPairs) {
  const TemplateSet set;
  const Result r = evaluate(under(set.spec, set.trials), set.embeddings, quick());
  const TrackResult& track = r.track("ages");
  EXPECT_EQ(track.genuine, 4 * kSubjects);
  EXPECT_EQ(track.impostor, 4 * kSubjects * (kSubjects - 1));
  const MatrixValue& mean = *track.number("mean_similarity").matrix;
  const MatrixValue& twin = *track.number("impostor_similarity").matrix;
  const MatrixValue& dprime = *track.number("dprime").matrix;
  for (std::int32_t i = 0; i < 2; ++i)
    for (std::int32_t j = 0; j < 2; ++j) {
      std::vector<double> scores;
      std::vector<std::uint8_t> labels;
      double same = 0, other = 0;
      for (std::int32_t s = 0; s < kSubjects; ++s)
        for (std::int32_t t = 0; t < kSubjects; ++t) {
          const double c = set.cosine(4 * s + 2 * i, 4 * t + 2 * j + 1);
          (s == t ? same : other) += c;
          scores.push_back(c);
          labels.push_back(s == t);
        }
      const auto k = static_cast<std::size_t>(2 * i + j);
      EXPECT_NEAR(mean.values[k], same / kSubjects, 1e-14);
      EXPECT_NEAR(twin.values[k], other / (kSubjects * (kSubjects - 1)), 1e-14);
      EXPECT_NEAR(dprime.values[k], summarize(scores, labels).dprime, 1e-12);
      EXPECT_LT(mean.intervals[k].low, mean.values[k]);
      EXPECT_GT(mean.intervals[k].high, mean.values[k]);
      EXPECT_EQ(mean.intervals[k].method, "dyadic_bootstrap_t");
    }
  const Json json = metrics_json(r)["tracks"]["ages"];
  const Json& cell = json["metrics"]["mean_similarity"];
  EXPECT_EQ(cell["rows"], (Json{"young", "old"}));
  EXPECT_EQ(cell["value"][1][0].get<double>(), mean.values[2]);
  EXPECT_EQ(cell["interval"][1][0][1].get<double>(), mean.intervals[2].high);
  EXPECT_EQ(json["counts"]["subjects"], kSubjects);
  EXPECT_EQ(json["counts"]["templates"], 24);
}

TEST(TrackKinds, ATemplateOfWhichNoSampleWasEnrolledIsAFailedEnrolment) {
  TemplateSet set;
  fail_sample(set.embeddings, 0);
  fail_sample(set.embeddings, 1);
  const Result r = evaluate(under(set.spec, set.trials), set.embeddings, quick());
  const TrackResult& cross = r.track("cross");
  ASSERT_EQ(cross.failed.size(), 1u);
  EXPECT_EQ(cross.failed[0].name, "p0t0");
  EXPECT_EQ(cross.failed[0].status, SampleStatus::no_face);
  EXPECT_EQ(cross.failed_comparisons, kSubjects);
  EXPECT_EQ(cross.comparisons, 36);
  EXPECT_EQ(r.scores[1].at(0), -1);
  EvaluationOptions o = quick();
  o.failed_enrolments = "drop";
  const Result dropped = evaluate(under(set.spec, set.trials), set.embeddings, o);
  EXPECT_EQ(dropped.track("cross").comparisons, 30);
  EXPECT_EQ(dropped.track("cross").dropped, 6);
  const TrackResult& ages = dropped.track("ages");
  EXPECT_EQ(ages.genuine, 4 * kSubjects - 2);  // the young row has lost its first subject
  double same = 0;
  for (std::int32_t s = 1; s < kSubjects; ++s) same += set.cosine(4 * s, 4 * s + 1);
  EXPECT_NEAR(ages.number("mean_similarity").matrix->values[0], same / (kSubjects - 1), 1e-14);
}

TEST(TrackKinds, AConstantEmbeddingIsUnmaskedByTheTwin) {
  TemplateSet set;
  std::fill(set.embeddings.values.begin(), set.embeddings.values.end(), 0.25f);
  const Result r = evaluate(under(set.spec, set.trials), set.embeddings, quick());
  const TrackResult& track = r.track("ages");
  EXPECT_DOUBLE_EQ(track.number("mean_similarity").matrix->values[0], 1);
  EXPECT_DOUBLE_EQ(track.number("impostor_similarity").matrix->values[0], 1);
  EXPECT_TRUE(std::isnan(track.number("dprime").matrix->values[0]));
  const Json json = metrics_json(r);
  EXPECT_TRUE(json["tracks"]["ages"]["metrics"]["dprime"]["value"][0][0].is_null());
}

TEST(TrackKinds, ScoresFileGivesTheSameNumbersBack) {
  TemplateSet set;
  fail_sample(set.embeddings, 5);
  Job one, two;
  one.threads = 1;
  two.threads = 2;
  const Result r = evaluate(under(set.spec, set.trials), set.embeddings, quick(), one);
  const Result again = evaluate(under(set.spec, set.trials), set.embeddings, quick(), two);
  EXPECT_EQ(r.scores, again.scores);
  const TinyLfw place;
  write_run_files(place.root(), r);
  const RunScores read = read_scores(place.root() / "scores.h5");
  EXPECT_EQ(read.scores, r.scores);
  EXPECT_EQ(read.trials.tracks[0].name, "list");  // in the order of the lists
  const auto tracks = measure_tracks(read);
  EXPECT_EQ(pretty_json(metrics_json(read, tracks)), read_file(place.root() / "metrics.json"));
}

TEST(TrackKinds, ScoresThatAreNotThoseOfTheTrialsAreRefused) {
  const TemplateSet set;
  const Result r = evaluate(under(set.spec, set.trials), set.embeddings, quick());
  for (std::size_t t = 0; t < r.scores.size(); ++t) {
    Result changed = r;
    changed.scores[t] = std::vector<float>(3, 0.5f);
    EXPECT_THROW(measure_tracks(changed), std::invalid_argument) << r.tracks[t].name;
  }
}

TEST(TrackKinds, TrialsThatKnowNoProtocolAreRefused) {
  const TemplateSet set;
  EXPECT_THROW(evaluate(set.trials, set.embeddings), std::invalid_argument);
}

TEST(TrackKinds, GivenScoresFillTheShapeOfEachKind) {
  const TemplateSet set;
  const Result wanted = evaluate(under(set.spec, set.trials), set.embeddings, quick());
  std::vector<double> flat;
  for (const Scores& s : wanted.scores)
    for (std::int64_t k = 0; k < s.count(); ++k) flat.push_back(s.at(k));
  const Result r = evaluate_scores(under(set.spec, set.trials), flat, {}, quick());
  EXPECT_EQ(r.scores, wanted.scores);
  EXPECT_EQ(metrics_json(r), metrics_json(wanted));
  flat.back() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(evaluate_scores(under(set.spec, set.trials), flat, {}, quick()), Error);
}

TEST(TrackKinds, ATriangleComparesEachPairOnceAndAMaskLeavesOut) {
  TemplateSet set;
  DenseTrials all;
  for (std::int32_t u = 0; u < 24; ++u) all.rows.push_back(u);
  all.columns = all.rows;
  all.triangle = true;
  set.trials.tracks = {{"all", all}};
  auto counts = track_counts(set.trials.tracks[0], set.trials);
  EXPECT_EQ(counts[0].second, 24 * 23 / 2);
  EXPECT_EQ(counts[1].second, kSubjects * 6);
  all.mask.assign(24 * 24, DenseTrials::not_compared);
  all.mask[1] = DenseTrials::is_genuine;
  all.mask[4] = DenseTrials::is_impostor;
  set.trials.tracks = {{"all", all}};
  set.trials.check();
  counts = track_counts(set.trials.tracks[0], set.trials);
  EXPECT_EQ(counts[0].second, 2);
  EXPECT_EQ(counts[1].second, 1);
}

TEST(TrackKinds, TrialsThatContradictThemselvesAreRefused) {
  const auto refused = [](auto change) {
    TemplateSet set;
    change(set.trials);
    EXPECT_THROW(set.trials.check(), std::logic_error);
  };
  const auto damaged = [&]<class T>(std::size_t track, const std::function<void(T&)>& change) {
    refused([&](TrialSet& set) {
      T trials = trials_of<T>(set.tracks[track]);
      change(trials);
      set.tracks[track] = {set.tracks[track].name, std::move(trials)};
    });
  };
  damaged.operator()<DenseTrials>(1, [](DenseTrials& t) { t.rows[0] = 24; });
  damaged.operator()<DenseTrials>(1, [](DenseTrials& t) { t.rows[0] = 2; });
  damaged.operator()<DenseTrials>(1, [](DenseTrials& t) { t.rows[0] = 4; });
  damaged.operator()<DenseTrials>(1, [](DenseTrials& t) { t.triangle = true; });
  damaged.operator()<DenseTrials>(1, [](DenseTrials& t) { t.mask = {1, 2}; });
  damaged.operator()<DenseTrials>(1, [](DenseTrials& t) { t.mask.assign(36, 3); });
  damaged.operator()<MatrixTrials>(2, [](MatrixTrials& t) { t.groups = {"a", "a"}; });
  damaged.operator()<MatrixTrials>(2, [](MatrixTrials& t) { t.first[0] = 4; });
  damaged.operator()<MatrixTrials>(2, [](MatrixTrials& t) { t.second.pop_back(); });
  damaged.operator()<IdentificationTrials>(3, [](IdentificationTrials& t) { t.probes[0] = 0; });
  damaged.operator()<IdentificationTrials>(3, [](IdentificationTrials& t) { t.gallery = {}; });
  damaged.operator()<ListedTrials>(0, [](ListedTrials& t) { t.genuine[0] = 2; });
  refused([](TrialSet& t) { t.tracks[1].name = "list"; });
  refused([](TrialSet& t) { t.templates.names[1] = "p0t0"; });
  refused([](TrialSet& t) { t.templates.identity[0] = 1; });
  refused([](TrialSet& t) { t.templates.sample[0] = 48; });
  refused([](TrialSet& t) { t.templates.begin[1] = 0; });
  refused([](TrialSet& t) { t.templates.begin[1] = 99; });
}

TEST(TrackKinds, AMetricThatNoTrackCanHaveIsAnError) {
  TemplateSet set;
  set.trials.tracks.erase(set.trials.tracks.begin() + 2);
  try {
    evaluate(under(set.spec, set.trials), set.embeddings, quick());
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("mean_similarity"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace facebench

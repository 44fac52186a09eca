#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/evaluation/curves.h"
#include "facebench/io/file.h"
#include "facebench/runs/run_folder.h"
#include "facebench/runs/save.h"
#include "facebench/runs/table.h"
#include "facebench/runs/verify.h"
#include "facebench/trials/identification_trials.h"
#include "io/helpers.h"
#include "lists/tiny_lfw.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

class RunFolder : public testing::Test {
 protected:
  fs::path save(const std::string& name, int threads = 1, bool overwrite = false) {
    Job job;
    job.threads = threads;
    const TrialSet t = read_trials(tiny_.spec(), {tiny_.root()});
    EmbeddingSet e = tiny_.embeddings(t);
    e.status[3] = SampleStatus::no_face;
    EvaluationOptions o;
    o.replicates = 100;
    const Result r = evaluate(t, e, o, job);
    RunInfo info;
    info.root = tiny_.root();
    info.threads = threads;
    save_run(tiny_.root() / name, r, info, overwrite);
    return tiny_.root() / name;
  }
  static void flip(const fs::path& path, double where) {
    std::string bytes = read_file(path);
    bytes[static_cast<std::size_t>(static_cast<double>(bytes.size()) * where)] ^= 1;
    write_file(path, bytes);
  }

  TinyLfw tiny_;
};

TEST_F(RunFolder, TheSameContentGivesTheSameBytes) {
  const fs::path a = save("a", 1), b = save("b", 2);
  for (const char* file : {"scores.h5", "metrics.json", "curves.json"})
    EXPECT_EQ(read_file(a / file), read_file(b / file)) << file;
  EXPECT_EQ(read_run(a).manifest.content, read_run(b).manifest.content);
  EXPECT_TRUE(all_same(verify_scores(a)));
  EXPECT_TRUE(all_same(verify_inputs(a)));
  EXPECT_TRUE(all_same(verify_inputs(a, tiny_.root())));
}

// Calls `act` once, when something begins.
class WhenItBegins : public ProgressSink {
 public:
  explicit WhenItBegins(std::function<void()> act) : act_(std::move(act)) {}
  void begin(std::string_view, std::int64_t, std::string_view) override {
    if (const auto act = std::exchange(act_, nullptr)) act();
  }
  void update(std::int64_t, std::string_view) override {}
  void end() override {}

 private:
  std::function<void()> act_;
};

TEST_F(RunFolder, ScoresThatAreWrittenBetweenHashAndReadingAreRefused) {
  const fs::path run = save("a");
  const auto written = [&](const auto& read) {
    WhenItBegins other([&] {
      const std::string bytes = read_file(run / "scores.h5");
      fs::remove(run / "scores.h5");
      write_file(run / "scores.h5", bytes);
    });
    EXPECT_ERROR(read(run, Job{.progress = &other}), "was written while it was read");
    EXPECT_NO_THROW(read(run, Job{}));
  };
  written([](const fs::path& folder, const Job& job) { read_run_scores(folder, job); });
  written([](const fs::path& folder, const Job& job) { read_whole_run(folder, job); });
}

TEST_F(RunFolder, MetricsHaveTheDocumentedShape) {
  const Json m = read_run(save("a")).metrics;
  EXPECT_EQ(m["protocol"]["id"], "lfw");
  EXPECT_EQ(m["protocol"]["sha256"].get<std::string>().size(), 64u);
  EXPECT_EQ(m["convention"], "exact");
  const Json& track = m["tracks"]["view2"];
  EXPECT_EQ(track["counts"], (Json{{"comparisons", 8},
                                   {"genuine", 4},
                                   {"impostor", 4},
                                   {"failed_enrolments", 1},
                                   {"failure_to_enrol_rate", 1.0 / 12}}));
  for (const char* name :
       {"accuracy", "auc", "eer", "tar@far=0.1", "tar@far=0.01", "tar@far=0.001"}) {
    const Json& cell = track["metrics"][name];
    EXPECT_TRUE(cell["value"].is_number()) << name;
    // A set this small has no interval, and says why.
    EXPECT_TRUE(cell["interval"].is_null()) << name;
    EXPECT_TRUE(cell["no_interval"].is_string()) << name;
  }
  for (const char* key :
       {"far_target", "far_achieved", "false_accepts", "expected_false_accepts", "threshold"})
    EXPECT_TRUE(track["metrics"]["tar@far=0.01"].contains(key)) << key;
}

TEST_F(RunFolder, VerifyFindsChangedScoresMetricsAndLists) {
  const fs::path run = save("a");
  for (const double where : {0.3, 0.6, 0.9}) {
    const std::string good = read_file(run / "scores.h5");
    flip(run / "scores.h5", where);
    EXPECT_FALSE(all_same(verify_scores(run)));
    write_file(run / "scores.h5", good);
  }
  EXPECT_TRUE(all_same(verify_scores(run)));

  std::string metrics = read_file(run / "metrics.json");
  const std::string good = metrics;
  const std::size_t at = metrics.find("\"genuine\": 4");
  ASSERT_NE(at, std::string::npos);
  metrics[at + 11] = '5';
  write_file(run / "metrics.json", metrics);
  const auto checks = verify_scores(run);
  EXPECT_FALSE(checks[1].same);
  const auto again = std::ranges::find(checks, "metrics from scores", &Check::name);
  ASSERT_NE(again, checks.end());
  EXPECT_FALSE(again->same);
  EXPECT_NE(again->detail.find("/tracks/view2/counts/genuine"), std::string::npos) << again->detail;
  write_file(run / "metrics.json", good);

  tiny_.replace("Ann\t1\t2", "Ann\t1\t4");
  const auto inputs = verify_inputs(run);
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_FALSE(inputs[0].same);
  EXPECT_EQ(inputs[0].name, "input pairs");
  EXPECT_FALSE(inputs[1].same);
  EXPECT_TRUE(inputs[1].checked);
  EXPECT_EQ(inputs[1].name, "comparisons from the lists");
  fs::remove(tiny_.root() / "protocol/pairs.txt");
  EXPECT_FALSE(all_same(verify_inputs(run)));
}

TEST_F(RunFolder, OnlyOurOwnFoldersAreReplaced) {
  const fs::path run = save("a");
  EXPECT_THROW(save("a"), Error);
  EXPECT_NO_THROW(save("a", 1, true));
  write_file(tiny_.root() / "other/precious.txt", "mine");
  EXPECT_THROW(save("other", 1, true), Error);
  EXPECT_EQ(read_file(tiny_.root() / "other/precious.txt"), "mine");
  EXPECT_THROW(read_run(tiny_.root() / "other"), Error);
  for (const auto& entry : fs::directory_iterator(tiny_.root()))
    EXPECT_EQ(entry.path().filename().string().find(".tmp"), std::string::npos) << entry.path();
}

TEST_F(RunFolder, TablesOfSeveralRuns) {
  const facebench::Run a = read_run(save("a")), b = read_run(save("b"));
  const std::vector<facebench::Run> runs = {a, b};
  const ReportTable table = make_table(runs, {"one & two", "b"});
  EXPECT_EQ(table.rows.size(), 7u);  // six metrics and the failures to enrol
  EXPECT_EQ(cell_text(table.rows.back(), table.rows.back().cells[0]), "8.33 (1 of 12)");
  const std::string text = table_text(table);
  EXPECT_NE(text.find("\nlfw view2: TAR at FAR 0.1 %"), std::string::npos) << text;
  EXPECT_NE(text.find("one & two"), std::string::npos) << text;
  EXPECT_EQ(table_json(table)["rows"].size(), 7u);
  EXPECT_THROW(make_table(runs, {"one"}), std::invalid_argument);
  EXPECT_THROW(make_table(runs, {"one", "one"}), std::invalid_argument);
}

// Of another protocol, with numbers made up by hand: a matrix and a rate at a FAR.
facebench::Run made_up_run() {
  facebench::Run run;
  run.folder = "made-up";
  run.manifest.content = parse_json(
      R"({"protocol": {"id": "poses", "title": "Poses", "version": 1, "sha256": "0"},
          "options": {"convention": "exact", "failed_enrolments": "drop"}, "inputs": [],
          "outputs": {}, "tracks": {"pose": {"samples": 40, "templates": 8, "identities": 2}}})",
      "content");
  run.metrics = parse_json(
      R"({"protocol": {"id": "poses"}, "convention": "exact", "tracks": {"pose": {
          "counts": {"comparisons": 8, "genuine": 4, "impostor": 4, "failed_enrolments": 2},
          "metrics": {
            "mean_similarity": {"value": [[0.5, 0.25], [0.125, null]],
              "rows": ["front", "side"], "columns": ["front", "side"], "level": 0.95,
              "interval": [[[0.4, 0.6], [0.2, 0.3]], [null, null]], "method": "vertex"},
            "tar@far=0.001": {"value": 0.5, "interval": null, "level": null, "method": "none",
              "far_target": 0.001, "far_achieved": 0.0005, "false_accepts": 2,
              "expected_false_accepts": 4.0, "reliable": false}}}}})",
      "metrics");
  return run;
}

TEST_F(RunFolder, SeveralProtocolsOfOneSystemShareAColumn) {
  const std::vector<facebench::Run> runs = {read_run(save("a")), made_up_run()};
  const ReportTable table = make_table(runs, {"system", "system"});
  EXPECT_EQ(table.columns, std::vector<std::string>{"system"});
  ASSERT_EQ(table.rows.size(), 7u + 4 + 1 + 1);
  const auto text = [&](std::size_t i) {
    return row_title(table.rows[i]) + ": " + cell_text(table.rows[i], table.rows[i].cells[0]);
  };
  EXPECT_EQ(text(7), "mean similarity, front - front: 0.500 [0.400, 0.600]");
  EXPECT_EQ(text(9), "mean similarity, side - front: 0.125");
  EXPECT_EQ(text(10), "mean similarity, side - side: undefined");
  EXPECT_EQ(text(11), "TAR at FAR 0.1 %: 50.00* (2 at FAR 0.05 %)");
  EXPECT_EQ(text(12), "failures to enrol: 25.00 (2 of 8)");
  const Json json = table_json(table);
  EXPECT_FALSE(json["no_interval"].empty());
  EXPECT_NE(json["notes"].dump().find("Fewer than ten"), std::string::npos);
  const Json& cells = json["rows"];
  EXPECT_EQ(cells[9]["cells"][0]["value"], 0.125);
  EXPECT_TRUE(cells[10]["cells"][0]["value"].is_null());
  EXPECT_EQ(cells[11]["cells"][0]["support"], (Json{{"rate", "FAR"},
                                                    {"target", 0.001},
                                                    {"achieved", 0.0005},
                                                    {"errors", 2},
                                                    {"expected", 4.0},
                                                    {"reliable", false}}));
  EXPECT_EQ(cells[12]["cells"][0]["counted"], (Json{{"count", 2}, {"total", 8}}));
}

TEST_F(RunFolder, DamagedManifestsAreErrors) {
  const fs::path run = save("a");
  const std::string good = read_file(run / "run.json");
  write_file(run / "run.json", "{\"content\": {\"kind\": \"evaluation\"}, \"circumstance\": {}}");
  EXPECT_THROW(read_run(run), Error);
  write_file(run / "run.json", good.substr(0, good.size() / 2));
  EXPECT_THROW(read_run(run), Error);
  EXPECT_FALSE(is_run_folder(run));
}

// Gallery: Ann, Bob, Cat. Probes by hand: Ann's mate is first (0.9), Bob's is second (0.4 after
// 0.5), Dan and Eve are in no gallery and get 0.6 and 0.3 at best.
TEST(TrackCurves, IdentificationByHand) {
  TrialSet trials;
  trials.identity_names = {"Ann", "Bob", "Cat", "Dan", "Eve"};
  trials.names = {"a1", "b1", "c1", "a2", "b2", "d", "e"};
  trials.identity = {0, 1, 2, 0, 1, 3, 4};
  IdentificationTrials search;
  search.gallery = {0, 1, 2};
  search.probes = {3, 4, 5, 6};
  trials.tracks.push_back({"search", search});
  const std::vector<double> scores = {.9, .1, .2, .5, .4, .1, .6, .1, .2, .3, .1, .2};
  std::vector<SampleStatus> status(7, SampleStatus::ok);
  ProtocolSpec spec = load_protocol("lfw_search");
  spec.metrics = {{"rank", {1}, ""}};  // its rank 5 lies outside so small a gallery
  EvaluationOptions o;
  o.interval = "none";
  o.failed_enrolments = "lowest_score";
  const auto measured = [&] {
    return evaluate_scores(under(spec, trials), scores, status, o).curves;
  };
  const auto curves = measured();
  ASSERT_EQ(curves.size(), 1u);
  EXPECT_TRUE(curves[0].roc.empty());
  EXPECT_EQ(curves[0].cmc, (std::vector<double>{0.5, 1, 1}));
  const auto& dir = curves[0].dir;
  ASSERT_FALSE(dir.empty());
  EXPECT_EQ(dir.front().fpir, 0);
  EXPECT_EQ(dir.front().dir, 0);
  // Above 0.6 only Ann is answered; at rank 1 Bob never is.
  EXPECT_TRUE(std::ranges::any_of(
      dir, [](const IdentificationPoint& p) { return p.fpir == 0 && p.dir == 0.5; }));
  EXPECT_EQ(dir.back().fpir, 1);
  EXPECT_EQ(dir.back().dir, 0.5);

  // Bob's probe failed and is left out: one mated probe, found at rank 1.
  o.failed_enrolments = "drop";
  status[4] = SampleStatus::no_face;
  EXPECT_EQ(measured()[0].cmc, (std::vector<double>{1, 1, 1}));
  // Nobody in the gallery is left: nothing to measure or plot.
  for (int i : {0, 1, 2}) status[static_cast<std::size_t>(i)] = SampleStatus::no_face;
  EXPECT_THROW(measured(), Error);
}

TEST_F(RunFolder, CurvesAreKeptToTheBitAndDamageIsAnError) {
  const fs::path run = save("a");
  const Json kept = parse_json(read_file(run / "curves.json"), "curves.json");
  EXPECT_EQ(curves_json(read_curves(read_run(run))), kept);
  EXPECT_EQ(kept["tracks"][0]["track"], "view2");
  EXPECT_TRUE(kept["tracks"][0].contains("roc"));
  for (const char* bad :
       {R"({"format": 2, "tracks": []})", R"({"format": 1, "tracks": [{"track": 1}]})",
        R"({"format": 1, "tracks": [{"track": "t", "roc": {"far": [0, 1], "tar": [0]}}]})",
        R"({"format": 1, "tracks": [{"track": "t", "scores": {"edges": [0], "genuine": [1],
            "impostor": [1]}}]})"})
    EXPECT_THROW(curves_from_json(parse_json(bad, "bad"), "bad"), Error) << bad;
  // Without the file they are computed again from the scores; the hash is gone with it.
  facebench::Run older = read_run(run);
  older.manifest.content["outputs"].erase("curves.json");
  fs::remove(run / "curves.json");
  EXPECT_EQ(curves_json(read_curves(older)), kept);
}

TEST(RocPoints, KeepTheEndsAndLieOnTheCurve) {
  Random random(3, "scores");
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  for (int i = 0; i < 20000; ++i) {
    labels.push_back(i % 2);
    scores.push_back(random.normal() + 2 * labels.back());
  }
  const auto points = roc_points(scores, labels);
  EXPECT_LE(points.size(), 500u);
  EXPECT_GT(points.size(), 300u);
  EXPECT_EQ(points.front().far, 0);
  EXPECT_EQ(points.front().tar, 0);
  EXPECT_EQ(points.back().far, 1);
  EXPECT_EQ(points.back().tar, 1);
  for (std::size_t i = 1; i < points.size(); ++i) {
    EXPECT_GE(points[i].far, points[i - 1].far);
    EXPECT_GE(points[i].tar, points[i - 1].tar);
    EXPECT_NEAR(points[i].far * 10000, std::round(points[i].far * 10000), 1e-9);
  }
  EXPECT_EQ(roc_points(std::vector<double>{1, 0}, std::vector<std::uint8_t>{1, 0}).size(), 3u);
}

}  // namespace
}  // namespace facebench

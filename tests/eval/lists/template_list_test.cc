#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "facebench/evaluation/evaluate.h"
#include "facebench/trials/matrix_trials.h"
#include "io/helpers.h"
#include "lists/list_texts.h"

namespace facebench {
namespace {

// Two subjects with young and mature, templates of two images.
const std::string kList =
    "n1/1_1.jpg\nn1/2_1.jpg\nn1/3_1.jpg\nn1/4_1.jpg\nn1/5_1.jpg\nn1/6_1.jpg\nn1/7_1.jpg\n"
    "n1/8_1.jpg\nn2/1_1.jpg\nn2/2_1.jpg\nn2/3_1.jpg\nn2/4_1.jpg\nn2/5_1.jpg\nn2/6_1.jpg\n"
    "n2/7_1.jpg\nn2/8_1.jpg\n";
constexpr const char* kFile = "test_agetemp_imglist.txt";

ProtocolSpec small() { return changed("vggface2_age", {{"size = 5", "size = 2"}}); }

TrialSet read(const std::string& text, const ProtocolSpec& spec = small()) {
  const TemporaryFolder folder;
  write_file(folder / kFile, text);
  return read_trials(spec, {folder.path()});
}

// Lengths and degrees of 2-dimensional embeddings, in the order of the list.
EmbeddingSet embeddings(const TrialSet& set, const std::vector<std::array<double, 2>>& polar) {
  EmbeddingSet e;
  e.dim = 2;
  e.names = set.names;
  e.status.assign(set.names.size(), SampleStatus::ok);
  for (const auto& [length, degrees] : polar) {
    const double a = degrees * std::acos(-1.0) / 180;
    e.values.push_back(static_cast<float>(length * std::cos(a)));
    e.values.push_back(static_cast<float>(length * std::sin(a)));
  }
  return e;
}

double cosine(double degrees) { return std::cos(degrees * std::acos(-1.0) / 180); }

TEST(TemplateList, BlocksAreDataAsWorkedOutByHand) {
  const TrialSet set = read(kList);
  EXPECT_EQ(set.templates.names.at(0), "n1/young/1");
  EXPECT_EQ(set.templates.names.at(7), "n2/mature/2");
  const auto& t = trials_of<MatrixTrials>(set.tracks.at(0));
  EXPECT_EQ(t.groups, (std::vector<std::string>{"young", "mature"}));
  EXPECT_EQ(t.first, (std::vector<std::int32_t>{0, 2, 4, 6}));
  EXPECT_EQ(t.second, (std::vector<std::int32_t>{1, 3, 5, 7}));
  // The same list with its blocks in another order.
  const TrialSet other = read(
      kList, changed("vggface2_age", {{"size = 5", "size = 2"},
                                      {"\"young/1\", \"young/2\", \"mature/1\", \"mature/2\"",
                                       "\"mature/2\", \"young/1\", \"mature/1\", \"young/2\""}}));
  const auto& u = trials_of<MatrixTrials>(other.tracks.at(0));
  EXPECT_EQ(u.groups, (std::vector<std::string>{"mature", "young"}));
  EXPECT_EQ(u.first, (std::vector<std::int32_t>{2, 1, 6, 5}));
  EXPECT_EQ(u.second, (std::vector<std::int32_t>{0, 3, 4, 7}));
}

TEST(TemplateList, MatricesAndBothReadingsOfTheMeanAsWorkedOutByHand) {
  const TrialSet set = read(kList);
  // Subject 1, unit embeddings in pairs around 0, 10 | 30, 60 degrees; subject 2 around 90, 90 |
  // 90, 120. Templates are the pairs' middles: rows young/1, mature/1 with columns young/2,
  // mature/2: subject 1: 10, 60 / 20, 30; subject 2: 0, 30 / 0, 30.
  std::vector<std::array<double, 2>> polar;
  for (const double middle : {0, 10, 30, 60, 90, 90, 90, 120})
    for (const double side : {-5, 5}) polar.push_back({1, middle + side});
  EvaluationOptions options;
  options.interval = "none";
  auto result = evaluate(under(small(), set), embeddings(set, polar), options);
  const Number& cell = result.tracks.at(0).number("mean_similarity");
  ASSERT_TRUE(cell.matrix);
  const std::vector<double> expected = {(cosine(10) + 1) / 2, (cosine(60) + cosine(30)) / 2,
                                        (cosine(20) + 1) / 2, cosine(30)};
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(cell.matrix->values[k], expected[k], 1e-6) << k;
  // Impostors: row subject 1 with column subject 2, and the other way. young/1 with young/2:
  // 0|90 and 90|10.
  const Number& impostor = result.tracks.at(0).number("impostor_similarity");
  EXPECT_NEAR(impostor.matrix->values[0], (cosine(90) + cosine(80)) / 2, 1e-6);

  // The first image of every pair ten times as long: mean_raw leans to it, mean_unit does not.
  for (std::size_t k = 0; k < polar.size(); k += 2) polar[k][0] = 10;
  options.fusion = "mean_unit";
  result = evaluate(under(small(), set), embeddings(set, polar), options);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_NEAR(result.tracks.at(0).number("mean_similarity").matrix->values[k], expected[k], 1e-6);
  // One pair only: 0 degrees of length 3 and 90 of length 1 lean to atan(1/3), unit to 45.
  polar[0] = {3, 0};
  polar[1] = {1, 90};
  const auto young = [&](const std::string& fusion) {
    options.fusion = fusion;
    return evaluate(under(small(), set), embeddings(set, polar), options)
        .tracks.at(0)
        .number("mean_similarity")
        .matrix->values[0];
  };
  // Column young/2 of subject 1: 5 and 15 degrees, lengths 10 and 1.
  const double second =
      std::atan2(10 * std::sin(std::acos(-1.0) / 36) + std::sin(std::acos(-1.0) / 12),
                 10 * std::cos(std::acos(-1.0) / 36) + std::cos(std::acos(-1.0) / 12));
  EXPECT_NEAR(young("mean_raw"), (std::cos(std::atan(1.0 / 3) - second) + 1) / 2, 1e-6);
  EXPECT_NEAR(young("mean_unit"), (cosine(35) + 1) / 2, 1e-6);
}

TEST(TemplateList, TheOfficialSizesAreExpected) {
  std::string pose;
  for (int s = 0; s < 368; ++s)
    for (int k = 0; k < 30; ++k) pose += fmt::format("n{:06d}/{:04d}_01.jpg\n", s, k);
  const TemporaryFolder folder;
  write_file(folder / "test_posetemp_imglist.txt", with_crlf_and_bom(pose));
  const ProtocolSpec spec = load_protocol("vggface2_pose");
  const TrialSet set = read_trials(spec, {folder.path()});
  EXPECT_TRUE(differences_from_official(spec, set).empty());
  EXPECT_EQ(set.templates.size(), 368u * 6);
  EXPECT_EQ(set.blemishes.size(), 2u);
  EXPECT_FALSE(differences_from_official(small(), read(kList)).empty());
}

TEST(TemplateList, MalformedListsAreErrorsWithFileAndLine) {
  for (const Damage& d : std::initializer_list<Damage>{
           {"n2/8_1.jpg\n", "", "imglist.txt:15: the list ends after 15 lines; 8 are expected"},
           {"n1/2_1.jpg", "n2/2_1.jpg", "imglist.txt:2: n2/2_1.jpg is not of n1, whose 8 lines"},
           {"n1/2_1.jpg", "", "imglist.txt:16: the list ends after 15 lines; 8 are expected"},
           {"n1/2_1.jpg", "2_1.jpg", "imglist.txt:2: the name '2_1.jpg' does not say who"},
           {"n1/2_1.jpg", "n1/../2_1.jpg", "imglist.txt:2: 'n1/../2_1.jpg' is not a plain path"},
           {kList, "", "imglist.txt:1: the list is empty"},
           {kList, kList + kList, "imglist.txt:17: the templates of n1 are in line 1 already"}})
    EXPECT_ERROR(read(with(kList, d.from, d.to)), d.expected);
  const TrialSet shared = read(with(kList, "n1/3_1.jpg", "n1/1_1.jpg"));
  EXPECT_EQ(shared.lists.at(0).notes.at(0), "has 1 images in two templates of a subject");
  for (const Damage& d : std::initializer_list<Damage>{
           {"\"young/2\"", "\"young/3\"", "'young/3' is not GROUP/1 or GROUP/2"},
           {"\"young/2\"", "\"young/1\"", "'young/1' is there twice"},
           {", \"young/2\"", "", "every group needs its templates 1 and 2"},
           {"size = 5", "size = 0", "option 'size': 0 is outside [1, 100000]"}})
    EXPECT_ERROR(changed("vggface2_age", {{d.from, d.to}}), d.expected);
}

}  // namespace
}  // namespace facebench

#include "facebench/claims/claim.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <set>

namespace facebench {
namespace {

using FirstAndLast = std::pair<std::int64_t, std::int64_t>;
FirstAndLast counts(const char* printed, std::int64_t total, const char* rounding) {
  const CountRange r = counts_printed_as(parse_printed(printed), total, rounding);
  return r.empty() ? FirstAndLast{-1, -1} : FirstAndLast{r.first, r.last};
}
constexpr FirstAndLast kNone = {-1, -1};

// Against every way to fill four folds of seven: what they print is possible, what none prints is
// not.
TEST(CountsWithSpread, AgreesWithEveryFilling) {
  constexpr int folds = 4, size = 7, total = folds * size;
  constexpr int parts = 1000;  // the last digit that is printed
  for (const SpreadKind& kind : spread_kinds().entries()) {
    std::map<int, std::set<int>> printed;  // of each count
    for (int code = 0; code < 8 * 8 * 8 * 8; ++code) {
      const int filled[] = {code % 8, code / 8 % 8, code / 64 % 8, code / 512};
      double sum = 0, squares = 0;
      for (const int f : filled) sum += f;
      for (const int f : filled) squares += std::pow(f - sum / folds, 2);
      const double spread = std::sqrt(squares / kind.divisor(folds)) / size * parts;
      for (const double rounded : {std::floor(spread + .5 + 1e-9), std::ceil(spread - .5 - 1e-9)})
        printed[static_cast<int>(sum)].insert(static_cast<int>(rounded));
    }
    for (int k = 0; k <= total; ++k)
      for (int digits = 0; digits <= parts; ++digits)
        EXPECT_EQ(counts_with_spread({k}, total, folds, {"", digits, parts}, kind).counts.size(),
                  printed[k].count(digits))
            << kind.name << " " << k << " " << digits;
  }
  EXPECT_THROW(counts_with_spread({1}, 7, 2, {"", 1, 10}, spread_kinds().entries()[0]),
               std::invalid_argument);
}

TEST(Claim, SpreadOfLfwsFolds) {
  const ProtocolSpec lfw = load_protocol("lfw");
  // Folds with 0, 0, 0, 0, 0, 1, 1, 2, 4, 5 errors of 600: mean .997833, sd .0028916, .0030480 with
  // n - 1, standard error .0009639.
  for (const auto& [text, name] :
       {std::pair{"0.99783+-0.00289", "standard_deviation"},
        std::pair{"99.7833 \u00B1 0.3048 %", "sample_standard_deviation"},
        std::pair{"0.99783 +- 0.00096", "standard_error"},
        std::pair{"99.78333 +- 0.00289", "standard_deviation"}}) {
    const Claim claim = check_claim(text, &lfw);
    const auto& kinds = claim.spread->kinds;
    const auto found = std::ranges::find(kinds, name, &Claim::Spread::Kind::name);
    EXPECT_EQ(found->counts, std::vector<std::int64_t>{5987}) << text;
  }
  // 13 errors in ten folds have sd .002693, .002794 and nothing between.
  const Claim impossible = check_claim("0.99783+-0.00275", &lfw);
  EXPECT_TRUE(impossible.spread->kinds.front().counts.empty());
  EXPECT_EQ(claim_json(impossible)["spread"]["kinds"]["standard_deviation"], Json::array());
  EXPECT_TRUE(
      check_claim("97.2 +- 0.3", nullptr, {.genuine = 500, .impostor = 500}).spread->kinds.empty());
}

// By hand: 5977 / 6000 = 99.6167 %, 5978 = 99.6333 %, 5979 = 99.6500 %.
TEST(CountsPrintedAs, LfwByHand) {
  EXPECT_EQ(counts("99.63", 6000, "nearest"), FirstAndLast(5978, 5978));
  EXPECT_EQ(counts("99.64", 6000, "nearest"), kNone);
  EXPECT_EQ(counts("99.64", 6000, "down"), kNone);
  EXPECT_EQ(counts("99.64", 6000, "up"), FirstAndLast(5978, 5978));
  EXPECT_EQ(counts("99.65", 6000, "nearest"), FirstAndLast(5979, 5979));
  EXPECT_EQ(counts("99.61", 6000, "nearest"), kNone);
  EXPECT_EQ(counts("99.61", 6000, "down"), FirstAndLast(5977, 5977));
  // 99.55 % to 99.65 %, both ends half way and included: 5973 to 5979.
  EXPECT_EQ(counts("99.6", 6000, "nearest"), FirstAndLast(5973, 5979));
  EXPECT_EQ(counts("99.6", 6000, "down"), FirstAndLast(5976, 5981));  // below 99.7 % = 5982
  EXPECT_EQ(counts("99.6", 6000, "up"), FirstAndLast(5971, 5976));    // above 99.5 % = 5970
  EXPECT_EQ(counts("100", 6000, "nearest"), FirstAndLast(5970, 6000));
  EXPECT_EQ(counts("100", 6000, "down"), FirstAndLast(6000, 6000));
  EXPECT_EQ(counts("0", 6000, "up"), FirstAndLast(0, 0));
  EXPECT_EQ(counts("99.6333", 6000, "nearest"), FirstAndLast(5978, 5978));
}

// Against printf, which rounds the double to the nearest.
TEST(CountsPrintedAs, AgreesWithPrinting) {
  for (const int total : {7, 300, 600, 1803, 6000}) {
    std::int64_t printed_by_someone = 0;
    for (int value = 0; value <= 1000; ++value) {
      char text[32];
      std::snprintf(text, sizeof text, "%d.%d %%", value / 10, value % 10);
      const CountRange r = counts_printed_as(parse_printed(text), total, "nearest");
      printed_by_someone += r.size();
      for (std::int64_t k = r.first; k <= r.last; ++k)
        EXPECT_LE(std::abs(static_cast<double>(k) / total - value / 1000.0), 0.0005 + 1e-12);
    }
    // Every count is printed as something; one half way between two as either.
    EXPECT_GE(printed_by_someone, total + 1);
    std::int64_t half_way = 0;
    for (std::int64_t k = 0; k <= total; ++k)
      half_way += 2000 * k % total == 0 && 2000 * k / total % 2;
    EXPECT_EQ(printed_by_someone, total + 1 + half_way);
  }
}

TEST(CountsPrintedAs, WrongUse) {
  const PrintedNumber p = parse_printed("99.63");
  EXPECT_THROW(counts_printed_as(p, 0, "nearest"), std::invalid_argument);
  EXPECT_THROW(counts_printed_as(p, 6000, "nearst"), std::invalid_argument);
  EXPECT_THROW(counts_printed_as(p, std::int64_t{1} << 50, "nearest"), std::invalid_argument);
}

TEST(Claim, LfwAccuracyOutOfTheProtocol) {
  const ProtocolSpec lfw = load_protocol("lfw");
  const Claim good = check_claim("99.63", &lfw);
  EXPECT_TRUE(good.exists());
  EXPECT_EQ(good.total, 6000);
  EXPECT_EQ(good.folds, 10);
  EXPECT_EQ(good.left_out, 0);
  const Claim bad = check_claim("99.64", &lfw);
  EXPECT_FALSE(bad.exists());
  EXPECT_TRUE(bad.exists("up"));
  EXPECT_EQ(bad.below, 5978);
  EXPECT_EQ(bad.above, 5979);
  // 21 errors of 5915 are 0.35503 %; of 5916 0.35497 %, which prints as 99.65; 22 errors would
  // need more than 6000.
  EXPECT_EQ(bad.left_out, 85);
  EXPECT_EQ(claim_json(bad)["possible"]["up"], (Json{5978, 5978}));
  EXPECT_TRUE(claim_json(bad)["possible"]["nearest"].is_null());
}

TEST(Claim, TarAtATooSmallFar) {
  ClaimOptions o;
  o.metric = "tar@far=0.0001";
  o.genuine = 5000;
  o.impostor = 5000;
  const Claim c = check_claim("69.84", nullptr, o);
  EXPECT_TRUE(c.exists());  // 3492 / 5000 = 69.84 %
  ASSERT_TRUE(c.far.has_value());
  EXPECT_DOUBLE_EQ(c.far->expected_false_accepts, 0.5);
  EXPECT_FALSE(c.far->reliable);
  EXPECT_EQ(c.far->achievable_far, 0);
  EXPECT_EQ(c.far->impostors_for_one, 10000);
  EXPECT_EQ(c.far->impostors_for_ten, 100000);
  // Steps of 0.02 points: an odd last digit does not exist.
  EXPECT_FALSE(check_claim("69.85", nullptr, o).exists());
  o.impostor = 100000;
  EXPECT_TRUE(check_claim("69.84", nullptr, o).far->reliable);
  o.metric = "far";
  EXPECT_EQ(check_claim("0.01 %", nullptr, o).below, 10);
}

// By hand with z = 1.959964 and 0.841621: nested, 0.1 points:
// (1.959964 sqrt(0.001) + 0.841621 sqrt(0.001 - 0.000001))^2 / 0.000001 = 7846.5.
TEST(Claim, HowManyTellTwoApart) {
  const ProtocolSpec lfw = load_protocol("lfw");
  const Claim c = check_claim("99.63", &lfw, {}, "99.53");
  ASSERT_TRUE(c.apart.has_value());
  EXPECT_EQ(c.apart->paired_nested, 7847);
  EXPECT_GT(c.apart->paired_independent, c.apart->paired_nested);
  EXPECT_GT(c.apart->unpaired, 60000);
  EXPECT_EQ(c.apart->identities, std::ceil(1.5 * static_cast<double>(c.apart->paired_independent)));
  EXPECT_FALSE(check_claim("99.63", &lfw, {}, "0.9963").apart.has_value());
  // Two proportions by hand: (1.959964 sqrt(2 0.325 0.675) + 0.841621 sqrt(0.1875 + 0.24))^2 /
  // 0.15^2 = 151.87.
  EXPECT_EQ(sample_size(0.25, 0.40, 1, 0.95, 0.8).unpaired, 152);
}

// The lines of insightface's pull request 1364 by their labels (ijb_evals: N1 takes norms away):
// two of them differ in as many switches as their labels differ in letters.
TEST(Claim, LinesOfTheGoldenTableDifferAsTheirLabelsDo) {
  const std::vector<std::pair<std::string, std::string>> lines = {
      {"N1D1F1", "0.96073"},  {"N1D1F0", "0.959145"}, {"N1D0F1", "0.958122"},
      {"N1D0F0", "0.956486"}, {"N0D1F1", "0.962775"}, {"N0D1F0", "0.961037"},
      {"N0D0F1", "0.962162"}};
  const std::map<char, std::vector<std::string>> words = {
      {'N', {"norms kept", "each sample of unit length"}},
      {'D', {"no detector score", "times the detector score"}},
      {'F', {"flip is none", "flip is sum"}}};
  const ProtocolSpec ijbc = load_protocol("ijbc_1_1");
  ClaimOptions o;
  o.metric = "tar@far=1e-4";
  for (const auto& [one, value] : lines)
    for (const auto& [other, second] : lines) {
      const Claim c = check_claim(value, &ijbc, o, second);
      ASSERT_EQ(c.sources.size(), 1U) << one;
      EXPECT_EQ(c.sources[0].value.row->name, one);
      const std::vector<SourcePair> pairs = source_pairs(c.sources, c.against_sources);
      if (one == other) {
        EXPECT_TRUE(pairs.empty());
        continue;
      }
      ASSERT_EQ(pairs.size(), 1U) << one << other;
      std::size_t letters = 0;
      for (std::size_t i = 0; i < one.size(); i += 2) {
        if (one[i + 1] == other[i + 1]) continue;
        const std::string& wanted = words.at(one[i]).at(one[i + 1] - '0');
        EXPECT_NE(fmt::format("{}", fmt::join(pairs[0].differences, "; ")).find(wanted),
                  std::string::npos)
            << one << other << wanted;
        ++letters;
      }
      EXPECT_EQ(pairs[0].differences.size(), letters) << one << other;
    }
}

// 96.37 % is in four tables of the field, of several systems.
TEST(Claim, OneNumberInSeveralTables) {
  const ProtocolSpec ijbc = load_protocol("ijbc_1_1");
  ClaimOptions o;
  o.metric = "tar@far=0.0001";
  const Claim c = check_claim("96.37", &ijbc, o);
  std::set<std::string> rows;
  for (const ClaimSource& s : c.sources) rows.insert(s.value.row->name);
  EXPECT_EQ(rows, (std::set<std::string>{"iresnet100, ms1mv2", "iresnet50, ms1mv3"}));
  o.metric = "tar@far=0.00001";
  EXPECT_TRUE(check_claim("96.37", &ijbc, o).sources.empty());
}

TEST(Claim, WrongUse) {
  const ProtocolSpec lfw = load_protocol("lfw");
  ClaimOptions o;
  EXPECT_THROW(check_claim("99.63", nullptr, o), std::invalid_argument);
  o.metric = "acuracy";
  EXPECT_THROW(check_claim("99.63", &lfw, o), std::invalid_argument);
  o.metric = "tar@far=2";
  EXPECT_THROW(check_claim("99.63", &lfw, o), std::invalid_argument);
  o.metric = "accuracy";
  o.folds = 7;
  EXPECT_THROW(check_claim("99.63", &lfw, o), std::invalid_argument);
  o.track = "view3";
  EXPECT_THROW(check_claim("99.63", &lfw, o), std::invalid_argument);
}

}  // namespace
}  // namespace facebench

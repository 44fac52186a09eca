#include "facebench/core/options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

namespace facebench {
namespace {

struct ToyOptions {
  bool flip = true;
  int size = 112;
  std::uint8_t channels = 3;
  std::int64_t count = 0;
  float rate = 0.1f;
  double far = 1e-3;
  std::string rule = "largest";
  std::vector<std::int64_t> steps = {16, 24};
  std::vector<double> targets = {0.1, 0.01};
  std::vector<std::string> lists = {"a"};
  std::optional<std::string> metric;
  std::optional<int> most;
  static void describe(OptionsBuilder<ToyOptions>& o) {
    o.name("ToyOptions", "For the tests.");
    o.field("flip", &ToyOptions::flip, "mirror");
    o.field("size", &ToyOptions::size, "side, pixels", 1, 4096);
    o.field("channels", &ToyOptions::channels, "channels", -10, 1e6);
    o.field("count", &ToyOptions::count, "how many");
    o.field("rate", &ToyOptions::rate, "rate");
    o.field("far", &ToyOptions::far, "false accept rate", 0, 1);
    o.choice("rule", &ToyOptions::rule, "which face", {"largest", "center_weighted"});
    o.field("steps", &ToyOptions::steps, "epochs", 0, 100);
    o.field("targets", &ToyOptions::targets, "targets", 0, 1);
    o.field("lists", &ToyOptions::lists, "lists");
    o.choice("metric", &ToyOptions::metric, "of the report", {"auc", "none"});
    o.field("most", &ToyOptions::most, "at most so many", 1, 100);
  }
};

struct WholeOptions {
  WholeOptions() { toy.size = 96; }
  ToyOptions toy;
  std::filesystem::path folder;
  static void describe(OptionsBuilder<WholeOptions>& o) {
    o.name("WholeOptions", "Options of options.");
    o.fields_of(&WholeOptions::toy);
    o.field("folder", &WholeOptions::folder, "where");
  }
};

template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "not refused";
}

std::string set_refusal(std::string_view field, const OptionValue& value) {
  ToyOptions o;
  const std::string text = refusal([&] { set_option(o, field, value); });
  EXPECT_TRUE(equal_options(o, ToyOptions{}));  // a refused value changes nothing
  return text;
}

}  // namespace

TEST(Options, DescribesEveryField) {
  const OptionsSchema& schema = options_schema<ToyOptions>();
  EXPECT_EQ(schema.name, "ToyOptions");
  ASSERT_EQ(schema.fields.size(), 12u);
  const ToyOptions defaults;
  for (const OptionField& f : schema.fields) {
    EXPECT_EQ(f.get(&defaults), f.default_value) << f.name;
    EXPECT_NO_THROW(f.check(f.default_value)) << f.name;
  }
  EXPECT_EQ(option_type_name(schema.at("targets").default_value), "numbers");
}

TEST(Options, SetsAndCompares) {
  ToyOptions o;
  EXPECT_TRUE(equal_options(o, ToyOptions{}));
  set_option(o, "size", std::int64_t{64});
  set_option(o, "far", std::int64_t{1});  // whole number -> number
  set_option(o, "count", 3.0);            // number without a fraction -> whole number
  set_option(o, "targets", std::vector<std::int64_t>{0, 1});
  set_option(o, "lists", std::vector<double>{});  // an empty list is any list
  set_option(o, "steps", std::int64_t{5});        // one number is a list of it
  EXPECT_EQ(o.steps, std::vector<std::int64_t>{5});
  EXPECT_EQ(o.size, 64);
  EXPECT_EQ(o.far, 1.0);
  EXPECT_EQ(o.count, 3);
  EXPECT_EQ(o.targets, (std::vector<double>{0, 1}));
  EXPECT_TRUE(o.lists.empty());
  EXPECT_FALSE(equal_options(o, ToyOptions{}));
}

TEST(Options, Optional) {
  const OptionValue unset = std::monostate();
  const OptionField& most = options_schema<ToyOptions>().at("most");
  EXPECT_TRUE(most.optional);
  EXPECT_EQ(most.default_value, unset);
  EXPECT_EQ(option_type_name(most.type), "integer");
  ToyOptions o;
  EXPECT_EQ(most.get(&o), unset);
  set_option(o, "most", 7.0);  // converted as an integer is
  EXPECT_EQ(o.most, 7);
  EXPECT_FALSE(equal_options(o, ToyOptions{}));
  set_option(o, "most", unset);
  EXPECT_EQ(o.most, std::nullopt);
  EXPECT_TRUE(equal_options(o, ToyOptions{}));
  set_option(o, "metric", std::string("none"));  // a value like any other
  EXPECT_EQ(o.metric, "none");

  EXPECT_EQ(most.parse("7"), OptionValue(std::int64_t{7}));
  EXPECT_EQ(most.parse(""), unset);
  EXPECT_NE(set_refusal("most", std::int64_t{0}).find("option 'most': 0 is outside [1, 100]"),
            std::string::npos);
  EXPECT_NE(set_refusal("most", true).find("option 'most': expected integer or none, got boolean"),
            std::string::npos);
  EXPECT_NE(set_refusal("metric", std::string("auk")).find("did you mean 'auc'"),
            std::string::npos);
  EXPECT_NE(set_refusal("size", unset).find("option 'size': expected integer (112), got none"),
            std::string::npos);
}

TEST(Options, UnknownNames) {
  EXPECT_NE(set_refusal("sise", std::int64_t{1})
                .find("unknown option of ToyOptions 'sise'; did you "
                      "mean 'size'?"),
            std::string::npos);
  EXPECT_NE(
      set_refusal("rule", std::string("center_wieghted")).find("did you mean 'center_weighted'"),
      std::string::npos);
}

TEST(Options, WrongTypes) {
  for (const OptionValue& bad : {OptionValue(true), OptionValue(1.5), OptionValue(std::string("3")),
                                 OptionValue(std::vector<std::int64_t>{1}), OptionValue(0x1p60)})
    EXPECT_NE(set_refusal("size", bad).find("option 'size': expected integer (112), got"),
              std::string::npos);
  EXPECT_NE(set_refusal("flip", std::int64_t{1}).find("expected boolean"), std::string::npos);
  EXPECT_NE(set_refusal("far", true).find("expected number"), std::string::npos);
  // More digits than a double holds would be lost.
  EXPECT_NE(set_refusal("rate", (std::int64_t{1} << 53) + 1).find("expected number"),
            std::string::npos);
  EXPECT_NE(set_refusal("lists", std::vector<double>{1}).find("expected texts"), std::string::npos);
}

TEST(Options, Ranges) {
  EXPECT_NE(set_refusal("size", std::int64_t{0}).find("option 'size': 0 is outside [1, 4096]"),
            std::string::npos);
  EXPECT_NE(set_refusal("size", std::int64_t{4097}).find("outside"), std::string::npos);
  EXPECT_NE(set_refusal("far", 1.0000001).find("outside"), std::string::npos);
  EXPECT_NE(set_refusal("far", std::nan("")).find("outside"), std::string::npos);
  EXPECT_NE(set_refusal("targets", std::vector<double>{0.5, -0.1}).find("outside"),
            std::string::npos);
  EXPECT_NE(set_refusal("steps", std::vector<std::int64_t>{101}).find("outside"),
            std::string::npos);
  // A stated range wider than the member must not let a value wrap around.
  EXPECT_NE(set_refusal("channels", std::int64_t{-1}).find("outside [0, 255]"), std::string::npos);
  EXPECT_NE(set_refusal("channels", std::int64_t{256}).find("outside [0, 255]"), std::string::npos);
  EXPECT_NE(set_refusal("rate", 1e300).find("outside"), std::string::npos);
  ToyOptions o;
  o.size = 5000;
  EXPECT_THROW(check_options(o), std::invalid_argument);
}

TEST(Options, AWholeHasTheFieldsOfItsParts) {
  const OptionsSchema& schema = options_schema<WholeOptions>();
  EXPECT_EQ(schema.fields.size(), options_schema<ToyOptions>().fields.size() + 1);
  EXPECT_EQ(schema.at("size").default_value, OptionValue(std::int64_t{96}));
  WholeOptions o;
  set_option(o, "size", std::int64_t{64});
  EXPECT_EQ(o.toy.size, 64);
  EXPECT_EQ(schema.at("size").get(&o), OptionValue(std::int64_t{64}));
  EXPECT_THROW(set_option(o, "size", std::int64_t{5000}), std::invalid_argument);
}

TEST(Options, APathIsTextOrUnset) {
  WholeOptions o;
  const OptionField& folder = options_schema<WholeOptions>().at("folder");
  EXPECT_TRUE(folder.path && folder.optional);
  EXPECT_EQ(folder.get(&o), OptionValue(std::monostate()));
  folder.assign(&o, std::string("a/b"));
  EXPECT_EQ(o.folder, "a/b");
  EXPECT_EQ(folder.get(&o), OptionValue(std::string("a/b")));
  folder.assign(&o, std::monostate());
  EXPECT_TRUE(o.folder.empty());
}

TEST(Options, ParsesWhatItPrints) {
  ToyOptions o;
  o.flip = false;
  o.far = 0.1 + 0.2;
  o.steps = {};
  o.lists = {"a", "b c"};
  for (const OptionField& f : options_schema<ToyOptions>().fields) {
    const OptionValue value = f.get(&o);
    EXPECT_EQ(f.parse(option_text(value)), value) << f.name;
  }
}

TEST(Options, Parses) {
  const auto parse = [](std::string_view text, const OptionValue& like) {
    OptionField field;
    field.name = "x";
    field.type = like;
    return field.parse(text);
  };
  const OptionValue whole = std::int64_t{0}, number = 0.0, flag = false;
  EXPECT_EQ(parse(" -3 ", whole), OptionValue(std::int64_t{-3}));
  EXPECT_EQ(parse("1e-3", number), OptionValue(1e-3));
  EXPECT_EQ(parse(" yes", flag), OptionValue(true));
  EXPECT_EQ(parse("0", flag), OptionValue(false));
  const OptionValue list = std::vector<std::int64_t>{};
  EXPECT_EQ(parse("1,2", list), OptionValue(std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(parse("[ 1 , 2 ]", list), OptionValue(std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(parse("[]", list), list);
  EXPECT_NE(refusal([&] { parse("1.5", whole); }).find("option 'x': '1.5' is not a whole number"),
            std::string::npos);
  for (const char* bad : {"", "1x", "99999999999999999999"})
    EXPECT_NE(refusal([&] { parse(bad, whole); }), "not refused") << bad;
  EXPECT_NE(refusal([&] { parse("1,,2", list); }), "not refused");
  EXPECT_NE(refusal([&] { parse("maybe", flag); }), "not refused");
}

}  // namespace facebench

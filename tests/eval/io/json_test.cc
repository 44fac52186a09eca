#include "facebench/io/json.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "facebench/core/random.h"
#include "io/helpers.h"

namespace facebench {
namespace {

struct SampleOptions {
  bool flip = false;
  int size = 112;
  double rate = 0.1;
  std::string rule = "largest";
  std::vector<double> far = {0.001};
  static void describe(OptionsBuilder<SampleOptions>& o) {
    o.name("SampleOptions", "For the tests.");
    o.field("flip", &SampleOptions::flip, "mirror");
    o.field("size", &SampleOptions::size, "side", 1, 4096);
    o.field("rate", &SampleOptions::rate, "rate", 0, 1);
    o.choice("rule", &SampleOptions::rule, "which face", {"largest", "center"});
    o.field("far", &SampleOptions::far, "targets", 0, 1);
  }
};

constexpr std::string_view kDocument = R"({"a": [1, -2.5e3, true, null], "b": {"c": "\u00e9\n"}})";

}  // namespace

TEST(Json, CanonicalNumbers) {
  const auto spelled = [](double v) { return canonical_json(Json(v)); };
  EXPECT_EQ(spelled(0.0), "0.0");
  EXPECT_EQ(spelled(-0.0), "-0.0");
  EXPECT_EQ(spelled(3), "3.0");
  EXPECT_EQ(spelled(0.1), "0.1");
  EXPECT_EQ(spelled(100000), "100000.0");
  EXPECT_EQ(spelled(1e15), "1000000000000000.0");
  EXPECT_EQ(spelled(1e16), "1e+16");
  EXPECT_EQ(spelled(1.5e300), "1.5e+300");
  EXPECT_EQ(spelled(0.0001), "0.0001");
  EXPECT_EQ(spelled(0.00001), "1e-05");
  EXPECT_EQ(spelled(5e-324), "5e-324");
  EXPECT_EQ(spelled(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(canonical_json(Json(std::numeric_limits<std::uint64_t>::max())),
            "18446744073709551615");
  EXPECT_EQ(canonical_json(Json(std::numeric_limits<std::int64_t>::min())), "-9223372036854775808");
}

TEST(Json, EveryDoubleReadsBack) {
  Random random(1, "json test");
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random.next_u64());
    if (!std::isfinite(value)) continue;
    const std::string text = canonical_json(Json(value));
    ASSERT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
    ASSERT_EQ(parse_json(text, "x").get<double>(), value) << text;
  }
}

TEST(Json, CanonicalFormIsOneForOneContent) {
  const Json a = parse_json(kDocument, "x");
  const Json b = parse_json(R"({ "b":{"c":"é\n"},"a":[ 1,-2500.0,true,null ]})", "y");
  EXPECT_EQ(canonical_json(a), canonical_json(b));
  EXPECT_EQ(canonical_json(a), "{\"a\":[1,-2500.0,true,null],\"b\":{\"c\":\"é\\n\"}}");
  EXPECT_EQ(parse_json(canonical_json(a), "x"), a);
  EXPECT_EQ(parse_json(pretty_json(a), "x"), a);
  EXPECT_EQ(pretty_json(a),
            "{\n  \"a\": [1, -2500.0, true, null],\n  \"b\": {\n    \"c\": \"é\\n\"\n  }\n}\n");
  EXPECT_EQ(canonical_json("\x01\x7f\"\\"), "\"\\u0001\x7f\\\"\\\\\"");
}

TEST(Json, WritersRefuse) {
  EXPECT_ERROR(canonical_json({{"a", {1.0, std::nan("")}}}), "JSON value a[1]: is NaN");
  EXPECT_ERROR(pretty_json({{"a", {{"b", HUGE_VAL}}}}), "JSON value a.b: is infinite");
  EXPECT_ERROR(canonical_json({{"name", "\xff"}}),
               "JSON value name: byte 0 of the text is not UTF-8");
  EXPECT_ERROR(canonical_json("\xed\xa0\x80"), "not UTF-8");  // a surrogate
  EXPECT_ERROR(canonical_json("\xc0\x80"), "not UTF-8");      // overlong
  EXPECT_ERROR(canonical_json(Json::binary({1, 2})), "a kind that JSON does not have");
}

TEST(Json, ParserRefuses) {
  EXPECT_ERROR(parse_json("{\n\"a\": 1,\n}", "f.json"), "f.json:3: not valid JSON");
  EXPECT_ERROR(parse_json("{\"a\": 1, \"a\": 2}", "f"), "the key 'a' is given twice");
  EXPECT_ERROR(parse_json("[1] x", "f"), "not valid JSON");
  EXPECT_ERROR(parse_json("NaN", "f"), "not valid JSON");
  EXPECT_ERROR(parse_json("1e999", "f"), "not valid JSON");
  EXPECT_ERROR(parse_json("\"\xff\"", "f"), "not valid JSON");
  EXPECT_ERROR(parse_json(std::string(100000, '['), "f"), "nested deeper");
  EXPECT_EQ(parse_json("[{\"a\": 1}, {\"a\": 2}]", "f").size(), 2u);  // no key is there twice
}

TEST(Json, CutAndChanged) {
  const auto read = [](const std::string& text) { parse_json(text, "f"); };
  expect_every_cut_refused(std::string(kDocument), read);
  expect_no_change_crashes(std::string(kDocument), read);
}

TEST(Json, Options) {
  SampleOptions options;
  EXPECT_EQ(canonical_json(options_to_json(options)),
            R"({"far":[0.001],"flip":false,"rate":0.1,"rule":"largest","size":112})");
  options_from_json(options, {{"size", 64}, {"rate", 1}, {"far", Json::array()}}, "x.json");
  EXPECT_EQ(options.size, 64);
  EXPECT_EQ(options.rate, 1.0);
  EXPECT_TRUE(options.far.empty());
  SampleOptions copy;
  options_from_json(copy, options_to_json(options), "x.json");
  EXPECT_TRUE(equal_options(copy, options));
  EXPECT_ERROR(options_from_json(options, {{"sise", 3}}, "x.json"), "did you mean 'size'");
  EXPECT_ERROR(options_from_json(options, {{"size", 0}}, "x.json"), "x.json: option 'size'");
  EXPECT_ERROR(options_from_json(options, {{"size", 1.5}}, "x.json"), "expected integer");
  EXPECT_ERROR(options_from_json(options, {{"size", "3"}}, "x.json"), "expected integer");
  EXPECT_ERROR(options_from_json(options, {{"size", true}}, "x.json"), "expected integer");
  EXPECT_ERROR(options_from_json(options, {{"size", nullptr}}, "x.json"), "got none");
  EXPECT_ERROR(options_from_json(options, {{"rule", "larges"}}, "x.json"),
               "did you mean 'largest'");
  EXPECT_ERROR(options_from_json(options, Json::array(), "x.json"), "expected an object");
  // All or nothing: "size" comes after "flip".
  EXPECT_ERROR(options_from_json(options, {{"flip", true}, {"size", 0}}, "x.json"), "size");
  EXPECT_FALSE(options.flip);
}

TEST(Json, AnAbsentKeyOfAConstantObjectIsAnError) {
  const Json object = {{"a", 1}};
  EXPECT_EQ(object["a"], 1);
  EXPECT_ERROR(object["b"], "is absent");
}

}  // namespace facebench

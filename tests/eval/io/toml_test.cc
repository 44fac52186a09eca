#include "facebench/io/toml.h"

#include <gtest/gtest.h>

#include "io/helpers.h"

namespace facebench {
namespace {

struct ToyOptions {
  int folds = 10;
  std::vector<double> far = {0.1};
  std::string rule = "exact";
  static void describe(OptionsBuilder<ToyOptions>& o) {
    o.name("ToyOptions", "For the tests.");
    o.field("folds", &ToyOptions::folds, "folds", 1, 100);
    o.field("far", &ToyOptions::far, "targets", 0, 1);
    o.choice("rule", &ToyOptions::rule, "convention", {"exact", "facenet"});
  }
};

constexpr std::string_view kText = R"(id = "lfw"
folds = 10
level = 0.95
[tracks.all]
far = [0.1, 1]
names = ["a", "b"]
[[cell]]
value = 1
[[cell]]
value = 2
)";

}  // namespace

TEST(Toml, ReadsAndFinishes) {
  const TomlTable t = parse_toml(kText, "lfw.toml");
  EXPECT_EQ(t.text("id"), "lfw");
  EXPECT_EQ(t.integer("folds"), 10);
  EXPECT_EQ(t.number("folds"), 10.0);
  EXPECT_EQ(t.number("level", 0.5), 0.95);
  EXPECT_EQ(t.number("other", 0.5), 0.5);
  const TomlTable all = t.table("tracks").table("all");
  EXPECT_EQ(all.path(), "tracks.all");
  EXPECT_EQ(all.numbers("far"), (std::vector<double>{0.1, 1}));
  EXPECT_EQ(all.texts("names"), (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(t.tables("cell").size(), 2u);
  EXPECT_EQ(t.tables("cell")[1].integer("value"), 2);
  EXPECT_EQ(error_of([&] { t.finish(); }),
            "lfw.toml:8: unknown key in 'cell[0]': 'value' (known: )");
  t.tables("cell")[0].integer("value");
  t.finish();
}

TEST(Toml, Errors) {
  const TomlTable t = parse_toml(kText, "lfw.toml");
  EXPECT_EQ(error_of([&] { t.integer("id"); }),
            "lfw.toml:1: 'id' must be an integer, got a string");
  EXPECT_EQ(error_of([&] { t.integer("fold"); }),
            "lfw.toml:1: 'fold' is missing. Did you write 'folds' for it?");
  EXPECT_EQ(error_of([&] { t.table("tracks").table("all").integers("far"); }),
            "lfw.toml:5: 'tracks.all.far' must be an integer, got a number");
  t.integer("folds", 3);
  EXPECT_EQ(error_of([] { parse_toml("a = 1\nb = \n", "x.toml"); }).substr(0, 26),
            "x.toml:2: not valid TOML: ");
  EXPECT_EQ(error_of([] { parse_toml("a = 1\na = 2\n", "x.toml"); }).substr(0, 9), "x.toml:2:");
}

TEST(Toml, MoreWrongTypes) {
  const TomlTable t = parse_toml("a = 1\nl = [1, \"x\"]\nn = nan\nd = 2020-01-02\n[t]\n", "x.toml");
  EXPECT_ERROR(t.boolean("a"), "x.toml:1: 'a' must be true or false, got an integer");
  EXPECT_ERROR(t.text("a"), "'a' must be a string, got an integer");
  EXPECT_ERROR(t.integers("a"), "'a' must be a list, got an integer");
  EXPECT_ERROR(t.integers("l"), "x.toml:2: 'l' must be an integer, got a string");
  EXPECT_ERROR(t.number("n"), "x.toml:3: 'n' must be finite");
  EXPECT_ERROR(t.text("d"), "x.toml:4: 'd' must be a string, got a date or time");
  EXPECT_ERROR(t.table("a"), "'a' must be a table, got an integer");
  EXPECT_ERROR(t.tables("t"), "x.toml:5: 't' must be a list of tables, got a table");
  EXPECT_ERROR(t.tables("l"), "'l' must be a table, got an integer");
  EXPECT_ERROR(t.text("a", "fallback"), "must be a string");
  EXPECT_ERROR(t.json(), "'n' must be finite");
  EXPECT_ERROR(t.table("t").fail_at("q", "is odd"), "x.toml:5: is odd");
}

TEST(Toml, FinishSuggestsWhatWasAskedFor) {
  const TomlTable t = parse_toml("fodls = 1\n", "x.toml");
  t.integer("folds", 10);
  EXPECT_ERROR(t.finish(), "x.toml:1: unknown key 'fodls'; did you mean 'folds'? (known: folds)");
}

TEST(Toml, Json) {
  const TomlTable t = parse_toml("d = 2020-01-02\nx = [1, 2.5]\n[t]\nb = true\n", "x.toml");
  EXPECT_EQ(canonical_json(t.json()), R"({"d":"2020-01-02","t":{"b":true},"x":[1,2.5]})");
}

TEST(Toml, Options) {
  const auto read = [](std::string_view text) {
    return read_options<ToyOptions>(parse_toml(text, "x.toml"));
  };
  const ToyOptions o = read("folds = 5\nfar = [1, 0.5]\n");
  EXPECT_EQ(o.folds, 5);
  EXPECT_EQ(o.far, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(o.rule, "exact");
  EXPECT_ERROR(read("far = [0.1]\nfold = 5\n"), "x.toml:2: unknown option of ToyOptions 'fold'");
  EXPECT_ERROR(read("folds = 101\n"), "x.toml:1: option 'folds': 101 is outside [1, 100]");
  EXPECT_ERROR(read("folds = true\n"), "x.toml:1: option 'folds': expected integer");
  EXPECT_ERROR(read("rule = \"exat\"\n"), "did you mean 'exact'");
  EXPECT_ERROR(read("folds = [[1]]\n"), "x.toml:1: option 'folds': the list holds");
}

struct ListOptions {
  std::string file;
  std::optional<int> folds;
  static void describe(OptionsBuilder<ListOptions>& o) {
    o.name("list", "For the tests.");
    o.field("file", &ListOptions::file, "the list").required = true;
    o.field("folds", &ListOptions::folds, "folds", 1, 100);
  }
};

TEST(Toml, RequiredAndOptionalFields) {
  const auto read = [](std::string_view text) {
    const TomlTable table = parse_toml(text, "x.toml");
    EXPECT_EQ(table.text("name"), "any");  // read before: not a field
    return read_options<ListOptions>(table);
  };
  EXPECT_EQ(read("name = \"any\"\nfile = \"a\"\n").folds, std::nullopt);
  EXPECT_EQ(read("name = \"any\"\nfile = \"a\"\nfolds = 3\n").folds, 3);
  EXPECT_EQ(options_to_json(read("name = \"any\"\nfile = \"a\"\n")),
            (Json{{"file", "a"}, {"folds", nullptr}}));
  EXPECT_ERROR(read("name = \"any\"\nfolds = 3\n"), "'file' is missing");
  EXPECT_ERROR(read("name = \"any\"\nfiel = \"a\"\n"), "did you mean 'file'?");
}

TEST(Toml, ParserRefuses) {
  EXPECT_ERROR(parse_toml("a = \"\xff\"", "x.toml"), "x.toml:1: not valid TOML");
  EXPECT_ERROR(parse_toml("a = 1e999", "x.toml"), "x.toml:1:");
  EXPECT_ERROR(parse_toml("a = " + std::string(100000, '['), "x.toml"), "not valid TOML");
}

// A file cut between two lines is a file, so a cut is an Error or lacks what follows.
TEST(Toml, CutAndChanged) {
  const std::string text(kText);
  const Json whole = parse_toml(text, "x").json();
  for (std::size_t n = 0; n < text.size(); ++n) {
    Json cut;
    if (error_of([&] { cut = parse_toml(text.substr(0, n), "x").json(); }) != "no error") continue;
    if (n > text.find('\n')) {
      EXPECT_EQ(cut["id"], whole["id"]) << n;
    }
  }
  expect_no_change_crashes(text, [](const std::string& t) { parse_toml(t, "x").json(); });
}

// What the parser must not see; each of these ended the process or was undefined behaviour.
TEST(Toml, TextThatTheParserCannotBear) {
  const auto refusal = [](const std::string& text) {
    return error_of([&] { parse_toml(text, "x.toml"); });
  };
  std::string deep;
  for (int i = 0; i < 400000; ++i) deep += "a.";
  for (const std::string& text : {deep + "b = 1", "[" + deep + "b]", "a = {" + deep + "b = 1}",
                                  "x = 1\n[[" + deep + "b]]", "\"\" . " + deep + "b = 1"})
    EXPECT_NE(refusal(text).find("a key has more than 32 parts"), std::string::npos)
        << refusal(text);
  EXPECT_EQ(refusal("a = 1\nb = " + std::string(1000, '[')),
            "x.toml:2: not valid TOML: lists and tables are nested deeper than 32");
  for (const char* text : {"\xC6\x99<df", "a = \xC6\x99", "a.\xC6\x99 = 1", "a = [\xC6\x99",
                           "a = '''x''''' # \xC6\x99\n\xC6\x99"})
    EXPECT_NE(refusal(text).find("outside ASCII"), std::string::npos) << text;
  for (const char* text : {"[[ [d", "[ [a]]", "a = 1\n[[\t[d]]", "[.a]", "[]"})
    EXPECT_NE(refusal(text).find("does not begin with a name"), std::string::npos) << text;
  for (const char* text : {"a = 1979-05-27T[7:32:00Z", "a = 1979-05-27T.7:32:00"})
    EXPECT_NE(refusal(text).find("not valid TOML"), std::string::npos) << text;
  EXPECT_NE(refusal(std::string((8 << 20) + 1, '\n')).find("more than 8388608"), std::string::npos);
}

// Strings and comments may hold all that keys may not.
TEST(Toml, WhatWasRefusedAsATableIsNoneLater) {
  const TomlTable t = parse_toml("a = 1\nb = [2]\n", "x.toml");
  EXPECT_THROW(t.table("a"), Error);
  EXPECT_THROW(t.tables("b"), Error);
  EXPECT_EQ(t.integer("a"), 1);
  EXPECT_EQ(t.integers("b").size(), 1u);
  t.finish();  // went through a table that was never made
}

TEST(Toml, StringsAndCommentsAreNotKeys) {
  const TomlTable t =
      parse_toml(R"(# ƙ [[ [ a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.....
a = "ƙ \" .................................... [" # '
b = '\' # "
c = """
[[ ["" \""" ....................................."""""
d = '''\
[[ ['' ....................................'''''
e = [
  [1.5, 2.5], # [[ [
  [3.5],
]
"ƙ".'x' = 1
["".y]
)",
                 "x.toml");
  const std::string dots(36, '.');
  EXPECT_EQ(t.text("a"), "ƙ \" " + dots + " [");
  EXPECT_EQ(t.text("b"), "\\");
  EXPECT_EQ(t.text("c"), "[[ [\"\" \"\"\" ." + dots + "\"\"");
  EXPECT_EQ(t.text("d"), "\\\n[[ ['' " + dots + "''");
  EXPECT_TRUE(t.has("e"));
  EXPECT_EQ(t.table("ƙ").integer("x"), 1);
}

}  // namespace facebench

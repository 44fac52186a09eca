#include "facebench/io/toml.h"

#include <gtest/gtest.h>

namespace facebench {
namespace {

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

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
  EXPECT_EQ(message_of([&] { t.finish(); }),
            "lfw.toml:8: unknown key in 'cell[0]': 'value' (known: )");
  t.tables("cell")[0].integer("value");
  t.finish();
}

TEST(Toml, Errors) {
  const TomlTable t = parse_toml(kText, "lfw.toml");
  EXPECT_EQ(message_of([&] { t.integer("id"); }),
            "lfw.toml:1: 'id' must be an integer, got a string");
  EXPECT_EQ(message_of([&] { t.integer("fold"); }),
            "lfw.toml:1: 'fold' is missing. Is 'folds' meant to be it?");
  EXPECT_EQ(message_of([&] { t.table("tracks").table("all").integers("far"); }),
            "lfw.toml:5: 'tracks.all.far' must be an integer, got a number");
  t.integer("folds", 3);
  EXPECT_EQ(message_of([] { parse_toml("a = 1\nb = \n", "x.toml"); }).substr(0, 26),
            "x.toml:2: not valid TOML: ");
  EXPECT_EQ(message_of([] { parse_toml("a = 1\na = 2\n", "x.toml"); }).substr(0, 9), "x.toml:2:");
}

}  // namespace facebench

#include <gtest/gtest.h>

#include <filesystem>

#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/training/recipe.h"
#include "io/helpers.h"
#include "training/helpers.h"

namespace facebench {
namespace {

TEST(Recipe, EveryCarriedOneIsSound) {
  EXPECT_FALSE(recipe_names().empty());
  for (const std::string& name : recipe_names()) {
    const Recipe recipe = find_recipe(name);
    EXPECT_EQ(recipe.id, name);
    EXPECT_FALSE(recipe.title.empty());
  }
  EXPECT_THROW(find_recipe("demmo"), std::invalid_argument);
}

std::string recipe_error(std::string from, const std::string& to) {
  std::string text = tiny_recipe;
  text.replace(text.find(from), from.size(), to);
  try {
    parse_recipe(text, "mine.toml");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Recipe, MistakesNameTheLineAndWhatWasMeant) {
  EXPECT_NE(recipe_error("batch = 8", "bacth = 8").find("mine.toml:12"), std::string::npos);
  EXPECT_NE(recipe_error("batch = 8", "bacth = 8").find("batch"), std::string::npos);
  EXPECT_NE(recipe_error("\"center\"", "\"centre\"").find("center"), std::string::npos);
  EXPECT_NE(recipe_error("\"small4\"", "\"small5\"").find("small4"), std::string::npos);
  EXPECT_NE(recipe_error("batch = 8", "batch = 0").find("batch"), std::string::npos);
  EXPECT_NE(recipe_error("[schedule]", "[shedule]").find("schedule"), std::string::npos);
  EXPECT_NE(recipe_error("version = 1", "version = 2").find("version"), std::string::npos);
}

// A file in a folder of its own.
class RecipeFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) {
    write_file(folder_ / name, "version = 1\n" + text);
    return (folder_ / name).string();
  }
  std::string error_of(const std::string& path) {
    try {
      load_recipe(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  TemporaryFolder folder_;
};

TEST_F(RecipeFiles, LaterOnesChangeWhatTheyName) {
  write(
      "a.toml",
      "citations = ['x']\n[network]\nname = 'small4'\nembedding = 8\n[loss]\nname = 'cosface'\ns = "
      "10.0\n[training]\nbatch = 4\nepochs = 3\n");
  write("b.toml", "notes = ['careful']\n[training]\nbatch = 6\n[loss]\nm = 0.1\n");
  const Recipe r = load_recipe(write("c.toml",
                                     "base = ['a.toml', 'b.toml']\ntitle = 'c'\ncitations = ['x', "
                                     "'y']\n[loss]\nname = 'cosface'\n"));
  EXPECT_EQ(r.id, "c");
  EXPECT_EQ(r.training.batch, 6);
  EXPECT_EQ(r.training.epochs, 3);
  EXPECT_EQ(r.network_options.embedding, 8);
  EXPECT_EQ(r.citations, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(r.notes, (std::vector<std::string>{"careful"}));
  EXPECT_EQ(r.loss_options, (Json{{"s", 10.0}, {"m", 0.1}}));
  // Another loss or network starts from its own defaults; a built-in recipe is a base too.
  const Recipe other = load_recipe(write(
      "d.toml", "base = ['c.toml']\n[loss]\nname = 'arcface'\n[network]\nname = 'sphereface4'\n"));
  EXPECT_EQ(other.loss_options, Json::object());
  EXPECT_FALSE(other.network_options.embedding);
  EXPECT_EQ(load_recipe(write("demo.toml", "base = ['demo']\n")).title, find_recipe("demo").title);
}

TEST_F(RecipeFiles, CirclesAndUnknownBasesAreRefused) {
  write("a.toml", "base = ['b.toml']\n");
  const std::string b = write("b.toml", "base = ['a.toml']\n");
  EXPECT_NE(error_of(b).find("circle"), std::string::npos) << error_of(b);
  EXPECT_NE(error_of(b).find("a.toml:2"), std::string::npos) << error_of(b);
  const std::string self = write("self.toml", "base = ['self.toml']\n");
  EXPECT_NE(error_of(self).find("circle"), std::string::npos);
  const std::string slip = write("slip.toml", "base = ['parts/pytorhc']\n");
  EXPECT_NE(error_of(slip).find("parts/pytorch"), std::string::npos) << error_of(slip);
  EXPECT_NE(error_of(write("none.toml", "base = ['absent.toml']\n")).find("absent.toml"),
            std::string::npos);
  EXPECT_NE(error_of(write("bare.toml", "title = 'x'\n")).find("network"), std::string::npos);
  // What a base has wrong is told of the base.
  write("bad.toml", "[training]\nbacth = 3\n");
  EXPECT_NE(error_of(write("on_bad.toml", "base = ['bad.toml']\n")).find("bad.toml:3"),
            std::string::npos);
}

TEST(Recipe, OverridesByFullAndBareKey) {
  Recipe recipe = parse_recipe(tiny_recipe, "tiny.toml");
  set_recipe(recipe, "lr", "0.05");
  set_recipe(recipe, "loss.weight", "0.01");
  set_recipe(recipe, "training.epochs", "2");
  EXPECT_EQ(recipe.optimizer.lr, 0.05);
  EXPECT_EQ(recipe.training.epochs, 2);
  EXPECT_EQ(recipe_to_json(recipe)["loss"]["weight"], 0.01);
  EXPECT_EQ(recipe_to_json(recipe)["loss"]["alpha"], 0.5);
  EXPECT_THROW(set_recipe(recipe, "flip", "0"), std::invalid_argument);  // augmentation and input
  EXPECT_THROW(set_recipe(recipe, "lrr", "1"), std::invalid_argument);
  EXPECT_THROW(set_recipe(recipe, "lr", "fast"), std::invalid_argument);
  set_recipe(recipe, "loss", "cosface");
  set_recipe(recipe, "s", "16");
  EXPECT_EQ(recipe_to_json(recipe)["loss"]["s"], 16.0);
  EXPECT_EQ(recipe_to_json(recipe)["loss"]["name"], "cosface");
  for (const std::string& key : recipe_keys(recipe)) EXPECT_NE(key.find('.'), std::string::npos);
}

}  // namespace
}  // namespace facebench

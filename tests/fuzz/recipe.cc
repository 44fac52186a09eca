// Sources: cpp/vision/facebench/training/recipe.cc
// Not of the reader: set_recipe keys_described_by recipe_keys recipe_names load_recipe find_recipe
#include "facebench/training/recipe.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(recipe, bytes) {
  facebench::recipe_to_json(facebench::parse_recipe(bytes, "fuzz.toml"));
}

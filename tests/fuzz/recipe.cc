// Sources: cpp/src/training/recipe.cc
#include "facebench/training/recipe.h"

#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(recipe, bytes) {
  facebench::recipe_to_json(facebench::parse_recipe(bytes, "fuzz.toml"));
}

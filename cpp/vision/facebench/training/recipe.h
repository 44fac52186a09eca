#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/options_fwd.h"
#include "facebench/io/json.h"
#include "facebench/nn/networks.h"
#include "facebench/training/augmentation.h"
#include "facebench/training/input.h"
#include "facebench/training/optimizer.h"
#include "facebench/training/schedule.h"

namespace facebench {

// What a training does apart from network, loss, optimizer and schedule.
struct TrainingOptions {
  std::int64_t epochs = 18;
  std::int64_t iterations = 0;
  std::int64_t batch = 64;
  std::int64_t accumulate = 1;
  std::string sampler = "shuffle";
  std::int64_t images_per_person = 4;
  std::string last_batch = "drop";
  bool split_classes = false;
  double sample_rate = 1;
  std::uint32_t seed = 0;
  std::string initializer = "torch";
  std::string dtype = "float32";
  bool channels_last = true;
  std::optional<double> aux_weight;
  std::vector<std::string> freeze;
  double ema = 0;
  std::int64_t patience = 0;
  double min_delta = 0;
  std::optional<double> batch_norm_decay;
  std::string batch_norm_average = "moving";
  static void describe(OptionsBuilder<TrainingOptions>& o);
};

// A training as its TOML states it: any network with any loss. The file has a table for each part,
//   [network] and [loss] with `name` and the options of that network (nn/networks.h) or loss
//   (nn/losses.h), [training], [optimizer], [schedule], [augmentation], [input],
// and at the top `version`, `title`, `citations`, `notes` (what a reader of the numbers must know),
// `not_modelled` (what the framework or the authors did and this training does not) and `base`: a
// list of recipes or parts of recipes that this one changes, read in order, each value of a later
// one in place of the earlier one's (a network or loss of another name starts from its own
// defaults; the lists of texts add up). A base is the name of a built-in recipe, or a path
// ending in ".toml", relative to the file that names it. Files in "recipes/parts" are only for
// that; they need neither title, network nor loss.
// The vocabulary is closed: an unknown key or word is an Error with file, line and "did you mean".
struct Recipe {
  std::string id;
  std::int64_t version = 1;
  std::string title;
  std::vector<std::string> citations;
  std::vector<std::string> notes;
  std::vector<std::string> not_modelled;

  std::string network;
  NetworkOptions network_options;  // height and width unset: the images'
  std::string loss;
  Json loss_options = Json::object();
  TrainingOptions training;
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  AugmentationOptions augmentation;
  InputOptions input;

  // The keys ("schedule.gamma") that the caller says: of a file of theirs (its bases apart), and
  // those of set_recipe. What they say in vain is told (TrainCallbacks::on_note).
  std::set<std::string> given;
  // What scale_batch() did (training/batch_scaling.h); null: nothing.
  Json batch_scaling;
};

// Whether a recipe's network is "timm:NAME": a model that Python's package timm makes under that
// name. The trainer of Python and the command line makes it (TrainCallbacks::network).
bool is_made_in_python(std::string_view network);

// The names of the built-in recipes ("demo", "small4.cosface", ...), sorted.
std::vector<std::string> recipe_names();
// A built-in recipe. Throws std::invalid_argument with "did you mean".
Recipe find_recipe(std::string_view name);
// From a text; `file` names it in messages, and without folder and ending is the id. Throws Error.
Recipe parse_recipe(std::string_view text, std::string_view file);
// A file if `name_or_path` ends in ".toml", otherwise a built-in recipe.
Recipe load_recipe(const std::string& name_or_path);

// Changes one value, as the command line's --set does. `key` is "table.option" ("optimizer.lr",
// "loss.m"), or the option alone where only one table has it ("lr"). "network" and "loss" choose
// by name; a new loss starts from its own defaults. Throws std::invalid_argument for an unknown
// key (did you mean), an ambiguous one, or a bad value.
void set_recipe(Recipe& recipe, std::string_view key, std::string_view value);
// All keys that set_recipe knows for this recipe, as "table.option".
std::vector<std::string> recipe_keys(const Recipe& recipe);

// Everything that decides the result (not id, title and texts), defaults filled in.
Json recipe_to_json(const Recipe& recipe);
// The keys ("optimizer.lr") in which it differs from the built-in recipe of its id, but for the
// seed; none for other ids.
std::vector<std::string> changed_settings(const Recipe& recipe);

}  // namespace facebench

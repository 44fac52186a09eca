#include "facebench/training/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/evaluation/embedded.h"
#include "facebench/io/file.h"
#include "facebench/io/text.h"
#include "facebench/io/toml.h"
#include "facebench/nn/initializers.h"
#include "facebench/nn/losses.h"
#include "facebench/training/sampler.h"

namespace facebench {
namespace {

constexpr std::string_view recipe_folder = "recipes/";
constexpr std::string_view timm_prefix = "timm:";

// One table of a recipe: its schema and where its values are.
struct Part {
  std::string name;
  const OptionsSchema* schema;
  void* options;
};

// The parts that are plain aggregates; the loss's options are JSON, since its type is chosen by
// name.
std::vector<Part> aggregate_parts(Recipe& recipe) {
  return {
      {"network", &options_schema<NetworkOptions>(), &recipe.network_options},
      {"training", &options_schema<TrainingOptions>(), &recipe.training},
      {"optimizer", &options_schema<OptimizerOptions>(), &recipe.optimizer},
      {"schedule", &options_schema<ScheduleOptions>(), &recipe.schedule},
      {"augmentation", &options_schema<AugmentationOptions>(), &recipe.augmentation},
      {"input", &options_schema<InputOptions>(), &recipe.input},
  };
}

// `given` with the loss's defaults filled in.
Json complete_loss_options(const LossEntry& entry, const Json& given) {
  Json all = Json::object();
  for (const OptionField& field : entry.options->fields) {
    const bool has = given.contains(field.name);
    all[field.name] = json_of_option(
        has ? field.convert(option_of_json(field.name, given[field.name])) : field.default_value);
  }
  return all;
}

// Of a network of timm there are its size, its channels and the length of its embedding.
void check_timm_options(const NetworkOptions& options) {
  NetworkOptions known;
  known.height = options.height;
  known.width = options.width;
  known.channels = options.channels;
  known.embedding = options.embedding;
  const Json given = options_to_json(options), none = options_to_json(known);
  for (const auto& [key, value] : given.items())
    if (value != none[key])
      throw std::invalid_argument(fmt::format(
          "network.{}: a network of timm takes height, width, channels and embedding", key));
}

// A network of the table, or one of timm. A recipe may come from anywhere and is data: code that it
// names is not run.
std::string network_name(std::string_view name) {
  if (name.starts_with(timm_prefix)) {
    const std::string_view model = name.substr(timm_prefix.size());
    constexpr std::string_view known =
        "abcdefghijklmnopqrstuvwxyz"
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (model.empty() || model.find_first_not_of(known) != std::string_view::npos)
      throw std::invalid_argument(fmt::format(
          "network '{}': after timm: comes a name of timm.list_models(), as "
          "timm:vit_small_patch16_224; hubs, folders and tags of weights are not looked up",
          name));
    return std::string(name);
  }
  if (name.find(':') != std::string_view::npos)
    throw std::invalid_argument(fmt::format(
        "network '{}' names code, and a recipe is data. Say it on the command line "
        "(facebench train --set network=MODULE:FUNCTION), or give the module to facebench.train "
        "(network=)",
        name));
  return networks().at(name).name;
}

void check_recipe(const Recipe& recipe, std::string_view where) {
  try {
    if (is_made_in_python(recipe.network))
      check_timm_options(recipe.network_options);
    else
      resolve_network_options(recipe.network, recipe.network_options);
    make_pixel_input(recipe.input);
    check_augmentation(recipe.augmentation);
    check_optimizer(recipe.optimizer);
  } catch (const std::invalid_argument& error) {
    fail(where, error.what());
  }
}

// --- files

std::vector<std::string> built_in_names() { return embedded_names(recipe_folder); }

const EmbeddedFile* built_in(std::string_view name) {
  return find_embedded(fmt::format("{}{}", recipe_folder, name));
}

void append_new(std::vector<std::string>& to, const std::vector<std::string>& from) {
  for (const std::string& text : from)
    if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(text);
}

// Bases may share bases, so that few files could stand for very many readings.
constexpr int kMostBases = 64;

void apply_file(Recipe& recipe, const TomlTable& top, std::vector<std::string>& path, int& files);

// `path`: the names of the files that led here, against circles; `files`: how many were read.
void apply_base(Recipe& recipe, const TomlTable& top, const std::string& base,
                std::vector<std::string>& path, int& files) {
  std::string name = base, file = base + ".toml";
  const bool is_file = base.ends_with(".toml");
  if (is_file) {
    const std::filesystem::path given = base;
    const std::filesystem::path folder = std::filesystem::path(top.file()).parent_path();
    name = file = given.is_absolute() ? base : (folder / given).lexically_normal().string();
  }
  if (std::find(path.begin(), path.end(), name) != path.end())
    top.fail_at("base",
                fmt::format("goes round in a circle: {} -> {}", fmt::join(path, " -> "), name));
  if (++files > kMostBases)
    top.fail_at("base", fmt::format("more than {} files are read as bases", kMostBases));
  std::string text;
  if (is_file) {
    text = read_file(file, 1 << 20);
  } else {
    const EmbeddedFile* recipe_file = built_in(base);
    if (!recipe_file) top.fail_at("base", unknown_name_message("recipe", base, built_in_names()));
    text = recipe_file->text;
  }
  path.push_back(name);
  apply_file(recipe, parse_toml(text, file), path, files);
  path.pop_back();
}

void apply_loss(Recipe& recipe, const TomlTable& top) {
  const std::optional<TomlTable> table = top.optional_table("loss");
  if (!table) return;
  if (recipe.loss.empty() || table->has("name")) {
    const std::string name = table->name("name", losses());
    if (name != recipe.loss) recipe.loss_options = Json::object();
    recipe.loss = name;
  }
  for (const std::string& key : table->keys()) {
    if (key == "name") continue;
    try {
      const OptionField& field = losses().at(recipe.loss).options->at(key);
      recipe.loss_options[key] = json_of_option(field.convert(table->option(key)));
    } catch (const std::invalid_argument& error) {
      table->fail_at(key, error.what());
    }
  }
}

// Puts what the file says, its bases first, in place of what the recipe has.
void apply_file(Recipe& recipe, const TomlTable& top, std::vector<std::string>& path, int& files) {
  recipe.version = top.integer("version");
  if (recipe.version != 1)
    top.fail_at("version", "this library reads recipes of version 1",
                "A newer facebench may read it");
  for (const std::string& base : top.texts("base", {})) apply_base(recipe, top, base, path, files);
  recipe.title = top.text("title", recipe.title);
  append_new(recipe.citations, top.texts("citations", {}));
  append_new(recipe.notes, top.texts("notes", {}));
  append_new(recipe.not_modelled, top.texts("not_modelled", {}));

  const std::optional<TomlTable> network = top.optional_table("network");
  if (network && network->has("name")) {
    std::string name = network->text("name");
    try {
      name = network_name(name);
    } catch (const std::invalid_argument& error) {
      network->fail_at("name", error.what());
    }
    if (name != recipe.network) recipe.network_options = {};
    recipe.network = name;
  }
  const bool of_caller = path.size() == 1;  // not a base
  const auto note_given = [&](const TomlTable& table, const std::string& part) {
    if (!of_caller) return;
    for (const std::string& key : table.keys()) recipe.given.insert(part + "." + key);
  };
  for (const Part& part : aggregate_parts(recipe)) {
    const std::optional<TomlTable> table = top.optional_table(part.name);
    if (!table) continue;
    read_options(*table, *part.schema, part.options);
    note_given(*table, part.name);
  }
  apply_loss(recipe, top);
  if (const auto loss = top.optional_table("loss")) note_given(*loss, "loss");
  top.finish();
}

}  // namespace

void TrainingOptions::describe(OptionsBuilder<TrainingOptions>& o) {
  o.name("TrainingOptions", "Length, batches and numbers of a training.");
  o.field("epochs", &TrainingOptions::epochs, "passes over the images", 1, 1e6);
  o.field("iterations", &TrainingOptions::iterations, "steps in all; 0: what `epochs` take", 0,
          1e12);
  o.field("batch", &TrainingOptions::batch, "images in a step, over all processes", 1, 1e6);
  o.field("accumulate", &TrainingOptions::accumulate,
          "micro-batches that a process cuts its share of a batch into, to save memory; their "
          "gradients are added up",
          1, 1e6);
  o.choice("sampler", &TrainingOptions::sampler, "how images are put into batches",
           samplers().names());
  o.field("images_per_person", &TrainingOptions::images_per_person,
          "of the samplers 'balanced' and 'people': images of each person in a batch; 'people': at "
          "most",
          1, 1e6);
  o.choice("last_batch", &TrainingOptions::last_batch,
           "what becomes of images left over at the end of an epoch", {"wrap", "keep", "drop"});
  o.field("split_classes", &TrainingOptions::split_classes,
          "each process holds the loss's parameters of a part of the classes alone");
  o.field("sample_rate", &TrainingOptions::sample_rate,
          "with split_classes: share of the classes that a step computes with, those of its images "
          "among them (Partial FC)",
          1e-6, 1);
  o.field("seed", &TrainingOptions::seed, "of initial weights, order, augmentation, dropout");
  o.choice("initializer", &TrainingOptions::initializer, "initial weights of the network",
           initializers().names());
  o.choice("dtype", &TrainingOptions::dtype,
           "numbers of weights and activations; bfloat16: weights of float32, and torch's autocast "
           "in the network",
           {"float32", "float64", "bfloat16"});
  o.field("channels_last", &TrainingOptions::channels_last, "lay images out NHWC (faster)");
  o.field("aux_weight", &TrainingOptions::aux_weight,
          "factor of each auxiliary classifier's loss; 0: trained without them; default: the "
          "network's own",
          0, 1e3);
  o.field("freeze", &TrainingOptions::freeze,
          "parts of the network that stay as they are, with batch norm's statistics: beginnings of "
          "names (layer1) or patterns (*.bn1, *: all of it)");
  o.field("ema", &TrainingOptions::ema,
          "decay of the weights' moving average, which then is the model; 0: no average", 0,
          0.999999999);
  o.field("patience", &TrainingOptions::patience,
          "epochs without a better validation score after which training stops; 0: never", 0, 1e6);
  o.field("min_delta", &TrainingOptions::min_delta, "what a score must be better by to count", 0,
          1e6);
  o.field("batch_norm_decay", &TrainingOptions::batch_norm_decay,
          "share of batch norm's running statistics kept in a step; default: what the network has",
          0, 0.999999);
  o.choice("batch_norm_average", &TrainingOptions::batch_norm_average,
           "moving: running statistics start at mean 0 and variance 1, which fade; corrected: "
           "divided by the sum of the weights, as in Caffe, so that the start has no share",
           {"moving", "corrected"});
}

bool is_made_in_python(std::string_view network) { return network.starts_with(timm_prefix); }

std::vector<std::string> recipe_names() {
  std::vector<std::string> names = built_in_names();
  std::erase_if(names, [](const std::string& name) { return name.find('/') != name.npos; });
  return names;
}

Recipe find_recipe(std::string_view name) {
  const std::vector<std::string> names = recipe_names();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw std::invalid_argument(unknown_name_message("recipe", name, names));
  Recipe recipe = parse_recipe(built_in(name)->text, std::string(name) + ".toml");
  recipe.given.clear();
  return recipe;
}

Recipe load_recipe(const std::string& name_or_path) {
  if (!name_or_path.ends_with(".toml")) return find_recipe(name_or_path);
  return parse_recipe(read_file(name_or_path, 1 << 20), name_or_path);
}

Recipe parse_recipe(std::string_view text, std::string_view file) {
  const TomlTable top = parse_toml(text, file);
  Recipe recipe;
  recipe.id = std::filesystem::path(file).stem().string();
  std::vector<std::string> path{std::filesystem::path(file).lexically_normal().string()};
  int files = 0;
  apply_file(recipe, top, path, files);
  if (recipe.title.empty()) top.text("title");
  if (recipe.network.empty()) top.table("network").text("name");
  if (recipe.loss.empty()) top.table("loss").text("name");
  check_recipe(recipe, file);
  return recipe;
}

std::vector<std::string> recipe_keys(const Recipe& recipe) {
  Recipe copy = recipe;
  std::vector<std::string> keys;
  for (const Part& part : aggregate_parts(copy))
    for (const OptionField& field : part.schema->fields)
      keys.push_back(part.name + "." + field.name);
  for (const OptionField& field : losses().at(recipe.loss).options->fields)
    keys.push_back("loss." + field.name);
  return keys;
}

// Keys whose description has this word: 'loss.m' (angular margin) for "margin".
static std::vector<std::string> keys_described_by(Recipe& recipe, const std::string& word) {
  std::vector<std::string> places;
  const auto look = [&](const std::string& table, const OptionsSchema& schema) {
    for (const OptionField& field : schema.fields)
      if (std::ranges::count(split_whitespace(field.doc), word) > 0)
        places.push_back(fmt::format("'{}.{}' ({})", table, field.name, field.doc));
  };
  look("loss", *losses().at(recipe.loss).options);
  for (const Part& part : aggregate_parts(recipe)) look(part.name, *part.schema);
  return places;
}

void set_recipe(Recipe& recipe, std::string_view key, std::string_view value) {
  Recipe changed = recipe;  // all or nothing
  if (key == "network" || key == "network.name") {
    changed.network = network_name(value);
  } else if (key == "loss" || key == "loss.name") {
    changed.loss = losses().at(value).name;
    changed.loss_options = Json::object();
    std::erase_if(changed.given, [](const std::string& k) { return k.starts_with("loss."); });
  } else {
    const std::vector<std::string> keys = recipe_keys(recipe);
    std::string full(key == "optimizer" ? "optimizer.name" : key);
    if (key.find('.') == std::string_view::npos) {
      std::vector<std::string> matching;
      for (const std::string& k : keys)
        if (k.ends_with("." + full)) matching.push_back(k);
      if (matching.size() > 1)
        throw std::invalid_argument(
            fmt::format("'{}' is ambiguous; say one of {}", key, fmt::join(matching, ", ")));
      if (matching.size() == 1) full = matching[0];
    }
    if (std::find(keys.begin(), keys.end(), full) == keys.end()) {
      // A slip in a bare key is nearer to the bare names.
      std::vector<std::string> known = keys;
      if (full.find('.') == std::string::npos)
        for (std::string& k : known) k = k.substr(k.find('.') + 1);
      const std::vector<std::string> meant = keys_described_by(changed, full);
      if (closest_name(full, known).empty() && !meant.empty())
        throw std::invalid_argument(fmt::format("unknown recipe key '{}'; did you mean {}?", full,
                                                fmt::join(meant, " or ")));
      throw std::invalid_argument(unknown_name_message("recipe key", full, known));
    }
    const std::string table = full.substr(0, full.find('.'));
    const std::string option = full.substr(full.find('.') + 1);
    changed.given.insert(full);
    if (table == "loss") {
      const OptionField& field = losses().at(recipe.loss).options->at(option);
      changed.loss_options[option] = json_of_option(field.parse(value));
    } else {
      for (const Part& part : aggregate_parts(changed)) {
        if (part.name != table) continue;
        const OptionField& field = part.schema->at(option);
        field.set(part.options, field.parse(value));
      }
    }
  }
  try {
    check_recipe(changed, fmt::format("{} = {}", key, value));
  } catch (const Error& error) {
    throw std::invalid_argument(error.what());
  }
  recipe = std::move(changed);
}

Json recipe_to_json(const Recipe& recipe) {
  Recipe copy = recipe;
  Json json = Json::object();
  for (const Part& part : aggregate_parts(copy))
    json[part.name] = options_to_json(*part.schema, part.options);
  json["network"]["name"] = recipe.network;
  json["loss"] = complete_loss_options(losses().at(recipe.loss), recipe.loss_options);
  json["loss"]["name"] = recipe.loss;
  return json;
}

std::vector<std::string> changed_settings(const Recipe& recipe) {
  std::vector<std::string> changed;
  const std::vector<std::string> known = recipe_names();
  if (std::ranges::find(known, recipe.id) == known.end()) return changed;
  const Json values_here = recipe_to_json(recipe),
             built_in = recipe_to_json(find_recipe(recipe.id));
  for (const auto& [part, values] : values_here.items())
    for (const auto& [name, value] : values.items())
      if (built_in[part].value(name, Json()) != value && !(part == "training" && name == "seed"))
        changed.push_back(part + "." + name);
  return changed;
}

}  // namespace facebench

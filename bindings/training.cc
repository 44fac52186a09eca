#include <torch/csrc/utils/pybind.h>

#include <exception>
#include <optional>
#include <span>
#include <stdexcept>

#include "common.h"
#include "facebench/io/sha256.h"
#include "facebench/training/recipe.h"
#include "facebench/training/schedule.h"
#include "facebench/training/trainer.h"
#include "json.h"
#include "modules.h"

namespace facebench {
namespace {

using Array = py::array_t<std::uint8_t, py::array::c_style>;

// An array (N, H, W, 3) as a source of images without names; the array must outlive it.
ImageArray array_images(const Array& array) {
  if (array.ndim() != 4 || array.shape(3) != 3)
    throw std::invalid_argument("images: expected uint8 of the shape (N, H, W, 3)");
  return {array.data(),
          array.shape(0),
          {static_cast<int>(array.shape(1)), static_cast<int>(array.shape(2))}};
}

py::dict report_dict(const EpochReport& r) {
  py::dict d;
  d["epoch"] = r.epoch;
  d["epochs"] = r.epochs;
  d["iteration"] = r.iteration;
  d["loss"] = r.loss;
  d["accuracy"] = r.accuracy;
  d["lr"] = r.lr;
  return d;
}

py::dict result_dict(const TrainResult& r) {
  py::dict d;
  d["model"] = r.model;
  d["iterations"] = r.iterations;
  d["epochs"] = r.epochs;
  d["classes"] = r.classes;
  d["images"] = r.images;
  d["loss"] = r.loss;
  d["accuracy"] = r.accuracy;
  d["best_score"] = r.best_score;
  d["images_per_second"] = r.images_per_second;
  return d;
}

py::dict variation_dict(const Variation& v) {
  py::dict d;
  d["resized"] = v.view.width > 0 ? py::cast(std::pair(v.view.width, v.view.height)) : py::none();
  d["window"] = py::make_tuple(v.view.x0, v.view.y0, v.view.x1, v.view.y1);
  d["mirror"] = v.placement.mirror;
  d["shift"] = py::make_tuple(v.placement.dx, v.placement.dy);
  py::list colors;
  for (const ColorStep& step : v.color)
    if (step.op != ColorOp::none)
      colors.append(py::make_tuple(color_op_name(step.op), step.amount));
  d["color"] = colors;
  return d;
}

// What on_epoch raised, kept until the C++ call has ended.
struct CallbackFailed : std::exception {};

TrainResult run_training(const Recipe& recipe, const TrainingSet& set,
                         const std::filesystem::path& out, const TrainOptions& options,
                         const py::object& progress, const py::object& on_epoch) {
  TrainCallbacks callbacks;
  std::optional<py::error_already_set> raised;
  if (!on_epoch.is_none())
    callbacks.on_epoch = [&](const EpochReport& report,
                             const Model& model) -> std::optional<double> {
      const py::gil_scoped_acquire gil;
      try {
        const py::object score =
            on_epoch(report_dict(report), py::cast(&model, py::return_value_policy::reference));
        return score.is_none() ? std::nullopt : std::optional(score.cast<double>());
      } catch (py::error_already_set& error) {
        raised = std::move(error);
        throw CallbackFailed{};
      }
    };
  try {
    return with_job(0, progress, [&](const Job& job) {
      return train(recipe, set, out, options, job, callbacks);
    });
  } catch (const CallbackFailed&) {
    throw std::move(*raised);
  }
}

}  // namespace

void bind_training(py::module_& m) {
  bind_options<TrainingOptions>(m);
  bind_options<OptimizerOptions>(m);
  bind_options<ScheduleOptions>(m);
  bind_options<AugmentationOptions>(m);
  bind_options<InputOptions>(m);
  bind_options<TrainOptions>(m);

  py::class_<Recipe>(m, "Recipe", "A training as its TOML states it; see facebench.training.")
      .def_readonly("id", &Recipe::id)
      .def_readonly("title", &Recipe::title)
      .def_readonly("citations", &Recipe::citations)
      .def_readonly("notes", &Recipe::notes, "What a reader of the numbers must know.")
      .def_property_readonly("network", [](const Recipe& r) { return r.network; })
      .def_property_readonly("loss", [](const Recipe& r) { return r.loss; })
      .def("set", &set_recipe, py::arg("key"), py::arg("value"),
           "Change one value, as --set does: set('optimizer.lr', '0.05'), or set('lr', '0.05') "
           "where only one table has the key. ValueError for an unknown key (did you mean).")
      .def("keys", &recipe_keys, "All keys that set() knows, as 'table.option'.")
      .def("copy", [](const Recipe& r) { return Recipe(r); })
      .def(
          "to_dict", [](const Recipe& r) { return json_to_python(recipe_to_json(r)); },
          "Everything that decides the result, defaults filled in.")
      .def(
          "__eq__",
          [](const Recipe& a, const Recipe& b) { return recipe_to_json(a) == recipe_to_json(b); },
          py::is_operator())
      .def("__repr__", [](const Recipe& r) {
        return "Recipe(" + r.id + ": " + r.network + ", " + r.loss + ")";
      });
  m.def(
      "training_inputs",
      [](const Recipe& recipe, const Array& images, std::int64_t epoch) {
        const ImageArray source = array_images(images);
        NetworkOptions network = recipe.network_options;
        const ImageShape wanted = trained_input(recipe.input, network, source.shape());
        network.height = wanted.height;
        network.width = wanted.width;
        network = resolve_network_options(recipe.network, network);
        const InputView input(recipe.input.view, recipe.input.view_fraction,
                              recipe.input.interpolation, source.shape(),
                              {network.height, network.width});
        const PixelInput scale = make_pixel_input(recipe.input);
        py::array_t<float> result(std::vector<py::ssize_t>{source.size(), scale.channels(),
                                                           network.height, network.width});
        py::list variations;
        float* out = result.mutable_data();
        for (std::int64_t i = 0; i < source.size(); ++i) {
          const Variation v =
              draw_variation(recipe.augmentation, input, recipe.training.seed, epoch, i);
          write_variation(source.pixels(i), input, v, scale, /*interleaved=*/false, out);
          out += std::int64_t{scale.channels()} * network.height * network.width;
          variations.append(variation_dict(v));
        }
        return std::pair(result, variations);
      },
      py::arg("recipe"), py::arg("images"), py::arg("epoch"));
  m.def("training_views", [] {
    py::list result;
    for (const TrainingViewEntry& entry : training_views().entries()) {
      py::dict d;
      d["name"] = entry.name;
      d["doc"] = entry.doc;
      d["source"] = entry.source;
      result.append(d);
    }
    return result;
  });
  m.def("recipe_names", &recipe_names, "The recipes that the library carries.");
  m.def("load_recipe", &load_recipe, py::arg("name_or_path"));
  m.def("parse_recipe", &parse_recipe, py::arg("text"), py::arg("file") = "recipe.toml");
  m.def(
      "schedule_policies",
      [] {
        py::list result;
        for (const SchedulePolicy& p : schedule_policies().entries()) {
          py::dict d;
          d["name"] = p.name;
          d["doc"] = p.doc;
          d["formula"] = p.formula;
          result.append(d);
        }
        return result;
      },
      "Every learning-rate policy: name, doc, formula.");
  m.def(
      "learning_rate",
      [](double base, const ScheduleOptions& options, std::int64_t iteration, std::int64_t total,
         double per_epoch) {
        return learning_rate(base, options, {iteration, total, per_epoch});
      },
      py::arg("base"), py::arg("options"), py::arg("iteration"), py::arg("total"),
      py::arg("iterations_per_epoch") = 1.0,
      "The learning rate of one iteration (0 is the first).");
  m.def(
      "train_pack",
      [](const Recipe& recipe, const std::filesystem::path& pack, const std::filesystem::path& out,
         const TrainOptions& options, const py::object& progress, const py::object& on_epoch) {
        const Pack opened(pack);
        return result_dict(
            run_training(recipe, training_set(opened), out, options, progress, on_epoch));
      },
      py::arg("recipe"), py::arg("pack"), py::arg("out"), py::arg("options"), py::arg("progress"),
      py::arg("on_epoch"));
  m.def(
      "train_arrays",
      [](const Recipe& recipe, const Array& images, const std::vector<std::int64_t>& labels,
         const py::dict& preparation, const std::filesystem::path& out, const TrainOptions& options,
         const py::object& progress, const py::object& on_epoch) {
        const ImageArray source = array_images(images);
        Sha256 hash;
        hash.update(
            std::as_bytes(std::span(images.data(), static_cast<std::size_t>(images.size()))));
        const TrainingSet set{&source, labels, hash.hex(), json_from_python(preparation)};
        return result_dict(run_training(recipe, set, out, options, progress, on_epoch));
      },
      py::arg("recipe"), py::arg("images"), py::arg("labels"), py::arg("preparation"),
      py::arg("out"), py::arg("options"), py::arg("progress"), py::arg("on_epoch"));
}

}  // namespace facebench

#include <torch/csrc/utils/pybind.h>

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>

#include "common.h"
#include "facebench/embedding/extractor.h"
#include "facebench/io/sha256.h"
#include "facebench/nn/memory_reuse.h"
#include "facebench/nn/torch_device.h"
#include "facebench/training/batch_scaling.h"
#include "facebench/training/process_group.h"
#include "facebench/training/recipe.h"
#include "facebench/training/sampler.h"
#include "facebench/training/schedule.h"
#include "facebench/training/trainer.h"
#include "facebench/training/training_loop.h"
#include "json.h"
#include "modules.h"
#include "tables.h"
#include "training/own_loss.h"
#include "training/own_network.h"

namespace facebench {
namespace {

using Array = py::array_t<std::uint8_t, py::array::c_style>;

// An array (N, H, W, 3) as a source of images; the array must outlive it.
ImageArray array_images(const Array& array, const std::vector<std::string>& names = {}) {
  if (array.ndim() != 4 || array.shape(3) != 3)
    throw std::invalid_argument("images: expected uint8 of the shape (N, H, W, 3)");
  return {array.data(),
          array.shape(0),
          {static_cast<int>(array.shape(1)), static_cast<int>(array.shape(2))},
          names};
}

std::string array_hash(const Array& array) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(array.data(), static_cast<std::size_t>(array.size()))));
  return hash.hex();
}

py::dict value_dict(const ValidationValue& v) {
  using V = ValidationValue;
  py::dict d = dict_of(v, "track", &V::track, "metric", &V::metric, "value", &V::value, "score",
                       &V::score, "failed_enrolments", &V::failed_enrolments);
  if (v.interval) {
    d["low"] = v.interval->low;
    d["high"] = v.interval->high;
  }
  return d;
}

py::dict report_dict(const EpochReport& report) {
  using E = EpochReport;
  py::dict d = dict_of(report, "iteration", &E::iteration, "loss", &E::loss, "accuracy",
                       &E::accuracy, "lr", &E::lr, "epoch", &E::epoch, "epochs", &E::epochs);
  if (report.validation) d["validation"] = value_dict(*report.validation);
  return d;
}

py::dict report_dict(const StepReport& report) {
  using S = StepReport;
  return dict_of(report, "iteration", &S::iteration, "loss", &S::loss, "accuracy", &S::accuracy,
                 "lr", &S::lr, "iterations", &S::iterations, "gradient_norm", &S::gradient_norm);
}

py::dict result_dict(const TrainResult& result) {
  using T = TrainResult;
  py::dict d = dict_of(
      result, "model", &T::model, "iterations", &T::iterations, "epochs", &T::epochs, "classes",
      &T::classes, "images", &T::images, "excluded", &T::excluded, "loss", &T::loss, "accuracy",
      &T::accuracy, "best_score", &T::best_score, "best_epoch", &T::best_epoch, "stopped_early",
      &T::stopped_early, "images_per_second", &T::images_per_second, "notes", &T::notes);
  if (!result.begun_with.is_null()) d["begun_with"] = json_to_python(result.begun_with);
  return d;
}

// (where, tensors by name, what records say of the source), as Python reads them from a file.
FirstWeights first_weights(const py::tuple& read) {
  FirstWeights first;
  first.where = read[0].cast<std::string>();
  for (const auto& [name, tensor] : read[1].cast<py::dict>())
    first.tensors.push_back({name.cast<std::string>(), tensor.cast<at::Tensor>()});
  first.source = json_from_python(read[2]);
  return first;
}

// What the manifest says of a model that is trained on.
Json description_of(const Model& model) {
  Sha256 hash;
  for (const NamedTensor& t : model.weights.tensors()) {
    const at::Tensor numbers = t.tensor.detach().cpu().contiguous();
    hash.update(std::as_bytes(std::span(static_cast<const char*>(numbers.const_data_ptr()),
                                        static_cast<std::size_t>(numbers.nbytes()))));
  }
  Json json = {{"name", model.network}, {"weights_sha256", hash.hex()}};
  if (!model.sha256.empty()) json["file_sha256"] = model.sha256;
  if (!model.options.origin.empty()) json["origin"] = model.options.origin;
  return json;
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

py::dict memory_dict(const HeadMemory& memory) {
  using H = HeadMemory;
  return dict_of(memory, "first_class", &H::first_class, "classes", &H::classes, "parameters",
                 &H::parameters, "momentum", &H::momentum, "gradients", &H::gradients, "logits",
                 &H::logits, "features", &H::features, "total", &H::total);
}

// What Python gives to a training in addition to recipe, data and options.
struct TrainingContext {
  py::object network, loss, first, progress, on_start, on_epoch, on_step, on_checkpoint, on_note;
  const Validation* validation = nullptr;
  py::object process_group;
};

TrainResult run_training(const Recipe& recipe, const TrainingSet& set,
                         const std::filesystem::path& out, const TrainOptions& options,
                         const TrainingContext& context) {
  TrainCallbacks callbacks;
  callbacks.validation = context.validation;
  PythonError raised;
  if (py::isinstance<Model>(context.network)) {
    const auto& model = context.network.cast<const Model&>();
    callbacks.network = OwnNetwork{description_of(model), network_of_model(model)};
  } else if (!context.network.is_none()) {
    callbacks.network = own_network(context.network, raised);
  }
  if (!context.first.is_none()) callbacks.first = first_weights(context.first);
  if (!context.loss.is_none()) callbacks.loss = own_loss(context.loss, raised);
  const auto call = [&](const py::object& function, const auto&... arguments) {
    return in_python(raised, [&] { return py::object(function(arguments...)); });
  };
  if (!context.on_start.is_none())
    callbacks.on_start = [&](const std::vector<HeadMemory>& memory) {
      const py::gil_scoped_acquire gil;
      py::list processes;
      for (const HeadMemory& m : memory) processes.append(memory_dict(m));
      call(context.on_start, processes);
    };
  if (!context.on_epoch.is_none())
    callbacks.on_epoch = [&](const EpochReport& report,
                             const TrainedModel& model) -> std::optional<double> {
      const py::gil_scoped_acquire gil;
      const LentModel lent(model);
      const py::object score = call(context.on_epoch, report_dict(report), lent.object());
      return score.is_none() ? std::nullopt : std::optional(score.cast<double>());
    };
  if (!context.on_step.is_none())
    callbacks.on_step = [&](const StepReport& report) {
      const py::gil_scoped_acquire gil;
      call(context.on_step, report_dict(report));
    };
  if (!context.on_checkpoint.is_none())
    callbacks.on_checkpoint = [&] {
      const py::gil_scoped_acquire gil;
      call(context.on_checkpoint);
    };
  if (!context.on_note.is_none())
    callbacks.on_note = [&](const std::string& note) {
      const py::gil_scoped_acquire gil;
      call(context.on_note, note);
    };
  SingleProcess alone;
  std::unique_ptr<Communicator> group;
  if (!context.process_group.is_none())
    group = process_group_communicator(
        context.process_group.cast<c10::intrusive_ptr<c10d::ProcessGroup>>(),
        torch_device(options.device));
  try {
    return with_job(0, context.progress, [&](const Job& job) {
      return train(recipe, set, out, options, job, callbacks,
                   group ? *group : static_cast<Communicator&>(alone));
    });
  } catch (const PythonFailed&) {
    throw std::move(*raised);
  }
}

void bind_recipe(py::module_& m) {
  py::class_<Recipe>(m, "Recipe", "A training as its TOML states it; see facebench.training.")
      .def_readonly("id", &Recipe::id)
      .def_readonly("title", &Recipe::title)
      .def_readonly("citations", &Recipe::citations)
      .def_readonly("notes", &Recipe::notes, "Notes for readers of the numbers.")
      .def_readonly("not_modelled", &Recipe::not_modelled,
                    "What the framework or the authors did and this training does not.")
      .def_property_readonly("network", [](const Recipe& r) { return r.network; })
      .def_property_readonly("loss", [](const Recipe& r) { return r.loss; })
      .def("set", &set_recipe, py::arg("key"), py::arg("value"),
           "Change one value, as --set does: set('optimizer.lr', '0.05'), or set('lr', '0.05') "
           "where only one table has the key. ValueError for an unknown key (did you mean).")
      .def("scale_batch", &scale_batch, py::arg("batch"),
           "Change the batch, and the rate with it by the linear rule of Goyal et al., with a "
           "warm-up where it grows. Returns what it did, in one sentence. ValueError for Adam.")
      .def_property_readonly(
          "given", [](const Recipe& r) { return std::vector(r.given.begin(), r.given.end()); },
          "The keys that the caller said: of a file of theirs, and those of set().")
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
}

void bind_training_inputs(py::module_& m) {
  m.def(
      "training_inputs",
      [](const Recipe& recipe, const Array& images, std::int64_t epoch) {
        const ImageArray source = array_images(images);
        NetworkOptions network =
            network_for_images(recipe.input, recipe.network_options, source.shape());
        if (!is_made_in_python(recipe.network))
          network = resolve_network_options(recipe.network, network);
        if (!network.height || !network.width)
          throw std::invalid_argument("state network.height and network.width of " +
                                      recipe.network);
        const ImageShape size{*network.height, *network.width};
        const InputView input(recipe.input.view, recipe.input.view_fraction,
                              recipe.input.interpolation, source.shape(), size);
        const PixelInput scale = make_pixel_input(recipe.input);
        py::array_t<float> result(
            std::vector<py::ssize_t>{source.size(), scale.channels(), size.height, size.width});
        py::list variations;
        float* out = result.mutable_data();
        for (std::int64_t i = 0; i < source.size(); ++i) {
          const Variation v =
              draw_variation(recipe.augmentation, input, recipe.training.seed, epoch, i);
          write_variation(source.pixels(i), input, v, scale, /*interleaved=*/false, out);
          out += std::int64_t{scale.channels()} * size.height * size.width;
          variations.append(variation_dict(v));
        }
        return std::pair(result, variations);
      },
      py::arg("recipe"), py::arg("images"), py::arg("epoch"));
}

void bind_training_runs(py::module_& m) {
  m.def(
      "communicator",
      [](const c10::intrusive_ptr<c10d::ProcessGroup>& group, const std::string& device) {
        return process_group_communicator(group, torch_device(device));
      },
      py::arg("process_group"), py::arg("device"));
  m.def(
      "head_memory",
      [](const Head& head, std::int64_t images, const OptimizerOptions& optimizer, bool early) {
        return memory_dict(head_memory(head, images, optimizer.moments(), early));
      },
      py::arg("head"), py::arg("images"), py::arg("optimizer"), py::arg("early"));
  py::class_<Optimizer>(m, "Optimizer", "See facebench.training.Optimizer.")
      .def(py::init([](const std::map<std::string, at::Tensor>& parameters,
                       const OptimizerOptions& options) {
             std::vector<TrainedParameter> trained;
             for (const auto& [name, tensor] : parameters) trained.push_back({{{name, tensor}}});
             return std::make_unique<Optimizer>(trained, options);
           }),
           py::arg("parameters"), py::arg("options"))
      .def("zero_grad", &Optimizer::zero_grad)
      .def(
          "backward",
          [](Optimizer& o, const at::Tensor& loss, Head& head, double lr) {
            o.backward(loss, head, lr);
          },
          py::arg("loss"), py::arg("head"), py::arg("lr"), py::call_guard<WithoutGil>())
      .def("step", &Optimizer::step, py::arg("lr"), py::call_guard<WithoutGil>());
  py::class_<TrainingLoop>(m, "TrainingLoop",
                           "What a training goes through, for steps of another framework.")
      .def(py::init([](const Recipe& recipe, const std::filesystem::path& pack,
                       const std::filesystem::path& exclude, const std::filesystem::path& only,
                       const std::string& label, const std::string& split) {
             return std::make_unique<TrainingLoop>(
                 recipe, open_training_set(pack, read_exclusions(exclude, only),
                                           named_image_shape(recipe.input, recipe.network_options),
                                           {label, split}));
           }),
           py::arg("recipe"), py::arg("pack"), py::arg("exclude"), py::arg("only"),
           py::arg("label") = "", py::arg("split") = "")
      .def(py::init([](const Recipe& recipe, const Array& images,
                       const std::vector<std::int64_t>& labels) {
             auto source = std::make_unique<const ImageArray>(array_images(images));
             const TrainingSet set{source.get(), labels, array_hash(images)};
             return std::make_unique<TrainingLoop>(recipe,
                                                   OpenedTrainingSet{std::move(source), set});
           }),
           py::arg("recipe"), py::arg("images"), py::arg("labels"), py::keep_alive<1, 3>())
      .def_property_readonly("iterations", &TrainingLoop::iterations)
      .def_property_readonly("iterations_per_epoch", &TrainingLoop::iterations_per_epoch)
      .def_property_readonly("classes", &TrainingLoop::classes)
      .def_property_readonly("images", &TrainingLoop::images)
      .def_property_readonly("notes", &TrainingLoop::notes)
      .def("signs", &TrainingLoop::signs, py::arg("losses"),
           "Signs in the losses of all steps that nothing was learned, a sentence each.")
      .def_property_readonly("recipe", &TrainingLoop::recipe)
      .def(
          "next",
          [](TrainingLoop& loop) {
            Batch batch;
            {
              const WithoutGil without_gil;
              batch = loop.next();
            }
            return std::pair(batch.images, batch.labels);
          },
          "The next batch: images (N, C, H, W) float32 and classes (N).")
      .def("learning_rate", &TrainingLoop::learning_rate, py::arg("iteration"),
           "The rate of a step; 0 is the first.")
      .def(
          "tensors",
          [](const TrainingLoop& loop) {
            return dict_by(loop.tensors(), &NamedTensor::name,
                           [](const NamedTensor& t) { return t.tensor.detach(); });
          },
          "The weights by name; what is written into them is saved.")
      .def(
          "rules",
          [](const TrainingLoop& loop) {
            py::dict result;
            for (const auto& [name, rule] : loop.rules())
              result[py::str(name)] = std::pair(rule.lr_mult, rule.weight_decay);
            return result;
          },
          "Of each learned tensor what its rate is multiplied by, and its decay.")
      .def(
          "save",
          [](const TrainingLoop& loop, const std::filesystem::path& model,
             const py::object& trained_by) { loop.save(model, json_from_python(trained_by)); },
          py::arg("model"), py::arg("trained_by") = py::none(),
          "Writes the model file, which says by what it was trained: engine, device, versions.");
  py::class_<MemoryReuse>(m, "MemoryReuse", "See facebench.training.reuse_memory.")
      .def(py::init<>());
  m.def("training_views",
        [] { return table_list(training_views(), "source", &TrainingViewEntry::source); });
  m.def("recipe_names", &recipe_names, "The built-in recipes.");
  m.def("load_recipe", &load_recipe, py::arg("name_or_path"));
  m.def("parse_recipe", &parse_recipe, py::arg("text"), py::arg("file") = "recipe.toml");
  m.def(
      "schedule_policies",
      [] { return table_list(schedule_policies(), "formula", &SchedulePolicy::formula); },
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
  bind_options<ValidationOptions>(m);
  py::class_<Validation>(m, "Validation", "See facebench.training.validation.")
      .def(
          "__call__",
          [](const Validation& v, const py::object& model, int threads) {
            const auto judge = [&](const BatchModel& batches) {
              return value_dict(
                  with_job(threads, py::none(), [&](const Job& job) { return v(batches, job); }));
            };
            if (py::isinstance<Model>(model))
              return judge(*make_batch_model(model.cast<const Model&>(), kMicroBatch));
            const py::object batches =
                py::module_::import("facebench.embedding._foreign").attr("batch_model")(model);
            return judge(batches.cast<const BatchModel&>());
          },
          py::arg("model"), py::arg("threads") = 0,
          "Judge a model or an embedder: dict of track, metric, value, score (higher is better), "
          "failed_enrolments.")
      .def("to_dict", [](const Validation& v) { return json_to_python(v.description()); });
  m.def(
      "open_validation",
      [](const std::string& protocol, const std::filesystem::path& root,
         const std::filesystem::path& lists, const std::filesystem::path& pack,
         const ValidationOptions& options) {
        return open_validation(protocol, {root, {}, lists}, pack, options);
      },
      py::arg("protocol"), py::arg("root"), py::arg("lists"), py::arg("pack"), py::arg("options"),
      py::call_guard<WithoutGil>());
  m.def(
      "array_validation",
      [](const std::string& protocol, const std::filesystem::path& root,
         const std::filesystem::path& lists, const Array& images,
         const std::vector<std::string>& names, const ValidationOptions& options) {
        const ProtocolSpec spec = load_protocol(protocol);
        return Validation(spec, read_trials(spec, {root, {}, lists}),
                          std::make_shared<const ImageArray>(array_images(images, names)),
                          array_hash(images), options);
      },
      py::arg("protocol"), py::arg("root"), py::arg("lists"), py::arg("images"), py::arg("names"),
      py::arg("options"), py::keep_alive<0, 4>());
  m.def(
      "samplers", [] { return table_list(samplers()); },
      "Every way of putting images into batches: name, doc.");
  m.def(
      "train_pack",
      [](const Recipe& recipe, const std::filesystem::path& pack,
         const std::filesystem::path& exclude, const std::filesystem::path& only,
         const std::filesystem::path& out, const TrainOptions& options, const py::object& network,
         const py::object& loss, const py::object& first, const py::object& progress,
         const py::object& on_start, const py::object& on_epoch, const py::object& on_step,
         const py::object& on_checkpoint, const py::object& on_note, const Validation* validation,
         const py::object& group, const std::string& label, const std::string& split) {
        const OpenedTrainingSet opened = open_training_set(
            pack, read_exclusions(exclude, only),
            named_image_shape(recipe.input, recipe.network_options), {label, split});
        return result_dict(run_training(recipe, opened.set, out, options,
                                        {network, loss, first, progress, on_start, on_epoch,
                                         on_step, on_checkpoint, on_note, validation, group}));
      },
      py::arg("recipe"), py::arg("pack"), py::arg("exclude"), py::arg("only"), py::arg("out"),
      py::arg("options"), py::arg("network"), py::arg("loss"), py::arg("first"),
      py::arg("progress"), py::arg("on_start"), py::arg("on_epoch"), py::arg("on_step"),
      py::arg("on_checkpoint"), py::arg("on_note"), py::arg("validation"), py::arg("process_group"),
      py::arg("label") = "", py::arg("split") = "");
  m.def(
      "train_arrays",
      [](const Recipe& recipe, const Array& images, const std::vector<std::int64_t>& labels,
         const py::dict& preparation, const std::filesystem::path& out, const TrainOptions& options,
         const py::object& network, const py::object& loss, const py::object& first,
         const py::object& progress, const py::object& on_start, const py::object& on_epoch,
         const py::object& on_step, const py::object& on_checkpoint, const py::object& on_note,
         const Validation* validation, const py::object& group) {
        const ImageArray source = array_images(images);
        const TrainingSet set{&source, labels, array_hash(images), json_from_python(preparation)};
        return result_dict(run_training(recipe, set, out, options,
                                        {network, loss, first, progress, on_start, on_epoch,
                                         on_step, on_checkpoint, on_note, validation, group}));
      },
      py::arg("recipe"), py::arg("images"), py::arg("labels"), py::arg("preparation"),
      py::arg("out"), py::arg("options"), py::arg("network"), py::arg("loss"), py::arg("first"),
      py::arg("progress"), py::arg("on_start"), py::arg("on_epoch"), py::arg("on_step"),
      py::arg("on_checkpoint"), py::arg("on_note"), py::arg("validation"),
      py::arg("process_group"));
}

}  // namespace

void bind_training(py::module_& m) {
  bind_options<TrainingOptions>(m);
  bind_options<OptimizerOptions>(m);
  bind_options<ScheduleOptions>(m);
  bind_options<AugmentationOptions>(m);
  bind_options<InputOptions>(m);
  bind_options<TrainOptions>(m);

  bind_recipe(m);
  bind_training_inputs(m);
  bind_training_runs(m);
}

}  // namespace facebench

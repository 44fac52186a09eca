#include "facebench/training/trained_network.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <utility>

#include "facebench/embedding/imported_model.h"
#include "facebench/nn/internal/aten.h"
#include "facebench/training/input.h"

namespace facebench {
namespace {

// The network as it is trained: for the size of its input, without its own classifier (that belongs
// to the loss), with auxiliary branches where the recipe wants them.
NetworkOptions trained_network_options(const Recipe& recipe, const ImageShape& shape) {
  NetworkOptions options = network_for_images(recipe.input, recipe.network_options, shape);
  options.classes = 0;
  if (!options.auxiliary)
    options.auxiliary = networks().at(recipe.network).defaults.auxiliary.value_or(0);
  if (recipe.training.aux_weight == 0) options.auxiliary = 0;
  return options;
}

class GraphModel : public TrainedModel {
 public:
  explicit GraphModel(Model model) : model_(std::move(model)) {}
  std::unique_ptr<BatchModel> batch_model(std::int64_t batch) const override {
    return make_batch_model(model_, batch);
  }
  void save(const std::filesystem::path& path) const override { save_model(model_, path); }
  const Model* ours() const override { return &model_; }

 private:
  Model model_;
};

// What networks of this library have in common.
class GraphNetwork : public TrainedNetwork {
 public:
  const std::vector<Output>& outputs() const override { return outputs_; }

  void freeze(const FreezePatterns& patterns) override {
    std::vector<std::string> names;
    for (const NamedTensor& t : weights().tensors()) names.push_back(t.name);
    patterns.check(names);
    ours()->freeze([&](std::string_view name) { return patterns.covers(name); });
  }
  void to(at::Device device, at::ScalarType dtype, bool channels_last) override {
    ours()->to(device, dtype);
    ours()->channels_last(channels_last);
    channels_last_ = channels_last;
  }
  at::Device device() const override { return weights().device(); }

  std::vector<TrainedParameter> parameters() const override {
    std::vector<ParameterKind> kinds;
    for (const TensorSpec& spec : weights().graph().tensors())
      if (spec.trainable()) kinds.push_back(parameter_kind(spec));
    std::vector<TrainedParameter> result;
    const std::vector<NamedTensor>& all = weights().parameters();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].tensor.requires_grad())
        result.push_back({{{all[i].name, all[i].tensor}}, kinds[i]});
    return result;
  }
  std::vector<NamedTensor> buffers() const override {
    std::vector<NamedTensor> result = weights().buffers();
    for (const NamedTensor& t : weights().parameters())
      if (!t.tensor.requires_grad()) result.push_back(t);
    return result;
  }

  std::vector<at::Tensor> forward(const at::Tensor& images, const TrainingPass& pass) override {
    ours()->set_batch_norm_share(pass.batch_norm_share);
    ours()->set_dropout(pass.seed, pass.number);
    return ours()->forward(images, std::span<const std::string>(taps_));
  }

 protected:
  virtual const Network& weights() const = 0;
  bool channels_last() const { return channels_last_; }
  void add_output(const std::string& tap, std::int64_t features) {
    outputs_.push_back({tap, features});
    taps_.push_back(tap);
  }

 private:
  std::vector<Output> outputs_;
  std::vector<std::string> taps_;
  bool channels_last_ = false;
};

class ImageNetwork : public GraphNetwork {
 public:
  explicit ImageNetwork(Model model) : model_(std::move(model)) {
    model_.weights.train();
    const Graph& graph = model_.weights.graph();
    const auto add = [&](const std::string& tap) {
      add_output(tap, element_count(graph.shape({graph.tap_node(tap)})));
    };
    add(std::string(graph.classifier_input()));
    if (model_.network_options.auxiliary == 1)
      for (const auto& [tap, node] : graph.taps())
        if (tap.starts_with("aux")) add(tap);
  }

  InputView input_view() const override { return model_.input_view(); }
  void set_training(const std::string& run_hash, const Json& record) override {
    model_.options.training_run = run_hash;
    model_.training = record;
  }

  std::unique_ptr<TrainedModel> snapshot(std::span<const NamedTensor> instead) const override {
    NetworkOptions options = model_.network_options;
    const bool whole = options.auxiliary == 1;  // else the graph is what the model file holds
    options.auxiliary = 0;
    Graph graph = whole ? build_graph(model_.network, options) : model_.weights.graph();
    std::map<std::string, at::Tensor> current;
    for (const NamedTensor& t : model_.weights.tensors()) current[t.name] = t.tensor;
    for (const NamedTensor& t : instead) current[t.name] = t.tensor;
    std::vector<NamedTensor> tensors;
    for (const TensorSpec& spec : graph.tensors())
      tensors.push_back({spec.name, current.at(spec.name)});
    Model model{model_.network,
                options,
                model_.options,
                Network(std::move(graph), tensors, model_.network),
                {},
                {},
                {},
                model_.training};
    model.weights.channels_last(channels_last());
    model.weights.train(false);
    return std::make_unique<GraphModel>(std::move(model));
  }

  Network* ours() override { return &model_.weights; }

 protected:
  const Network& weights() const override { return model_.weights; }

 private:
  Model model_;
};

// Each word has a row of the output, and a label.
class WordNetwork : public GraphNetwork {
 public:
  explicit WordNetwork(const Recipe& recipe)
      : name_(recipe.network),
        weights_(build_network(recipe.network, recipe.network_options, recipe.training.initializer,
                               recipe.training.seed)) {
    const Graph& graph = weights_.graph();
    const std::string tap(graph.classifier_input());
    add_output(tap, graph.shape({graph.tap_node(tap)}).back());
  }

  std::vector<at::Tensor> forward(const at::Tensor& words, const TrainingPass& pass) override {
    std::vector<at::Tensor> values = GraphNetwork::forward(words, pass);
    for (at::Tensor& v : values) v = v.flatten(0, 1);
    return values;
  }

  InputView input_view() const override { refuse(); }
  void set_training(const std::string&, const Json&) override {}
  std::unique_ptr<TrainedModel> snapshot(std::span<const NamedTensor>) const override { refuse(); }
  Network* ours() override { return &weights_; }

 protected:
  const Network& weights() const override { return weights_; }

 private:
  [[noreturn]] void refuse() const {
    throw std::invalid_argument(
        fmt::format("network '{}' reads words, a training reads images; 'facebench bench step' "
                    "times its steps",
                    name_));
  }

  std::string name_;
  Network weights_;
};

}  // namespace

std::unique_ptr<TrainedNetwork> make_recipe_network(const Recipe& recipe,
                                                    const ModelOptions& options,
                                                    const ImageShape& images) {
  if (is_made_in_python(recipe.network))
    throw std::invalid_argument(fmt::format(
        "network '{}' is made by Python's package timm; train it with facebench.train or "
        "the command line",
        recipe.network));
  if (networks().at(recipe.network).defaults.words) return std::make_unique<WordNetwork>(recipe);
  return std::make_unique<ImageNetwork>(
      make_model(recipe.network, trained_network_options(recipe, images), options,
                 recipe.training.initializer, recipe.training.seed));
}

NetworkMaker network_of_model(const Model& model) {
  return [&model](const Recipe& recipe, const ModelOptions& options, const ImageShape& images) {
    const NetworkOptions& own = model.network_options;
    NetworkOptions size;
    size.height = own.height;
    size.width = own.width;
    network_for_images(recipe.input, size, images);  // refuses images of another size
    Model copy = imported_model(model.weights.graph(), model.weights.tensors(), options, "network");
    copy.network = model.network;
    copy.network_options = own;
    return std::make_unique<ImageNetwork>(std::move(copy));
  };
}

}  // namespace facebench

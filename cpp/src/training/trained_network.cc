#include "facebench/training/trained_network.h"

#include <ATen/ATen.h>

#include <map>
#include <utility>

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

class GraphNetwork : public TrainedNetwork {
 public:
  GraphNetwork(const Recipe& recipe, const ModelOptions& options, const ImageShape& images)
      : model_(make_model(recipe.network, trained_network_options(recipe, images), options,
                          recipe.training.initializer, recipe.training.seed)) {
    const Graph& graph = model_.weights.graph();
    const auto add = [&](const std::string& tap) {
      outputs_.push_back({tap, element_count(graph.shape({graph.tap_node(tap)}))});
      taps_.push_back(tap);
    };
    add(std::string(graph.classifier_input()));
    if (model_.network_options.auxiliary == 1)
      for (const auto& [tap, node] : graph.taps())
        if (tap.starts_with("aux")) add(tap);
  }

  const std::vector<Output>& outputs() const override { return outputs_; }

  void to(at::Device device, at::ScalarType dtype, bool channels_last) override {
    model_.weights.to(device, dtype);
    model_.weights.channels_last(channels_last);
    channels_last_ = channels_last;
  }
  at::Device device() const override { return model_.weights.device(); }

  std::vector<TrainedParameter> parameters() const override {
    std::vector<ParameterKind> kinds;
    for (const TensorSpec& spec : model_.weights.graph().tensors())
      if (spec.trainable()) kinds.push_back(parameter_kind(spec));
    std::vector<TrainedParameter> result;
    for (const NamedTensor& t : model_.weights.parameters())
      result.push_back({{{t.name, t.tensor}}, kinds[result.size()]});
    return result;
  }
  std::vector<NamedTensor> buffers() const override { return model_.weights.buffers(); }

  std::vector<at::Tensor> forward(const at::Tensor& images, const TrainingPass& pass) override {
    model_.weights.set_batch_norm_share(pass.batch_norm_share);
    model_.weights.set_dropout(pass.seed, pass.number);
    return model_.weights.forward(images, std::span<const std::string>(taps_));
  }

  InputView input_view() const override { return model_.input_view(); }
  void set_training_run(const std::string& hash) override { model_.options.training_run = hash; }

  std::unique_ptr<TrainedModel> snapshot(std::span<const NamedTensor> instead) const override {
    NetworkOptions options = model_.network_options;
    options.auxiliary = 0;
    Graph graph = build_graph(model_.network, options);
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
                {}};
    model.weights.channels_last(channels_last_);
    model.weights.train(false);
    return std::make_unique<GraphModel>(std::move(model));
  }

  Network* ours() override { return &model_.weights; }

 private:
  Model model_;
  std::vector<Output> outputs_;
  std::vector<std::string> taps_;
  bool channels_last_ = false;
};

}  // namespace

std::unique_ptr<TrainedNetwork> make_recipe_network(const Recipe& recipe,
                                                    const ModelOptions& options,
                                                    const ImageShape& images) {
  return std::make_unique<GraphNetwork>(recipe, options, images);
}

}  // namespace facebench

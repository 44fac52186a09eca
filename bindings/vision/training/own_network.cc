#include "training/own_network.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/utils/pybind.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "json.h"
#include "tables.h"

namespace facebench {
namespace {

// The batches of a BatchModel that Python owns.
class SharedBatchModel : public BatchModel {
 public:
  explicit SharedBatchModel(const BatchModel& model) : BatchModel(model.info()), model_(model) {}
  at::Tensor embed(const at::Tensor& images) const override { return model_.embed(images); }

 private:
  const BatchModel& model_;
};

// The network as it stands, the values that it is to be judged with in their place as long as this
// object is there.
class PythonTrainedModel : public TrainedModel {
 public:
  PythonTrainedModel(py::handle network, std::span<const NamedTensor> instead, PythonError& raised)
      : network_(network), raised_(raised) {
    const py::gil_scoped_acquire gil;
    const py::dict values = dict_by(instead, &NamedTensor::name, &NamedTensor::tensor);
    in_python(raised_, [&] {
      py::object embedder = network_.attr("embedder")(values);
      batches_ = py::module_::import("facebench.embedding._foreign").attr("batch_model")(embedder);
      embedder_ = std::move(embedder);
    });
  }
  ~PythonTrainedModel() override {
    const py::gil_scoped_acquire gil;
    try {
      network_.attr("restore")();
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("the weights after an epoch");
    }
    embedder_ = batches_ = py::object();
  }
  PythonTrainedModel(const PythonTrainedModel&) = delete;
  PythonTrainedModel& operator=(const PythonTrainedModel&) = delete;

  std::unique_ptr<BatchModel> batch_model(std::int64_t) const override {
    const py::gil_scoped_acquire gil;
    return std::make_unique<SharedBatchModel>(batches_.cast<const BatchModel&>());
  }
  void save(const std::filesystem::path& path) const override {
    const py::gil_scoped_acquire gil;
    in_python(raised_, [&] { embedder_.attr("save")(path); });
  }
  const py::object& embedder() const { return embedder_; }

 private:
  py::handle network_;
  PythonError& raised_;
  py::object embedder_, batches_;
};

class PythonNetwork : public TrainedNetwork {
 public:
  PythonNetwork(const Recipe& recipe, const ModelOptions& options, const ImageShape& images,
                py::handle network, PythonError& raised)
      : network_(network), raised_(raised), options_(options) {
    const NetworkOptions size = network_for_images(recipe.input, recipe.network_options, images);
    if (!size.height || !size.width)
      throw std::invalid_argument("network: with view '" + recipe.input.view +
                                  "' the size of your network's input must be stated, as "
                                  "network.height and network.width of the recipe");
    if (recipe.training.batch_norm_decay)
      throw std::invalid_argument(
          "network: batch_norm_decay is for the library's networks; set the momentum of your own "
          "layers");
    view_.emplace(options.view, options.view_fraction, options.interpolation, images,
                  ImageShape{*size.height, *size.width});
    const std::array<int, 3> shape{recipe.input.color == "gray" ? 1 : 3, *size.height, *size.width};
    const py::gil_scoped_acquire gil;
    in_python(raised_, [&] {
      const auto features = network_.attr("make")(shape, recipe.training.seed).cast<std::int64_t>();
      outputs_.push_back({"embedding", features});
    });
  }

  const std::vector<Output>& outputs() const override { return outputs_; }

  void freeze(const FreezePatterns& patterns) override {
    const py::gil_scoped_acquire gil;
    in_python(raised_, [&] {
      const auto names = network_.attr("names")().cast<std::vector<std::string>>();
      patterns.check(names);
      py::set covered;
      for (const std::string& name : names)
        if (patterns.covers(name)) covered.add(name);
      network_.attr("freeze")(covered);
    });
  }

  void to(at::Device device, at::ScalarType dtype, bool channels_last) override {
    device_ = device;
    const py::gil_scoped_acquire gil;
    in_python(raised_, [&] {
      network_.attr("to")(device.str(), dtype == at::kDouble, channels_last);
      for (const py::handle entry : network_.attr("parameters")()) {
        const auto [name, tensor, kind] =
            entry.cast<std::tuple<std::string, at::Tensor, std::string>>();
        parameters_.push_back({{{name, tensor}}, kind_of(kind)});
      }
      for (const auto& [name, tensor] : network_.attr("buffers")().cast<py::dict>())
        buffers_.push_back({name.cast<std::string>(), tensor.cast<at::Tensor>()});
    });
  }
  at::Device device() const override { return device_; }

  std::vector<TrainedParameter> parameters() const override { return parameters_; }
  std::vector<NamedTensor> buffers() const override { return buffers_; }

  std::vector<at::Tensor> forward(const at::Tensor& images, const TrainingPass&) override {
    const py::gil_scoped_acquire gil;
    return in_python(raised_, [&] { return std::vector{network_(images).cast<at::Tensor>()}; });
  }

  InputView input_view() const override { return *view_; }
  void set_training(const std::string& run_hash, const Json& record) override {
    options_.training_run = run_hash;
    const py::gil_scoped_acquire gil;
    network_.attr("options") = py::cast(options_);
    network_.attr("training") = json_to_python(record);
  }
  std::unique_ptr<TrainedModel> snapshot(std::span<const NamedTensor> instead) const override {
    return std::make_unique<PythonTrainedModel>(network_, instead, raised_);
  }

 private:
  static ParameterKind kind_of(const std::string& name) {
    if (name == "bias") return ParameterKind::bias;
    if (name == "residual_bias") return ParameterKind::residual_bias;
    if (name == "norm") return ParameterKind::norm;
    if (name == "slope") return ParameterKind::slope;
    return ParameterKind::weight;
  }

  py::handle network_;
  PythonError& raised_;
  ModelOptions options_;
  std::optional<InputView> view_;
  std::vector<Output> outputs_;
  at::Device device_ = at::kCPU;
  std::vector<TrainedParameter> parameters_;
  std::vector<NamedTensor> buffers_;
};

// Leaves the Python objects of a C++ object that ends without it.
template <class T>
void take_back(const T* object) {
  auto* address = const_cast<T*>(object);
  const auto* type = py::detail::get_type_info(typeid(T));
  while (const auto found = py::reinterpret_steal<py::object>(
             py::detail::find_registered_python_instance(address, type))) {
    auto* instance = reinterpret_cast<py::detail::instance*>(found.ptr());
    py::detail::deregister_instance(instance, address, type);
    instance->get_value_and_holder(type).value_ptr() = nullptr;
  }
}

}  // namespace

OwnNetwork own_network(py::handle network, PythonError& raised) {
  return {json_from_python(network.attr("description")()),
          [network, &raised](const Recipe& recipe, const ModelOptions& options,
                             const ImageShape& images) -> std::unique_ptr<TrainedNetwork> {
            return std::make_unique<PythonNetwork>(recipe, options, images, network, raised);
          }};
}

LentModel::LentModel(const TrainedModel& model)
    : ours_(model.ours()),
      object_(ours_ ? py::cast(ours_, py::return_value_policy::reference)
                    : static_cast<const PythonTrainedModel&>(model).embedder()) {}

LentModel::~LentModel() {
  if (!ours_) return;
  take_back(&ours_->weights.graph());
  take_back(&ours_->weights);
  take_back(&ours_->network_options);
  take_back(&ours_->options);
  take_back(ours_);
}

}  // namespace facebench

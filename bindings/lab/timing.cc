#include <torch/csrc/utils/pybind.h>

#include <cmath>
#include <memory>
#include <optional>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <utility>

#include "common.h"
#include "facebench/nn/torch_device.h"
#include "facebench/timing/iteration.h"
#include "facebench/timing/limits.h"
#include "facebench/timing/machine.h"
#include "facebench/timing/proc.h"
#include "facebench/timing/process_meter.h"
#include "facebench/timing/series.h"
#include "facebench/timing/step_bench.h"
#include "facebench/timing/step_input.h"
#include "facebench/training/process_group.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

// NaN as None, which JSON can say.
std::optional<double> known(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

py::object interval(const TimeInterval& i) {
  if (std::isnan(i.low)) return py::none();
  py::list result;
  result.append(i.low);
  result.append(i.high);
  return result;
}

py::dict summary_dict(const SeriesSummary& s) {
  py::dict d;
  d["skipped"] = s.skipped;
  d["first"] = known(s.first);
  d["skipped_mean"] = known(s.skipped_mean);
  d["count"] = s.count;
  d["mean"] = s.mean;
  d["mean_interval"] = interval(s.mean_interval);
  d["sd"] = known(s.sd);
  d["median"] = s.median;
  d["median_interval"] = interval(s.median_interval);
  d["p95"] = s.p95;
  d["low"] = s.low;
  d["high"] = s.high;
  d["relative_half_width"] = known(relative_half_width(s));
  return d;
}

py::dict times_dict(const StepTimes& times) {
  py::dict d, phases;
  d["iteration"] = times.iteration;
  for (std::size_t p = 0; p < kStepPhases; ++p)
    if (!times.phases[p].empty())
      phases[py::str(step_phase_name(static_cast<StepPhase>(p)))] = times.phases[p];
  d["phases"] = phases;
  return d;
}

void bind_machine(py::module_& m) {
  m.def(
      "machine_facts", [] { return json_to_python(machine_facts()); },
      "The machine: cpu (model, cores, caches, clocks), memory_bytes, isa, gpu; None where "
      "unknown.");
  m.def(
      "parse_cpuinfo",
      [](const std::string& text) {
        const CpuFacts f = parse_cpuinfo(text);
        return py::dict(py::arg("model") = py::bytes(f.model), py::arg("sockets") = f.sockets,
                        py::arg("cores") = f.cores, py::arg("processors") = f.processors,
                        py::arg("mhz") = f.mhz);
      },
      py::arg("text"), "What a text as /proc/cpuinfo says (the model as bytes).");
  py::class_<ProcessMeter>(m, "ProcessMeter",
                           "Watches a process (pid 0: this one): memory, processors, other load.")
      .def(py::init<int, double, int>(), py::arg("pid") = 0, py::arg("interval") = 0.05,
           py::arg("gpu") = -1)
      .def(
          "stop",
          [](ProcessMeter& meter) {
            ProcessUse use;
            {
              const WithoutGil without_gil;
              use = meter.stop();
            }
            return json_to_python(process_use_json(use));
          },
          "Ends watching and returns what was used.");
  m.def("multiply_add_limit", &multiply_add_limit, py::arg("threads"), py::call_guard<WithoutGil>(),
        "float32 multiply-adds a second of so many threads, at most, with the instruction set in "
        "use.");
  m.attr("busy_share") = kBusyShare;
}

void bind_statistics(py::module_& m) {
  bind_options<SeriesOptions>(m);
  m.def(
      "summarize_times",
      [](const std::vector<double>& seconds, const SeriesOptions& options) {
        return summary_dict(summarize_times(seconds, options));
      },
      py::arg("seconds"), py::arg("options"));
  m.def(
      "repeat_spread",
      [](const std::vector<double>& figures) { return known(repeat_spread(figures)); },
      py::arg("figures"),
      "(largest - smallest) / median of the repeats' figures; None for fewer than two.");
  m.def(
      "iteration_model",
      [](double data, double compute, double aggregate, double measured) {
        const IterationModel model = iteration_model(data, compute, aggregate, measured);
        return py::dict(
            py::arg("sequential") = model.sequential, py::arg("overlapped") = model.overlapped,
            py::arg("measured") = model.measured, py::arg("overlap") = known(model.overlap));
      },
      py::arg("data"), py::arg("compute"), py::arg("aggregate"), py::arg("measured"),
      "Equations 7 (sequential) and 8 (overlapped) beside the measured iteration; overlap is the\n"
      "share of what could be hidden that was.");
  m.def("scaling_speedup", &scaling_speedup, py::arg("throughput"),
        py::arg("throughput_of_twice_as_many"), "Equation 6; ideally 1.");
}

}  // namespace

void bind_timing(py::module_& m) {
  bind_statistics(m);
  bind_machine(m);
  bind_options<StepOptions>(m);
  m.def(
      "step_inputs", [] { return table_list(step_inputs()); },
      "Every source of images: name, doc.");
  m.def(
      "time_input",
      [](const std::string& source, const std::string& path, std::int64_t batch, int height,
         int width, int data_threads, std::int64_t batches) {
        StepInputOptions o;
        o.source = source;
        o.path = path;
        o.batch = batch;
        o.height = height;
        o.width = width;
        o.data_threads = data_threads;
        const WithoutGil without_gil;
        return time_input(*make_step_input(o), batches);
      },
      py::arg("source"), py::arg("path"), py::arg("batch"), py::arg("height"), py::arg("width"),
      py::arg("data_threads"), py::arg("batches"));
  m.def("decode_rate", &decode_rate, py::arg("files"), py::arg("threads"), py::arg("rounds") = 1,
        py::call_guard<WithoutGil>(), "Images decoded a second, the files in memory already.");
  m.def(
      "predict_step_memory",
      [](const StepOptions& options, const NetworkOptions& network) {
        const PredictedMemory p = predict_step_memory(options, network);
        return py::dict(py::arg("activations") = p.activations,
                        py::arg("parameters") = p.parameters, py::arg("gradients") = p.gradients,
                        py::arg("optimizer") = p.optimizer, py::arg("head") = p.head,
                        py::arg("total") = p.total());
      },
      py::arg("options"), py::arg("network"), "Bytes that the graph says a step needs.");

  const auto no_gil = py::call_guard<WithoutGil>();
  py::class_<StepBench>(m, "StepBench", "One iteration, ready to be timed.")
      .def(py::init([](const StepOptions& options, const NetworkOptions& network,
                       const py::dict& loss_options, const py::object& process_group) {
             const Json loss = json_from_python(loss_options);
             std::shared_ptr<Communicator> group;
             if (!process_group.is_none())
               group = process_group_communicator(
                   process_group.cast<c10::intrusive_ptr<c10d::ProcessGroup>>(),
                   torch_device(options.device));
             const WithoutGil without_gil;
             return std::make_unique<StepBench>(options, network, loss, std::move(group));
           }),
           py::arg("options"), py::arg("network"), py::arg("loss_options") = py::dict(),
           py::arg("process_group") = py::none())
      .def_property_readonly("graph", &StepBench::graph,
                             py::return_value_policy::reference_internal)
      .def("tensors",
           [](const StepBench& bench) {
             return dict_by(bench.tensors(), &NamedTensor::name, &NamedTensor::tensor);
           })
      .def("infer", &StepBench::infer, py::arg("images"), no_gil)
      .def("losses", &StepBench::losses, py::arg("images"), py::arg("labels"), py::arg("steps"),
           no_gil)
      .def(
          "run",
          [](StepBench& bench, std::int64_t iterations) {
            return times_dict(with_job(0, py::none(),
                                       [&](const Job& job) { return bench.run(iterations, job); }));
          },
          py::arg("iterations"))
      .def("data_alone", &StepBench::data_alone, py::arg("batches") = 8, no_gil)
      .def("aggregate_alone", &StepBench::aggregate_alone, py::arg("times") = 4, no_gil)
      .def("recording_seconds", &StepBench::recording_seconds, no_gil)
      .def("device_memory", &StepBench::device_memory);
}

}  // namespace facebench

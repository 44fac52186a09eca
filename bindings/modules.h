#pragma once

#include <pybind11/pybind11.h>

// One function a floor.
namespace facebench {

// Called last, by each module.
// Wrong arguments: a message of bounded length that says types and no values.
// Objects whose __init__ did not run, or failed, are refused wherever they are given or asked: the
// binding library would hand out memory that nobody wrote. They can be shown.
// Every protocol of pickle works, or says that it does not: the two oldest ended the process.
void finish_module(const pybind11::module_& m);

void bind_core(pybind11::module_& m);
void bind_io(pybind11::module_& m);
void bind_metrics(pybind11::module_& m);
void bind_backends(pybind11::module_& m);
void bind_runs(pybind11::module_& m);    // and of trials, lists and evaluation: facebench.protocols
void bind_trials(pybind11::module_& m);  // a part of bind_runs
void bind_result(pybind11::module_& m);  // a part of bind_runs
void bind_protocol_tables(pybind11::module_& m);  // a part of bind_runs
void bind_pickled_result(pybind11::module_& m);   // a part of bind_runs
void bind_analysis(pybind11::module_& m);
void bind_claims(pybind11::module_& m);

void bind_images(pybind11::module_& m);
void bind_detection(pybind11::module_& m);
void bind_crops(pybind11::module_& m);
void bind_datasets(pybind11::module_& m);
void bind_quality_report(pybind11::module_& m);    // a part of bind_analysis
void bind_operating_points(pybind11::module_& m);  // a part of bind_analysis
void bind_inspection(pybind11::module_& m);        // a part of bind_analysis
void bind_run_judgements(pybind11::module_& m);    // a part of bind_analysis
void bind_overlap(pybind11::module_& m);           // a part of bind_datasets
void bind_sample_measures(pybind11::module_& m);   // a part of bind_datasets
void bind_nn(pybind11::module_& m);
void bind_nn_graph(pybind11::module_& m);  // a part of bind_nn
void bind_losses(pybind11::module_& m);
void bind_embedding(pybind11::module_& m);
void bind_training(pybind11::module_& m);
void bind_pipeline(pybind11::module_& m);
void bind_timing(pybind11::module_& m);
void bind_synthetic(pybind11::module_& m);

}  // namespace facebench

// The description in a model file, and the graph of the network that it names.
// Sources: cpp/vision/facebench/embedding/model.cc
// Functions: parse_model_description
#include "facebench/embedding/model.h"
#include "facebench/nn/networks.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(model, bytes) {
  const auto made = facebench::parse_model_description(bytes, "fuzz", "model");
  try {
    facebench::build_graph(made.network, made.network_options);
  } catch (const std::invalid_argument&) {
    // Options that do not go together; load_model() makes an Error of it.
  }
}

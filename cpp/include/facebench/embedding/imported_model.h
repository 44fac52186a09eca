#pragma once

#include <span>
#include <string_view>

#include "facebench/embedding/model.h"

namespace facebench {

// What Model::network is where the graph is none of networks(): the model file then holds the graph
// itself, as embedding/graph_json.h has it, under "graph" in its metadata.
inline constexpr std::string_view kImportedNetwork = "imported";

// A model of any graph, in evaluation mode. Throws Error naming `where` and a tensor that is
// missing, unexpected or of another shape, std::invalid_argument for options that do not fit the
// graph.
Model imported_model(Graph graph, std::span<const NamedTensor> tensors, const ModelOptions& options,
                     std::string_view where);

}  // namespace facebench

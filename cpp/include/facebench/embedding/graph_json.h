#pragma once

#include <string_view>

#include "facebench/io/json.h"
#include "facebench/nn/graph.h"

namespace facebench {

// A graph as JSON, for model files whose network is none of networks():
//   {"nodes": [{"name": "input", "op": "input", "inputs": [], "shape": [3, 112, 112]},
//              {"name": "conv1", "op": "conv", "inputs": [0], "options": {"out": 64, ...}}, ...],
//    "taps": {"embedding": 151}}
// Options are those of graph.h by their names; a Size2 is [height, width], a Padding [top, left,
// bottom, right].
Json graph_json(const Graph& graph);

// graph_json() read back; shapes are inferred anew. Throws Error naming `where` and the node: a key
// or operation that is missing or unknown, a number of another type or out of range, a layer that
// does not fit its input, more than 10,000 nodes.
Graph parse_graph(const Json& json, std::string_view where);

}  // namespace facebench

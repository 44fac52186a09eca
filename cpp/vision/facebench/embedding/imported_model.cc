#include "facebench/embedding/imported_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/nn/option_fields.h"

namespace facebench {
namespace {

constexpr std::size_t kMostNodes = 10'000;
constexpr std::int64_t kLargest = std::int64_t{1} << 28;

template <class T>
Json value_json(const T& v) {
  if constexpr (std::is_same_v<T, Size2>)
    return {v.height, v.width};
  else if constexpr (std::is_same_v<T, Padding>)
    return {v.top, v.left, v.bottom, v.right};
  else
    return v;
}

// Values of one node, or of the graph; `where_` names both.
class Values {
 public:
  explicit Values(std::string where) : where_(std::move(where)) {}

  const Json& member(const Json& object, const char* key) const {
    if (!object.is_object() || !object.contains(key)) fail(where_, fmt::format("has no '{}'", key));
    return object.at(key);
  }
  const Json& list(const Json& object, const char* key, std::size_t size) const {
    const Json& value = member(object, key);
    if (!value.is_array() || (size > 0 && value.size() != size)) wrong(key);
    return value;
  }
  std::string text(const Json& object, const char* key) const {
    const Json& value = member(object, key);
    if (!value.is_string()) wrong(key);
    return value.get<std::string>();
  }
  void read(const Json& j, const char* key, std::int64_t& v) const {
    if (!j.is_number_integer() ||
        (j.is_number_unsigned() && j.get<std::uint64_t>() > std::uint64_t{kLargest}))
      wrong(key);
    v = j.get<std::int64_t>();
    if (v < 0 || v > kLargest) wrong(key);
  }
  void read(const Json& j, const char* key, bool& v) const {
    if (!j.is_boolean()) wrong(key);
    v = j.get<bool>();
  }
  void read(const Json& j, const char* key, double& v) const {
    if (!j.is_number()) wrong(key);
    v = j.get<double>();
    if (!std::isfinite(v)) wrong(key);
  }
  void read(const Json& j, const char* key, Size2& v) const {
    if (!j.is_array() || j.size() != 2) wrong(key);
    read(j[0], key, v.height);
    read(j[1], key, v.width);
  }
  void read(const Json& j, const char* key, Padding& v) const {
    if (!j.is_array() || j.size() != 4) wrong(key);
    std::size_t i = 0;
    for (std::int64_t* side : {&v.top, &v.left, &v.bottom, &v.right}) read(j[i++], key, *side);
  }
  [[noreturn]] void wrong(const char* key) const {
    fail(where_, fmt::format("'{}' is of another type, or out of range", key));
  }
  [[noreturn]] void refuse(const std::string& what) const { fail(where_, what); }

 private:
  std::string where_;
};

Node parse_node(const Json& json, const Values& values) {
  const std::string op = values.text(json, "op");
  Node node;
  node.name = values.text(json, "name");
  if (node.name.empty()) values.wrong("name");
  const auto known = std::ranges::find(operations(), op, &Operation::name);
  if (known == operations().end()) values.refuse(fmt::format("there is no operation '{}'", op));
  node.op = known->op;
  for (const Json& input : values.list(json, "inputs", 0)) {
    std::int64_t index = 0;
    values.read(input, "inputs", index);
    node.inputs.push_back(static_cast<int>(index));
  }
  if (node.op == Op::input) {
    for (const Json& side : values.list(json, "shape", 3))
      values.read(side, "shape", node.shape.emplace_back());
    return node;
  }
  node.options = known->options;
  std::visit(
      [&](auto& o) {
        std::size_t fields = 0;
        each_field(o, [&](const char* key, auto& field) {
          values.read(values.member(values.member(json, "options"), key), key, field);
          ++fields;
        });
        if (json.contains("options") && json.at("options").size() != fields)
          values.refuse("its options have keys that are not known");
      },
      node.options);
  return node;
}

}  // namespace

Json graph_json(const Graph& graph) {
  Json nodes = Json::array();
  for (const Node& n : graph.nodes()) {
    Json node = {{"name", n.name}, {"op", op_name(n.op)}, {"inputs", n.inputs}};
    if (n.op == Op::input) node["shape"] = n.shape;
    NodeOptions options = n.options;
    std::visit(
        [&](auto& o) {
          each_field(o, [&](const char* key, const auto& field) {
            node["options"][key] = value_json(field);
          });
        },
        options);
    nodes.push_back(std::move(node));
  }
  Json taps = Json::object();
  for (const auto& [name, node] : graph.taps()) taps[name] = node;
  return {{"nodes", nodes}, {"taps", taps}};
}

Graph parse_graph(const Json& json, std::string_view where) {
  const Values whole{std::string(where)};
  const Json& nodes = whole.list(json, "nodes", 0);
  if (nodes.size() > kMostNodes)
    whole.refuse(fmt::format("has {} nodes, at most {} are read", nodes.size(), kMostNodes));
  const Json& taps = whole.member(json, "taps");
  if (!taps.is_object()) whole.wrong("taps");
  try {
    Graph graph;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      graph.append(parse_node(nodes[i], Values(fmt::format("{}: node {}", where, i))));
    for (const auto& [name, node] : taps.items()) {
      std::int64_t index = 0;
      whole.read(node, "taps", index);
      graph.tap(name, {static_cast<int>(index)});
    }
    return graph;
  } catch (const std::invalid_argument& e) {
    fail(where, e.what());
  }
}

}  // namespace facebench

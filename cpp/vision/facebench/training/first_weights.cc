#include "facebench/training/first_weights.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "facebench/core/error.h"
#include "facebench/embedding/convert.h"
#include "facebench/io/text.h"
#include "facebench/nn/internal/aten.h"

namespace facebench {
namespace {

constexpr std::size_t kShownNames = 5;

std::string sizes_of(const at::Tensor& t) {
  return fmt::format("({})", fmt::join(t.sizes().begin(), t.sizes().end(), ", "));
}

}  // namespace

Json TakenWeights::json() const {
  return {{"taken", taken.size()}, {"fresh", fresh}, {"unused", unused}};
}

std::string TakenWeights::sentence(const std::string& where) const {
  std::string text = fmt::format("{}: {} of the network's {} tensors are taken", where,
                                 taken.size(), taken.size() + fresh.size());
  std::vector<std::string> absent;
  for (const std::string& name : fresh)
    if (std::ranges::none_of(misfits, [&](const auto& m) { return m.starts_with(name + " "); }))
      absent.push_back(name);
  if (!absent.empty())
    text += fmt::format("; initialised anew: {}", first_names(absent, kShownNames));
  if (!misfits.empty())
    text += fmt::format("; initialised anew, since of another shape: {}",
                        first_names(misfits, kShownNames));
  if (!unused.empty()) text += fmt::format("; not used: {}", first_names(unused, kShownNames));
  return text + ".";
}

TakenWeights take_weights(const TrainedNetwork& network, std::string_view name,
                          const FirstWeights& weights) {
  const at::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> own;
  for (const TrainedParameter& p : network.parameters()) own.emplace(p.name, p.tensor);
  for (const NamedTensor& t : network.buffers())
    if (!t.name.ends_with(".num_batches_tracked")) own.emplace(t.name, t.tensor);
  std::set<std::string> names;
  for (const auto& [own_name, tensor] : own) names.insert(own_name);

  TakenWeights result;
  std::set<std::string> taken;
  for (const OwnName& t : own_names(name, weights.tensors, names, {}, weights.where)) {
    const auto found = own.find(t.name);
    if (found == own.end()) {
      result.unused.push_back(t.foreign);
      continue;
    }
    at::Tensor target = found->second;
    if (t.tensor.sizes() != target.sizes()) {
      result.misfits.push_back(
          fmt::format("{} {}, here {}", t.name, sizes_of(t.tensor), sizes_of(target)));
      continue;
    }
    target.copy_(t.tensor);
    taken.insert(t.name);
  }
  for (const std::string& n : names) (taken.contains(n) ? result.taken : result.fresh).push_back(n);
  if (result.taken.empty()) {
    const std::string holds = weights.source.value("network", std::string());
    fail(weights.where,
         fmt::format("none of its {} tensors is one of the network's ({})", weights.tensors.size(),
                     first_names({names.begin(), names.end()}, kShownNames)),
         holds.empty() || holds == name
             ? "Name its network (network, --set network=NAME), and its options"
             : fmt::format("It holds network '{0}': train that (--set network={0})", holds));
  }
  return result;
}

}  // namespace facebench

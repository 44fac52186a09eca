#include "facebench/metrics/internal/bootstrap_scheme.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "facebench/core/random.h"
#include "facebench/metrics/internal/comparison_graphs.h"

// What a bootstrap draws.
namespace facebench {
namespace {

constexpr int kGroups = 200;  // of the jackknife

UnitsAmong units_with(std::span<const std::int64_t> comparisons) {
  UnitsAmong among;
  double sum = 0, squares = 0;
  for (const std::int64_t w : comparisons) {
    among.count += w > 0;
    sum += static_cast<double>(w);
    squares += static_cast<double>(w) * static_cast<double>(w);
  }
  among.effective = squares > 0 ? sum * sum / squares : 0;
  return among;
}

BootstrapScheme component_scheme(const ComparisonGraph& graph) {
  auto components = std::make_shared<const Components>(connected_components(graph));
  std::vector<std::vector<std::int32_t>> by_fold;
  for (std::int32_t c = 0; c < components->count(); ++c) {
    by_fold.resize(std::max<std::size_t>(by_fold.size(), components->fold[c] + 1));
    by_fold[components->fold[c]].push_back(c);
  }
  if (components->count() == static_cast<int>(by_fold.size()))
    throw std::invalid_argument(
        "every fold's comparisons are one connected component, so there is nothing to resample; "
        "use the vertex bootstrap");
  BootstrapScheme scheme{"component_bootstrap",
                         "wilson_over_components",
                         components->count(),
                         graph.first.size(),
                         nullptr,
                         nullptr};
  scheme.units_among = [components](std::span<const std::int64_t> part) {
    std::vector<std::int64_t> of_component(static_cast<std::size_t>(components->count()), 0);
    for (std::size_t i = 0; i < part.size(); ++i)
      of_component[static_cast<std::size_t>(components->of_comparison[i])] += part[i];
    return units_with(of_component);
  };
  scheme.resample = [components, by_fold](std::int64_t seed, std::int64_t replicate,
                                          std::span<Weight> weights) {
    Random random(static_cast<std::uint64_t>(seed), "component_bootstrap",
                  {static_cast<std::uint64_t>(replicate)});
    std::vector<Weight> drawn(components->count(), 0);
    for (const auto& members : by_fold)
      for (std::size_t d = 0; d < members.size(); ++d)
        ++drawn[members[random.below(members.size())]];
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = drawn[components->of_comparison[i]];
  };
  scheme.groups = std::min(components->count(), kGroups);
  scheme.leave_out = [components, groups = scheme.groups](std::int64_t g,
                                                          std::span<Weight> weights) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = components->of_comparison[i] % groups != g;
  };
  return scheme;
}

// As many identities as there are, with replacement.
void draw_with_replacement(std::int64_t seed, std::int64_t replicate, std::span<Weight> drawn) {
  Random random(static_cast<std::uint64_t>(seed), "vertex_bootstrap",
                {static_cast<std::uint64_t>(replicate)});
  std::ranges::fill(drawn, Weight{0});
  for (std::size_t d = 0; d < drawn.size(); ++d) ++drawn[random.below(drawn.size())];
}

// Each person twice or not at all. A person's draw depends on the seed and the person's number
// alone, so it is the same in every track that the person takes part in.
void toss_for_people(std::int64_t seed, std::int64_t replicate,
                     std::span<const std::int32_t> people, std::span<Weight> drawn) {
  const std::uint64_t key = Random(static_cast<std::uint64_t>(seed), "dyadic_bootstrap",
                                   {static_cast<std::uint64_t>(replicate / 2)})
                                .next_u64();
  const auto opposite = static_cast<std::uint32_t>(replicate % 2);
  for (std::size_t i = 0; i < people.size(); ++i) {
    const auto block =
        philox4x32({static_cast<std::uint32_t>(people[i]), 0, 0, 0},
                   {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)});
    drawn[i] = 2 * ((block[0] >> 31) ^ opposite);
  }
}

}  // namespace

BootstrapScheme people_scheme(std::vector<std::int32_t> people, Resampling resampling) {
  const std::size_t count = people.size();
  if (count < 2) throw std::invalid_argument("the bootstrap of people needs at least two of them");
  BootstrapScheme scheme;
  scheme.degenerate_method = "wilson_over_identities";
  scheme.units = static_cast<std::int64_t>(count);
  scheme.weights = count;
  scheme.people = std::move(people);
  scheme.units_among = units_with;
  if (resampling == Resampling::vertices) {
    scheme.method = "vertex_bootstrap";
    scheme.resample = draw_with_replacement;
    return scheme;
  }
  scheme.method = "dyadic_bootstrap";
  scheme.opposed = true;
  scheme.resample = [numbers = scheme.people](std::int64_t seed, std::int64_t replicate,
                                              std::span<Weight> weights) {
    toss_for_people(seed, replicate, numbers, weights);
  };
  scheme.groups = static_cast<int>(std::min<std::size_t>(count, kGroups));
  scheme.leave_out = [groups = static_cast<std::size_t>(scheme.groups)](std::int64_t g,
                                                                        std::span<Weight> weights) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = i % groups != static_cast<std::size_t>(g);
  };
  return scheme;
}

BootstrapScheme graph_scheme(const ComparisonGraph& graph, Resampling resampling) {
  if (resampling == Resampling::components) return component_scheme(graph);
  check_graph(graph);
  std::vector<std::int32_t> people(graph.first.begin(), graph.first.end());
  people.insert(people.end(), graph.second.begin(), graph.second.end());
  sort_unique(people);
  std::vector<std::int32_t> first(graph.first.size()), second(graph.first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = position(people, graph.first[i]);
    second[i] = position(people, graph.second[i]);
  }
  // Weights of people become weights of comparisons.
  BootstrapScheme scheme = people_scheme(std::move(people), resampling);
  const auto spread_over = [first, second](std::span<const Weight> drawn,
                                           std::span<Weight> weights) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = first[i] == second[i] ? drawn[first[i]] : drawn[first[i]] * drawn[second[i]];
  };
  const std::size_t count = scheme.weights;
  scheme.weights = graph.first.size();
  scheme.units_among = [first, second, count](std::span<const std::int64_t> part) {
    std::vector<std::int64_t> of_person(count, 0);
    for (std::size_t i = 0; i < part.size(); ++i) {
      of_person[static_cast<std::size_t>(first[i])] += part[i];
      if (second[i] != first[i]) of_person[static_cast<std::size_t>(second[i])] += part[i];
    }
    return units_with(of_person);
  };
  scheme.resample = [spread_over, count, draw = scheme.resample](
                        std::int64_t seed, std::int64_t replicate, std::span<Weight> weights) {
    std::vector<Weight> drawn(count);
    draw(seed, replicate, drawn);
    spread_over(drawn, weights);
  };
  if (scheme.groups > 0)
    scheme.leave_out = [spread_over, count, without = scheme.leave_out](std::int64_t g,
                                                                        std::span<Weight> weights) {
      std::vector<Weight> drawn(count);
      without(g, drawn);
      spread_over(drawn, weights);
    };
  return scheme;
}

}  // namespace facebench

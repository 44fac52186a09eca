#include "facebench/protocols/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace facebench {

std::int64_t Track::fold_count() const {
  return fold.empty() ? 0 : *std::max_element(fold.begin(), fold.end()) + 1;
}

std::int64_t Track::genuine_count() const {
  return std::accumulate(genuine.begin(), genuine.end(), std::int64_t{0});
}

void TrialSet::check() const {
  const auto require = [](bool ok, const std::string& what) {
    if (!ok) throw std::invalid_argument(what);
  };
  require(identity.size() == names.size(),
          fmt::format("trials: {} identities for {} samples", identity.size(), names.size()));
  for (const std::int32_t i : identity)
    if (i < 0 || static_cast<std::size_t>(i) >= identity_names.size())
      throw std::out_of_range(fmt::format("trials: identity {} of {}", i, identity_names.size()));
  for (const Track& t : tracks) {
    const std::size_t n = t.comparisons.size();
    require(n > 0, fmt::format("track {}: no comparisons", t.name));
    require(t.genuine.size() == n && (t.fold.empty() || t.fold.size() == n),
            fmt::format("track {}: {} comparisons, {} labels, {} folds", t.name, n,
                        t.genuine.size(), t.fold.size()));
    for (std::size_t k = 0; k < n; ++k) {
      const auto [a, b] = t.comparisons[k];
      const auto size = static_cast<std::int64_t>(names.size());
      if (a < 0 || b < 0 || a >= size || b >= size)
        throw std::out_of_range(
            fmt::format("track {}, comparison {}: samples {} and {} of {}", t.name, k, a, b, size));
      require(a != b, fmt::format("track {}, comparison {}: {} is compared with itself", t.name, k,
                                  names[static_cast<std::size_t>(a)]));
      const bool same =
          identity[static_cast<std::size_t>(a)] == identity[static_cast<std::size_t>(b)];
      require(
          t.genuine[k] <= 1 && (t.genuine[k] == 1) == same,
          fmt::format("track {}, comparison {}: the label contradicts the identities", t.name, k));
      require(t.fold.empty() || t.fold[k] >= 0,
              fmt::format("track {}, comparison {}: fold below 0", t.name, k));
    }
  }
}

std::int32_t TrialSetBuilder::sample(const std::string& name, const std::string& identity) {
  const auto [person, new_person] =
      identities_.try_emplace(identity, static_cast<std::int32_t>(set_.identity_names.size()));
  if (new_person) set_.identity_names.push_back(identity);
  const auto [sample, new_sample] =
      samples_.try_emplace(name, static_cast<std::int32_t>(set_.names.size()));
  if (new_sample) {
    set_.names.push_back(name);
    set_.identity.push_back(person->second);
  } else if (set_.identity[static_cast<std::size_t>(sample->second)] != person->second) {
    throw std::invalid_argument(fmt::format("sample {} has two identities", name));
  }
  return sample->second;
}

}  // namespace facebench

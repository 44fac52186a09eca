#include "facebench/lists/internal/template_pairs.h"

#include <fmt/format.h>

#include <algorithm>

#include "facebench/core/disjoint_sets.h"
#include "facebench/core/error.h"
#include "facebench/lists/internal/number_rows.h"

namespace facebench {
namespace {

// Repeated pairs, in either order: comparisons by their lower template, and of each the last that
// named a higher one. Memory of four bytes a comparison, whatever the number of templates.
void count_repeated(const TemplatePairs& pairs, std::size_t templates, Blemishes& blemishes) {
  const std::vector<Comparison>& all = pairs.trials.comparisons;
  std::vector<std::size_t> begin(templates + 1, 0);
  for (const Comparison& c : all)
    ++begin[static_cast<std::size_t>(std::min(c.first, c.second)) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> order(all.size());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t k = 0; k < all.size(); ++k)
    order[next[static_cast<std::size_t>(std::min(all[k].first, all[k].second))]++] =
        static_cast<std::uint32_t>(k);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> repeated;  // with the earlier one
  constexpr auto never = ~std::uint32_t{0};
  std::vector<std::uint32_t> last(templates, never);
  for (std::size_t low = 0; low < templates; ++low) {
    const auto of_low = std::span(order).subspan(begin[low], begin[low + 1] - begin[low]);
    const auto high = [&](std::uint32_t k) {
      return static_cast<std::size_t>(std::max(all[k].first, all[k].second));
    };
    for (const std::uint32_t k : of_low) {
      std::uint32_t& earlier = last[high(k)];
      if (earlier == never)
        earlier = k;
      else
        repeated.emplace_back(k, earlier);
    }
    for (const std::uint32_t k : of_low) last[high(k)] = never;
  }
  std::ranges::sort(repeated);
  for (const auto& [k, earlier] : repeated)
    blemishes.add(
        BlemishKind::repeated_pair, [&, k = k] { return pairs.at(k); },
        [&, earlier = earlier] { return fmt::format("as in line {}", pairs.line_of(earlier)); });
}

}  // namespace

std::int64_t TemplatePairs::line_of(std::size_t comparison) const {
  const auto after =
      std::ranges::upper_bound(jumps, comparison, {}, &std::pair<std::size_t, std::int64_t>::first);
  const auto& [at, line] = *std::prev(after);
  return line + static_cast<std::int64_t>(comparison - at);
}

TemplatePairs read_template_pairs(const std::filesystem::path& path,
                                  const TemplatePairsFormat& format, const TemplateIndex& known,
                                  Blemishes& blemishes) {
  TemplatePairs pairs;
  const std::string name = path.string();
  std::int64_t next_line = -1;
  const auto unit = [&](std::int64_t id, std::int64_t line) {
    const auto at = known.find(id);
    if (at == known.end())
      fail(at_line(name, line), fmt::format("template {} is not in {}", id, format.templates_in),
           "Do the files belong to one release?");
    return at->second;
  };
  std::pair<std::int64_t, std::int32_t> before{-1, 0};  // the first side often repeats
  NumberRows rows{"comparisons", format.labels ? 3u : 2u, format.separator, {}};
  rows.take = [&](std::span<const std::int64_t> row, std::int64_t line) {
    if (line != next_line) pairs.jumps.emplace_back(pairs.trials.comparisons.size(), line);
    next_line = line + 1;
    if (row[0] != before.first) before = {row[0], unit(row[0], line)};
    const Comparison c{before.second, unit(row[1], line)};
    if (c.first == c.second)
      blemishes.add(BlemishKind::self_comparison, ListPlace{name, line, ""},
                    fmt::format("template {}", row[0]));
    if (format.labels) {
      if (row[2] > 1)
        fail(at_line(name, line), fmt::format("the label is {}, neither 0 nor 1", row[2]));
      pairs.trials.genuine.push_back(static_cast<std::uint8_t>(row[2]));
    }
    pairs.trials.comparisons.push_back(c);
  };
  pairs.list = read_number_rows(path, rows, blemishes);
  if (pairs.trials.comparisons.empty()) fail(name, "the list is empty");
  if (pairs.trials.comparisons.size() > std::numeric_limits<std::int32_t>::max())
    fail(name, "holds more than 2^31 - 1 comparisons");
  count_repeated(pairs, known.size(), blemishes);
  return pairs;
}

std::vector<std::int32_t> connected_templates(const TemplatePairs& pairs, std::size_t templates,
                                              Blemishes& blemishes) {
  const ListedTrials& t = pairs.trials;
  DisjointSets people(templates);
  for (std::size_t k = 0; k < t.comparisons.size(); ++k)
    if (t.genuine[k] != 0) people.join(t.comparisons[k].first, t.comparisons[k].second);
  std::vector<std::int32_t> person = people.all();
  std::vector<std::size_t> conflicts;
  for (std::size_t k = 0; k < t.comparisons.size(); ++k)
    if (t.genuine[k] == 0 && person[t.comparisons[k].first] == person[t.comparisons[k].second])
      conflicts.push_back(k);
  const std::string name = pairs.list.path.string();
  constexpr const char* what =
      "two templates are listed as impostors, but genuine comparisons connect them";
  const auto impostors = static_cast<std::size_t>(std::ranges::count(t.genuine, 0));
  if (10 * conflicts.size() > impostors)
    fail(at_line(name, pairs.line_of(conflicts.front())),
         fmt::format("{}, and so are {} of {} impostors", what, conflicts.size(), impostors),
         "Are 0 and 1 exchanged, or is this another list?");
  for (const std::size_t k : conflicts)
    blemishes.add(
        BlemishKind::label_conflict, [&, k = k] { return pairs.at(k); }, what);
  return person;
}

}  // namespace facebench

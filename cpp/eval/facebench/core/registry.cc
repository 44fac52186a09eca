#include "facebench/core/registry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "facebench/core/numbers.h"
#include "facebench/core/utf8.h"

namespace facebench {
namespace {

// Restricted Damerau-Levenshtein distance from what was typed, a, to b: swapping two neighbouring
// letters, a common typing error, counts as one edit. An edit counts 2, a letter that was left out
// `left_out`.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t left_out) {
  const std::size_t n = a.size(), m = b.size();
  std::vector<std::vector<std::size_t>> d(n + 1, std::vector<std::size_t>(m + 1));
  for (std::size_t i = 0; i <= n; ++i) d[i][0] = 2 * i;
  for (std::size_t j = 0; j <= m; ++j) d[0][j] = left_out * j;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t j = 1; j <= m; ++j) {
      const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 2;
      d[i][j] = std::min({d[i - 1][j] + 2, d[i][j - 1] + left_out, d[i - 1][j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 2);
    }
  }
  return d[n][m];
}

}  // namespace

std::string closest_name(std::string_view name, std::span<const std::string> known) {
  constexpr std::size_t kLongestName = 256;  // the table above is quadratic
  if (name.size() > kLongestName) return {};
  std::string best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongestName) continue;
    const std::string typed = lower_ascii(name), wanted = lower_ascii(candidate);
    const std::size_t longest = std::max(name.size(), candidate.size());
    if (edit_distance(typed, wanted, 2) * 3 > 2 * longest) continue;
    // Of those that are near, one of which letters are missing rather than wrong.
    const std::size_t distance = edit_distance(typed, wanted, 1);
    if (best.empty() || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty() || name.size() < 3) return best;
  // Typed half: the shortest of those that begin so.
  for (const std::string& candidate : known)
    if (lower_ascii(candidate).starts_with(lower_ascii(name)) &&
        (best.empty() || candidate.size() < best.size()))
      best = candidate;
  if (!best.empty()) return best;
  // Or a part of a name: "arcface" of "small4.arcface", the shortest.
  const std::string part = "." + lower_ascii(name) + ".";
  for (const std::string& candidate : known)
    if (("." + lower_ascii(candidate) + ".").find(part) != std::string::npos &&
        (best.empty() || candidate.size() < best.size()))
      best = candidate;
  return best;
}

std::string unknown_name_message(std::string_view kind, std::string_view name,
                                 std::span<const std::string> known) {
  std::string text = fmt::format("unknown {} '{}'", kind, printable(name));
  if (std::string best = closest_name(name, known); !best.empty())
    text += fmt::format("; did you mean '{}'?", best);
  return text + fmt::format(" (known: {})", fmt::join(known, ", "));
}

std::size_t index_of_name(std::string_view kind, std::string_view name,
                          std::span<const std::string> known) {
  const auto found = std::ranges::find(known, name);
  if (found == known.end()) throw std::invalid_argument(unknown_name_message(kind, name, known));
  return static_cast<std::size_t>(found - known.begin());
}

}  // namespace facebench

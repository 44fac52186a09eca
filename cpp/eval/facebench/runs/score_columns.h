#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace facebench {

// Which columns of a table of scores are what.
struct ScoreColumns {
  std::size_t score = 0;
  std::optional<std::size_t> label;
  std::optional<std::size_t> first, second;  // the names; both or neither
};

// By the usual names of such columns, in any order, in capitals or not: score, similarity, ... or
// distance; label, same, target, ...; first and second, img1 and img2, path_a and path_b, ...
// Nothing where none is called a score.
std::optional<ScoreColumns> named_score_columns(std::span<const std::string> header);

// Whether scores of that name are distances: low ones are alike.
bool names_distances(std::string_view name);

// Whether a column of that name holds what a system decided (prediction, accepted, ...): no label.
bool names_a_decision(const std::string& header);

}  // namespace facebench

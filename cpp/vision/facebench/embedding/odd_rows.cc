#include "facebench/embedding/odd_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace facebench {
namespace {

// What arithmetic rounds otherwise, of the largest number.
constexpr float kSame = 1e-6F;

bool same(std::span<const float> a, std::span<const float> b) {
  float largest = 0, difference = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    largest = std::max(largest, std::abs(a[k]));
    difference = std::max(difference, std::abs(a[k] - b[k]));
  }
  return difference <= kSame * largest;
}

}  // namespace

std::string odd_rows(const EmbeddingSet& set, bool images_differ) {
  std::vector<std::string> zero;  // the first three
  std::size_t zeros = 0, faces = 0, first = 0;
  bool alike = true;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set.status[i] != SampleStatus::ok) continue;
    if (faces++ == 0) first = i;
    alike = alike && same(set.row(first), set.row(i));
    if (std::ranges::any_of(set.row(i), [](float x) { return x != 0; })) continue;
    if (zeros++ < 3) zero.push_back(set.names[i]);
  }
  if (zeros > 0)
    return fmt::format(
        "{} of {} embeddings are of length 0 ({}{}): they have no direction, and an evaluation "
        "refuses them. Check the model, its mean and its std.",
        zeros, faces, fmt::join(zero, ", "), zeros > 3 ? ", ..." : "");
  if (faces > 1 && alike && images_differ)
    return fmt::format(
        "All {} embeddings are the same, and their images are not. Check the model, its mean and "
        "its std.",
        faces);
  return "";
}

}  // namespace facebench

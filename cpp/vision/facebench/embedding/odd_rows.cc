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

void OddRows::add(const EmbeddingSet& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.status[i] != SampleStatus::ok) continue;
    const auto row = rows.row(i);
    if (faces_++ == 0) first_.assign(row.begin(), row.end());
    alike_ = alike_ && same(first_, row);
    if (std::ranges::any_of(row, [](float x) { return x != 0; })) continue;
    if (zeros_++ < 3) zero_.push_back(rows.names[i]);
  }
}

std::string OddRows::text(bool images_differ) const {
  if (zeros_ > 0)
    return fmt::format(
        "{} of {} embeddings are of length 0 ({}{}): they have no direction, and an evaluation "
        "refuses them. Check the model, its mean and its std.",
        zeros_, faces_, fmt::join(zero_, ", "), zeros_ > 3 ? ", ..." : "");
  if (faces_ > 1 && alike_ && images_differ)
    return fmt::format(
        "All {} embeddings are the same, and their images are not. Check the model, its mean and "
        "its std.",
        faces_);
  return "";
}

std::string odd_rows(const EmbeddingSet& set, bool images_differ) {
  OddRows odd;
  odd.add(set);
  return odd.text(images_differ);
}

}  // namespace facebench

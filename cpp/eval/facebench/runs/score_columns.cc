#include "facebench/runs/score_columns.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace facebench {
namespace {

using Words = std::initializer_list<std::string_view>;

constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
    {"first", "second"},    {"a", "b"},         {"left", "right"},  {"probe", "gallery"},
    {"probe", "reference"}, {"model", "probe"}, {"enroll", "test"}, {"enrol", "test"},
    {"query", "reference"}, {"one", "two"}};
constexpr std::string_view kStems[] = {
    "image", "img",   "im",       "file", "filename",  "path",    "name",     "sample",
    "face",  "photo", "template", "id",   "imagepath", "imgpath", "filepath", "person"};

// Small letters and digits alone: "Image_1" is image1.
std::string plain(std::string_view header) {
  std::string result;
  for (char c : header) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) result += c;
  }
  return result;
}

class Headers {
 public:
  explicit Headers(std::span<const std::string> header) {
    for (const std::string& name : header) names_.push_back(plain(name));
  }
  std::optional<std::size_t> at(std::string_view name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) return {};
    return static_cast<std::size_t>(found - names_.begin());
  }
  std::optional<std::size_t> first_of(Words words) const {
    for (const std::string_view word : words)
      if (const auto found = at(word)) return found;
    return {};
  }
  bool pair(const std::string& first, const std::string& second, ScoreColumns& columns) const {
    const auto a = at(first), b = at(second);
    if (!a || !b) return false;
    columns.first = a;
    columns.second = b;
    return true;
  }

 private:
  std::vector<std::string> names_;
};

void find_names(const Headers& headers, ScoreColumns& columns) {
  for (const auto& [first, second] : kPairs)
    if (headers.pair(std::string(first), std::string(second), columns)) return;
  for (const std::string_view stem_view : kStems) {
    const std::string stem(stem_view);
    for (const auto& [a, b] : {std::pair{"1", "2"}, {"a", "b"}, {"0", "1"}, {"x", "y"}})
      if (headers.pair(stem + a, stem + b, columns)) return;
    for (const auto& [a, b] : kPairs)
      if (headers.pair(std::string(a) + stem, std::string(b) + stem, columns)) return;
  }
}

}  // namespace

std::optional<ScoreColumns> named_score_columns(std::span<const std::string> header) {
  const Headers headers(header);
  ScoreColumns columns;
  const auto score = headers.first_of({"score",      "scores",
                                       "similarity", "similarities",
                                       "sim",        "cosinesimilarity",
                                       "cosine",     "cossim",
                                       "cosinesim",  "cos",
                                       "pred",       "prediction",
                                       "prob",       "probability",
                                       "distance",   "distances",
                                       "dist",       "cosinedistance",
                                       "cosdist",    "l2distance",
                                       "l2",         "euclideandistance",
                                       "euclidean"});
  if (!score) return {};
  columns.score = *score;
  columns.label = headers.first_of(
      {"label",       "labels",          "genuine",    "isgenuine",   "same",       "issame",
       "sameperson",  "match",           "ismatch",    "target",      "istarget",   "mated",
       "ismated",     "ytrue",           "y",          "groundtruth", "gt",         "truth",
       "class",       "impostor",        "isimpostor", "imposter",    "isimposter", "different",
       "isdifferent", "differentperson", "diff",       "nonmatch",    "isnonmatch", "nonmated",
       "isnonmated",  "mismatch",        "notsame"});
  find_names(headers, columns);
  return columns;
}

bool names_distances(std::string_view name) {
  const std::string text = plain(name);
  for (const std::string_view word :
       {"dist", "dists", "cosdist", "l2", "l2dist", "euclidean", "angle"})
    if (text == word) return true;
  return text.find("distance") != std::string::npos ||
         text.find("dissimilarit") != std::string::npos;
}

bool names_a_decision(const std::string& header) {
  const Headers headers({&header, 1});
  return headers
      .first_of({"pred", "prediction", "predicted", "predictedlabel", "predlabel", "ypred",
                 "decision", "decided", "accept", "accepted", "output", "result"})
      .has_value();
}

}  // namespace facebench

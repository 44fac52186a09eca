#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facebench/io/embeddings.h"

namespace facebench {

// Looks for embeddings of length 0, which an evaluation refuses, and for all of them being the same
// where their images are not. Of those with a face; what failed is counted as such.
class OddRows {
 public:
  // Rows that follow those before.
  void add(const EmbeddingSet& rows);
  // A sentence; empty where there is nothing to say. `images_differ`: the images are not the same.
  std::string text(bool images_differ) const;

 private:
  std::vector<float> first_;       // the first embedding
  std::vector<std::string> zero_;  // the first three names of length 0
  std::int64_t zeros_ = 0, faces_ = 0;
  bool alike_ = true;
};

// The sentence about a whole set.
std::string odd_rows(const EmbeddingSet& set, bool images_differ);

}  // namespace facebench

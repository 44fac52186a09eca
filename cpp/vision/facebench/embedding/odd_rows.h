#pragma once

#include <string>

#include "facebench/io/embeddings.h"

namespace facebench {

// A sentence about embeddings of length 0, which an evaluation refuses, or about all of them being
// the same where their images are not (`images_differ`); empty where there is nothing to say. Of
// those with a face; what failed is counted as such.
std::string odd_rows(const EmbeddingSet& set, bool images_differ);

}  // namespace facebench

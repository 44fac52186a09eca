#pragma once

#include <string>
#include <vector>

#include "facebench/evaluation/result.h"

namespace facebench {

// What a reader of a result must know before its numbers, one sentence each, worst first: those
// of the lists (TrialSet::warnings), a quick look (`limited`), a track of which more than 5 % of
// the units failed to enrol (with the reasons and their counts), more than a tenth of the names
// without an embedding, an AUC below 0.5, what was assumed of a model that does not say it, what is
// odd in it, and that its embeddings depend on their batch.
// Empty: nothing. Of a result whose tracks, status and embeddings are complete.
std::vector<std::string> result_warnings(const Result& result);

}  // namespace facebench

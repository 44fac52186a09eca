#pragma once

#include <filesystem>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/runs/verify.h"

namespace facebench {

// Everything that a run folder claims, checked again: the numbers against the raw scores
// (verify_scores), every input against its hash (verify_inputs), the images against theirs, and
// pack.h5, embeddings.h5 where they were kept; scores.h5 is computed again from embeddings.h5 and
// compared number by number. `root`: where the data set is now; empty = where it was. Damage is a
// failed check, not an exception.
std::vector<Check> verify(const std::filesystem::path& run, const std::filesystem::path& root = {},
                          const Job& job = {});

}  // namespace facebench

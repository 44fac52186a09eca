#pragma once

#include <filesystem>
#include <functional>

#include "facebench/runs/run_folder.h"

namespace facebench {

// Writes a run folder that appears whole or not at all: the files of write_run_files(); `more` (may
// be empty) puts further files into the folder it is given before that one is renamed. Throws Error
// where the target exists, unless `overwrite` and it is a run folder of ours that holds nothing
// else.
void save_run(const std::filesystem::path& target, const Result& result, const RunInfo& info = {},
              bool overwrite = false,
              const std::function<void(const std::filesystem::path&)>& more = {});

// Before anything is computed: throws Error where a run cannot be written to this folder, which
// holds something that is not a run, or a run that is not to be replaced.
void refuse_taken(const std::filesystem::path& out, bool overwrite);

// Throws Error where a run folder that is to be replaced holds files that no run writes.
void refuse_to_lose(const std::filesystem::path& run);

}  // namespace facebench

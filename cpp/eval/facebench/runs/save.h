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

// Throws Error where a run folder that is to be replaced holds files that no run writes.
void refuse_to_lose(const std::filesystem::path& run);

}  // namespace facebench

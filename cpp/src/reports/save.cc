#include "facebench/reports/save.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/metrics/roc.h"
#include "facebench/reports/run_report.h"

namespace facebench {

namespace fs = std::filesystem;

void save_run(const fs::path& target, const Result& result, const RunInfo& info, bool overwrite,
              const std::function<void(const fs::path&)>& more) {
  std::error_code ignored;
  const bool there = fs::exists(target, ignored);
  if (there && overwrite && !is_run_folder(target) &&
      !(fs::is_directory(target, ignored) && fs::is_empty(target, ignored)))
    fail(target.string(), "exists and is not a run folder of facebench, so it is not replaced",
         "Choose another name.");
  AtomicFolder folder(target, overwrite);
  write_run_files(folder.temporary(), result, info);
  write_file(folder.temporary() / "report.md", run_report(read_changed_run(folder.temporary())));
  if (more) more(folder.temporary());
  folder.commit();
}

}  // namespace facebench

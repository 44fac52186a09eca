#include "facebench/runs/save.h"

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/file.h"
#include "facebench/io/replaced_folder.h"

namespace facebench {

namespace fs = std::filesystem;

void refuse_to_lose(const fs::path& run) {
  // What write_run_files(), facebench::run(), the pages and the signature are called.
  constexpr std::string_view kOwn[] = {"run.json", "scores.h5",       "metrics.json", "curves.json",
                                       "pack.h5",  "embeddings.h5",   "report.html",  "report.md",
                                       "card.md",  "run.json.minisig"};
  refuse_to_lose(run, kOwn);
}

void refuse_taken(const fs::path& out, bool overwrite) {
  std::error_code ignored;
  if (fs::exists(out, ignored) && !fs::is_empty(out, ignored) && !(overwrite && is_run_folder(out)))
    fail(out.string(),
         overwrite ? "exists and is not a run folder, so it is not replaced" : "exists already",
         "Choose another folder, or overwrite it (--overwrite)");
  refuse_to_lose(out);
}

void save_run(const fs::path& target, const Result& result, const RunInfo& info, bool overwrite,
              const std::function<void(const fs::path&)>& more) {
  std::error_code ignored;
  const bool there = fs::exists(target, ignored);
  if (there && overwrite && !is_run_folder(target) &&
      !(fs::is_directory(target, ignored) && fs::is_empty(target, ignored)))
    fail(target.string(), "exists and is not a run folder of facebench, so it is not replaced",
         "Choose another name.");
  if (overwrite) refuse_to_lose(target);
  AtomicFolder folder(target, overwrite);
  RunInfo named = info;
  // Its pages are headed by it, also where the folder is renamed later.
  named.circumstance["folder"] = printable(folder.target().filename().string());
  write_run_files(folder.temporary(), result, named);
  if (more) more(folder.temporary());
  folder.commit();
}

}  // namespace facebench

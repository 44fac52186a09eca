// The files of a run folder that are text: run.json, then metrics.json, written into a report.
#include "facebench/protocols/run_folder.h"

#include "facebench/reports/run_report.h"
#include "files.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(run_folder, bytes) {
  static const FuzzFolder folder("run");
  const auto parts = parts_of(bytes);
  folder.write("run.json", parts[0]);
  folder.write("metrics.json", parts.size() > 1 ? parts[1] : "{}");
  const facebench::Run run = facebench::read_changed_run(folder.path());
  facebench::run_report(run);
}

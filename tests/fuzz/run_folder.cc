// The files of a run folder: run.json, metrics.json, scores.h5. The texts as they are, written into
// a report; then the whole folder with its hashes.
// Sources: cpp/eval/facebench/runs/run_folder.cc cpp/eval/facebench/io/manifest.cc
// Functions: read_changed_run read_run check_output read_manifest read_manifest_as_it_is
//   manifest_from_json check_content_hash content_hash is_run_folder
#include "facebench/runs/run_folder.h"

#include "facebench/runs/table.h"
#include "files.h"
#include "fuzz.h"

FACEBENCH_FUZZ_TARGET(run_folder, bytes) {
  const FuzzFolder folder("run");
  const auto parts = parts_of(bytes);
  folder.write("run.json", parts[0]);
  if (parts.size() > 1) folder.write("metrics.json", parts[1]);
  if (parts.size() > 2) folder.write("scores.h5", parts[2]);
  facebench::is_run_folder(folder.path());
  const facebench::Run run = facebench::read_changed_run(folder.path());
  facebench::table_json(facebench::make_table({&run, 1}));
  facebench::read_run(folder.path());
}

// A scores.h5 of a run, evaluated again.
// Sources: cpp/eval/facebench/protocols/run_folder.cc cpp/eval/facebench/protocols/scores.cc
//   cpp/eval/facebench/protocols/listed_trials.cc cpp/eval/facebench/protocols/dense_trials.cc
//   cpp/eval/facebench/protocols/identification_trials.cc
//   cpp/eval/facebench/protocols/matrix_trials.cc cpp/eval/facebench/protocols/trials.cc
//   cpp/eval/facebench/protocols/internal/columns.h
// Functions: read_scores read_templates read_track fill_rules_of_older_run read_tail read_record
//   read_single load read_listed_trials read_dense_trials read_identification_trials
//   read_matrix_trials read_value check check_identities check_templates require
#include "facebench/protocols/run_folder.h"
#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(scores, bytes) {
  const MemoryFile file(bytes);
  facebench::read_scores(file.path());
}

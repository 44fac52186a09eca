// A scores.h5 of a run, evaluated again.
// Sources: cpp/eval/facebench/runs/run_folder.cc cpp/eval/facebench/trials/scores.cc
//   cpp/eval/facebench/trials/listed_trials.cc cpp/eval/facebench/trials/dense_trials.cc
//   cpp/eval/facebench/trials/identification_trials.cc
//   cpp/eval/facebench/trials/matrix_trials.cc cpp/eval/facebench/trials/trials.cc
//   cpp/eval/facebench/trials/internal/columns.h
// Functions: read_scores read_templates read_track fill_rules_of_older_run read_tail read_record
//   read_single load read_listed_trials read_dense_trials read_identification_trials
//   read_matrix_trials read_value check check_identities check_templates require
#include "facebench/runs/run_folder.h"
#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(scores, bytes) {
  const MemoryFile file(bytes);
  facebench::read_scores(file.path());
}

// Sources: cpp/vision/facebench/training/checkpoint.cc
// Functions: metadata_value verified_text verified_state state_checksum read_checkpoint_state
#include "facebench/training/checkpoint.h"

#include "fuzz.h"
#include "memory_file.h"

FACEBENCH_FUZZ_TARGET(checkpoint, bytes) {
  const MemoryFile file(bytes);
  facebench::read_checkpoint_state(file.path());
}

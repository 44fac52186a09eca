#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include "facebench/core/error.h"
#include "facebench/guard/internal/confinement.h"

namespace facebench {

// What became of a process that does `act`: its exit code, or minus the signal that ended it.
template <class Act>
int outcome_in_child(Act&& act) {
  const pid_t child = fork();
  if (child == 0) _exit(act());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// Whether the kernel does what confinement takes.
inline bool can_confine() {
  return outcome_in_child([] {
           try {
             confine_process(2, 1 << 28, 10);
             return 0;
           } catch (const Error&) {
             return 1;
           }
         }) == 0;
}

}  // namespace facebench

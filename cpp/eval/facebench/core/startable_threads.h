#pragma once

namespace facebench {

// How many threads, up to `wanted`, can run at once beside the calling one: where the system limits
// them (RLIMIT_NPROC, the pids of a container), fewer. They are started, and have ended when this
// returns.
int startable_threads(int wanted);

}  // namespace facebench

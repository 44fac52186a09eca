#include "facebench/core/memory.h"

#include <unistd.h>

#include <fstream>

namespace facebench {

std::int64_t resident_memory() {
  std::int64_t size = 0, resident = 0;  // in pages
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace facebench

// The entry that libFuzzer calls. FACEBENCH_FUZZ_READER names the target; this program has several.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz.h"

namespace {

const FuzzTarget& chosen_target() {
  const char* wanted = std::getenv("FACEBENCH_FUZZ_READER");
  for (const FuzzTarget& target : fuzz_targets())
    if (wanted && target.name == wanted) return target;
  std::fputs("FACEBENCH_FUZZ_READER has to name one of:", stderr);
  for (const FuzzTarget& target : fuzz_targets())
    std::fprintf(stderr, " %s", std::string(target.name).c_str());
  std::fputs("\n", stderr);
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const FuzzTarget& target = chosen_target();
  feed(target, {reinterpret_cast<const char*>(data), size});
  return 0;
}

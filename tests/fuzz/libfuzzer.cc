// The entry that libFuzzer calls, of a program with one target.
#include <cstddef>
#include <cstdint>

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  feed(fuzz_targets().front(), {reinterpret_cast<const char*>(data), size});
  return 0;
}

// Where there is no libFuzzer: runs the target over the files given, each as it is, cut at every
// length, and with bytes changed, replaced and moved by a fixed sequence of random numbers.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "facebench/core/random.h"
#include "facebench/io/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kChangesPerSeed = 2000;
constexpr std::size_t kLargestCut = 4096;

void feed(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

void run(const std::string& seed, std::uint64_t number) {
  feed(seed);
  for (std::size_t n = 0; n < std::min(seed.size(), kLargestCut); ++n) feed(seed.substr(0, n));
  if (seed.empty()) return;
  facebench::Random random(1, "fuzz", {number});
  for (int i = 0; i < kChangesPerSeed; ++i) {
    std::string changed = seed;
    for (std::uint64_t k = 0, n = 1 + random.below(4); k < n; ++k) {
      const std::size_t at = random.below(changed.size());
      switch (random.below(4)) {
        case 0:
          changed[at] = static_cast<char>(changed[at] ^ (1 << random.below(8)));
          break;
        case 1:
          changed[at] = static_cast<char>(random.below(256));
          break;
        case 2:
          changed.insert(at, 1, changed[random.below(changed.size())]);
          break;
        default:
          changed.erase(at, 1 + random.below(3));
      }
      if (changed.empty()) break;
    }
    feed(changed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seeds = 0;
  for (int i = 1; i < argc; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
      run(facebench::read_file(entry.path()), seeds++);
  std::printf("%llu seeds, no crash\n", static_cast<unsigned long long>(seeds));
  return seeds > 0 ? 0 : 1;
}

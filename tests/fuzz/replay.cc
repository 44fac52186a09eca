// Every target without libFuzzer, over its seeds: each as it is, cut at many lengths, and with
// bytes changed, inserted and removed by a fixed sequence of random numbers.
//
//   fuzz_replay SEEDS CHANGES [TARGET...]    SEEDS holds a folder of seeds for each target
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "facebench/core/random.h"
#include "facebench/io/file.h"
#include "fuzz.h"

namespace {

std::string changed(std::string bytes, facebench::Random& random) {
  for (std::uint64_t k = 0, n = 1 + random.below(4); k < n && !bytes.empty(); ++k) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(4)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 2:
        bytes.insert(at, 1, bytes[random.below(bytes.size())]);
        break;
      default:
        bytes.erase(at, 1 + random.below(3));
    }
  }
  return bytes;
}

// How many inputs were tried, changes of the seed.
std::uint64_t replay(const FuzzTarget& target, const std::string& seed, std::uint64_t number,
                     std::uint64_t changes) {
  for (std::uint64_t k = 0; k < changes; ++k)
    feed(target, std::string_view(seed).substr(0, k * seed.size() / changes));
  facebench::Random random(1, "fuzz", {number});
  for (std::uint64_t k = 0; k < changes; ++k) feed(target, changed(seed, random));
  return 2 * changes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("fuzz_replay SEEDS CHANGES [TARGET...]\n", stderr), 2;
  const std::vector<std::string> wanted(argv + 3, argv + argc);
  const std::uint64_t changes = std::strtoull(argv[2], nullptr, 10);
  bool failed = false;
  for (const FuzzTarget& target : fuzz_targets()) {
    const std::string name(target.name);
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    std::uint64_t seeds = 0, inputs = 0;
    bool accepted = false;
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(argv[1]) / name, none)) {
      try {
        const std::string seed = facebench::read_file(entry.path());
        if (feed(target, seed)) accepted = true;
        inputs += 1 + replay(target, seed, seeds++, changes);
      } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s: %s\n", name.c_str(), entry.path().c_str(), e.what());
        failed = true;
      }
    }
    // A target that refuses all of them may look at nothing.
    if (!accepted) std::fprintf(stderr, "%s: accepts no seed\n", name.c_str()), failed = true;
    std::printf("%-12s %3llu seeds %8llu inputs\n", name.c_str(),
                static_cast<unsigned long long>(seeds), static_cast<unsigned long long>(inputs));
  }
  return failed ? 1 : 0;
}

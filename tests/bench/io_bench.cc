// Random access in a .rec of 17 million images: a sparse file with the index of such a set.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "facebench/archives/archive.h"
#include "facebench/core/random.h"

namespace facebench {
namespace {

constexpr std::uint64_t kImages = 17'091'657, kPeople = 360'232;  // Glint360K
constexpr std::uint64_t kStep = 8192, kImageBytes = 8000;

// A record of RecordIO with mxnet's header: two labels, and no image or one of zeros.
std::string record(float first, float second, std::uint64_t key, std::uint64_t image) {
  const std::array<std::uint32_t, 4> head{0xced7230a, static_cast<std::uint32_t>(32 + image), 2, 0};
  const std::array<std::uint64_t, 2> ids{key, 0};
  const std::array<float, 2> labels{first, second};
  std::string bytes(40 + image, '\0');
  std::memcpy(bytes.data(), head.data(), 16);
  std::memcpy(bytes.data() + 16, ids.data(), 16);
  std::memcpy(bytes.data() + 32, labels.data(), 8);
  return bytes;
}

// The folder with the sparse file; only every thousandth image is really there.
class SparseRec {
 public:
  SparseRec() : folder_(std::filesystem::temp_directory_path() / "facebench-bench-rec") {
    std::filesystem::create_directories(folder_);
    std::ofstream index(folder_ / "train.idx", std::ios::binary);
    std::ofstream file(path(), std::ios::binary);
    const std::uint64_t all = kImages + 1 + kPeople;
    std::string lines;
    for (std::uint64_t key = 0; key < all; ++key) {
      lines += fmt::format("{}\t{}\n", key, kStep * key);
      if (lines.size() > 1 << 20) {
        index << lines;
        lines.clear();
      }
    }
    index << lines;
    const auto put = [&](std::uint64_t key, float first, float second, std::uint64_t image) {
      file.seekp(static_cast<std::streamoff>(kStep * key));
      file << record(first, second, key, image);
    };
    put(0, kImages + 1, static_cast<float>(all), 0);
    for (std::uint64_t key = 1; key <= kImages; key += 1000)
      put(key, static_cast<float>(key % kPeople), 1, kImageBytes);
    for (std::uint64_t key = kImages - 8; key <= kImages; ++key)
      put(key, static_cast<float>(key % kPeople), 1, kImageBytes);
    for (std::uint64_t key = kImages + 1; key < kImages + 9; ++key) put(key, 1, 2, 0);
    put(all - 1, 1, 2, 0);
    std::filesystem::resize_file(path(), kStep * all);
  }
  ~SparseRec() { std::filesystem::remove_all(folder_); }
  SparseRec(const SparseRec&) = delete;
  SparseRec& operator=(const SparseRec&) = delete;

  std::filesystem::path path() const { return folder_ / "train.rec"; }

 private:
  std::filesystem::path folder_;
};

// Kilobytes of a line of /proc/self/status.
double status(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;)
    if (std::int64_t kilobytes = 0; word == name + ":" && file >> kilobytes)
      return static_cast<double>(kilobytes);
  return 0;
}

void open_rec(benchmark::State& state) {
  const SparseRec rec;
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak counts from here
  const double before = status("VmRSS");
  Random random(1, "bench-rec");
  for ([[maybe_unused]] const auto _ : state) {
    const auto archive = open_image_archive(rec.path());
    if (archive->size() != static_cast<std::int64_t>(kImages)) return state.SkipWithError("size");
    for (int k = 0; k < 100; ++k) {
      const auto image = static_cast<std::int64_t>(1000 * random.below(kImages / 1000));
      if (archive->read(image).size() != kImageBytes) return state.SkipWithError("read");
    }
  }
  state.counters["peak_MB"] = (status("VmHWM") - before) / 1000;
}

BENCHMARK(open_rec)
    ->Name("rec/open, 17 million images, 100 read")
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Iterations(5);

}  // namespace
}  // namespace facebench

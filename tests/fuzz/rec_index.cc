// The index of a .rec file, beside a small one.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "archive_entries.h"
#include "fuzz.h"

namespace {

// A folder that goes away with the process.
struct Folder {
  Folder() {
    path = std::filesystem::temp_directory_path() /
           ("facebench-fuzz-" + std::to_string(static_cast<long>(::getpid())));
    std::filesystem::create_directories(path);
    // Two records of an image of four bytes, then one of none.
    const std::string head("\x0a\x23\xd7\xce", 4), zeros(24, '\0');
    std::ofstream file(path / "a.rec", std::ios::binary);
    for (const char* image : {"abcd", "efgh", ""}) {
      const std::string data = zeros + image;
      const std::string length{static_cast<char>(data.size()), 0, 0, 0};
      file << head << length << data;
    }
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

}  // namespace

FACEBENCH_FUZZ_TARGET(bytes) {
  static const Folder folder;
  std::ofstream(folder.path / "a.idx", std::ios::binary) << bytes;
  read_all_entries(*facebench::image_archives().at("rec").open(folder.path / "a.rec"));
}

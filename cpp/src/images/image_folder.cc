#include "facebench/images/image_folder.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "facebench/core/error.h"
#include "facebench/core/natural_order.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 16;

bool has_image_magic(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;  // a pipe would be waited for
  std::array<char, 4> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  const std::string_view bytes(head.data(), static_cast<std::size_t>(file.gcount()));
  const bool pnm = bytes.size() >= 3 && bytes[0] == 'P' && bytes[1] >= '2' && bytes[1] <= '6' &&
                   (bytes[2] == '\n' || bytes[2] == ' ' || bytes[2] == '\r' || bytes[2] == '\t');
  return bytes.starts_with("\xff\xd8\xff") || bytes == "\x89PNG" || pnm;
}

void collect(const fs::path& root, const fs::path& below, int depth, const Job& job,
             ImageFolder& found) {
  if (depth > kDeepest)
    fail((root / below).string(), "folders nested deeper than 16", "Is there a loop of links?");
  for (const fs::path& entry : list_folder(root / below)) {
    job.check();
    const fs::path name = below / entry.filename();
    std::error_code error;
    if (fs::is_directory(entry, error))
      collect(root, name, depth + 1, job, found);
    else if (has_image_ending(entry) || has_image_magic(entry))
      found.images.push_back(name);
    else
      found.others.push_back(name);
  }
}

}  // namespace

bool has_image_ending(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  constexpr std::array<std::string_view, 6> known = {".jpg", ".jpeg", ".png",
                                                     ".pnm", ".ppm",  ".pgm"};
  return std::find(known.begin(), known.end(), extension) != known.end();
}

std::vector<fs::path> list_folder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (!it->path().filename().string().starts_with('.')) entries.push_back(it->path());
  if (error) fail(folder.string(), "cannot list the folder: " + error.message());
  std::sort(entries.begin(), entries.end(), [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().string(), b.filename().string());
  });
  return entries;
}

ImageFolder find_images(const fs::path& folder, const Job& job) {
  ImageFolder found;
  collect(folder, {}, 0, job, found);
  return found;
}

}  // namespace facebench

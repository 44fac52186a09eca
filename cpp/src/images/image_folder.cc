#include "facebench/images/image_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "facebench/core/error.h"
#include "facebench/core/natural_order.h"
#include "facebench/core/numbers.h"
#include "images/formats.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 16, kMostLinks = 100000;

bool begins_like_an_image(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;  // opening a pipe would block
  std::array<char, kFirstBytes> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  return find_image_format({head.data(), static_cast<std::size_t>(file.gcount())}) != nullptr;
}

void collect(const fs::path& root, const fs::path& below, int depth, const Job& job, int& links,
             ImageFolder& found) {
  if (depth > kDeepest)
    fail((root / below).string(), "folders nested deeper than 16", "Is there a loop of links?");
  for (const fs::path& entry : list_folder(root / below)) {
    job.check();
    const fs::path name = below / entry.filename();
    std::error_code error;
    if (fs::is_directory(entry, error)) {
      if (fs::is_symlink(entry, error) && ++links > kMostLinks)
        fail((root / below).string(),
             fmt::format("more than {} links to folders are below {}", kMostLinks, root.string()),
             "Do folders link to each other?");
      collect(root, name, depth + 1, job, links, found);
    } else if (has_image_ending(entry) || begins_like_an_image(entry))
      found.images.push_back(name);
    else
      found.others.push_back(name);
  }
}

}  // namespace

bool has_image_ending(const fs::path& path) {
  const std::string extension = lower_ascii(path.extension().string());
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

ImageFolder list_images(const fs::path& folder, const Job& job) {
  ImageFolder found;
  int links = 0;
  collect(folder, {}, 0, job, links, found);
  return found;
}

}  // namespace facebench

#include "facebench/io/image_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <string_view>

#include "facebench/core/error.h"
#include "facebench/core/natural_order.h"
#include "facebench/core/numbers.h"
#include "facebench/core/utf8.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestFolder = 16, kMostLinks = 100000;

// In lower case; hidden files are litter whatever their names. Of Synology, QNAP, macOS, Linux,
// Windows, and Python.
constexpr std::array<std::string_view, 14> kLitter{
    "@eadir",    "#recycle",    "#snapshot",    "@recycle",   "@recently-snapshot",
    "__macosx",  "lost+found",  "$recycle.bin", "recycler",   "system volume information",
    "thumbs.db", "ehthumbs.db", "desktop.ini",  "__pycache__"};

bool begins_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

bool begins_png(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

bool begins_pnm(std::string_view bytes) {
  constexpr std::string_view kinds = "2356", after = " \t\r\n#";
  return bytes.size() > 2 && bytes[0] == 'P' && kinds.find(bytes[1]) != kinds.npos &&
         after.find(bytes[2]) != after.npos;
}

// The name and, since two letters are few, a size that its header can have.
bool begins_bmp(std::string_view bytes) {
  constexpr std::string_view sizes = "\x0c\x10\x28\x34\x38\x40\x6c\x7c";
  return bytes.size() > 15 && bytes.starts_with("BM") && sizes.find(bytes[14]) != sizes.npos &&
         bytes[15] == 0;
}

bool begins_tiff(std::string_view bytes) {
  return bytes.starts_with(std::string_view("II*\0", 4)) ||
         bytes.starts_with(std::string_view("MM\0*", 4));
}

bool begins_webp(std::string_view bytes) {
  return bytes.starts_with("RIFF") &&
         bytes.substr(std::min<std::size_t>(8, bytes.size())).starts_with("WEBP");
}

bool begins_like_an_image(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;  // opening a pipe would block
  std::array<char, kFirstBytes> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  return find_image_file_format({head.data(), static_cast<std::size_t>(file.gcount())}) != nullptr;
}

void collect(const fs::path& root, const fs::path& below, int depth, const Job& job, int& links,
             ImageFolder& folder) {
  if (depth > kDeepestFolder)
    fail((root / below).string(), "folders nested deeper than 16", "Is there a loop of links?");
  std::vector<fs::path> litter;
  const std::vector<fs::path> entries = list_folder(root / below, &litter);
  for (const fs::path& entry : litter) folder.litter.push_back(below / entry.filename());
  for (const fs::path& entry : entries) {
    job.check();
    const fs::path name = below / entry.filename();
    std::error_code error;
    if (fs::is_directory(entry, error)) {
      if (fs::is_symlink(entry, error) && ++links > kMostLinks)
        fail((root / below).string(),
             fmt::format("more than {} links to folders are below {}", kMostLinks, root.string()),
             "Do folders link to each other?");
      collect(root, name, depth + 1, job, links, folder);
    } else if (is_image_file(entry))
      folder.images.push_back(name);
    else
      folder.others.push_back(name);
  }
}

}  // namespace

const Table<ImageFileFormat>& image_file_formats() {
  static const Table<ImageFileFormat> table(
      "image format", {{"JPEG", {".jpg", ".jpeg", ".jpe", ".jfif"}, begins_jpeg},
                       {"PNG", {".png"}, begins_png},
                       {"PNM", {".pnm", ".ppm", ".pgm"}, begins_pnm},
                       {"BMP", {".bmp", ".dib"}, begins_bmp},
                       {"TIFF", {".tif", ".tiff"}, begins_tiff},
                       {"WebP", {".webp"}, begins_webp}});
  return table;
}

std::string known_image_formats() {
  std::vector<std::string> names = image_file_formats().names();
  const std::string last = std::move(names.back());
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

const ImageFileFormat* find_image_file_format(std::string_view bytes) {
  for (const ImageFileFormat& format : image_file_formats().entries())
    if (format.begins(bytes)) return &format;
  return nullptr;
}

bool is_image_ending(std::string_view ending) {
  const std::string lower = lower_ascii(ending);
  return std::ranges::any_of(image_file_formats().entries(), [&](const ImageFileFormat& format) {
    return std::ranges::find(format.endings, lower) != format.endings.end();
  });
}

bool has_image_ending(const fs::path& path) { return is_image_ending(path.extension().string()); }

bool is_image_file(const fs::path& path) {
  return has_image_ending(path) || begins_like_an_image(path);
}

bool is_litter(std::string_view name) {
  if (name.starts_with('.')) return true;
  const std::string lower = lower_ascii(name);
  return std::ranges::find(kLitter, lower) != kLitter.end();
}

std::vector<fs::path> list_folder(const fs::path& folder, std::vector<fs::path>* litter) {
  std::error_code error;
  std::vector<fs::path> entries, left_out;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    (is_litter(it->path().filename().string()) ? left_out : entries).push_back(it->path());
  if (error) fail(folder.string(), "cannot list the folder: " + error.message());
  const auto by_name = [](const fs::path& a, const fs::path& b) {
    return natural_less(a.filename().string(), b.filename().string());
  };
  std::sort(entries.begin(), entries.end(), by_name);
  std::sort(left_out.begin(), left_out.end(), by_name);
  if (litter) litter->insert(litter->end(), left_out.begin(), left_out.end());
  return entries;
}

std::string litter_note(const std::vector<fs::path>& litter) {
  if (litter.empty()) return {};
  constexpr std::size_t named = 3;
  std::string first;
  for (std::size_t i = 0; i < std::min(litter.size(), named); ++i)
    first += (i ? ", " : "") + printable(litter[i].generic_string());
  return fmt::format("Passed over what systems and other programs leave in folders: {} ({}{}).",
                     litter.size(), first, litter.size() > named ? ", ..." : "");
}

std::string name_of_path(const fs::path& root, const fs::path& below) {
  std::string name = below.generic_string();
  if (!is_utf8(name))
    fail(root.string(), fmt::format("the name '{}' is not UTF-8", printable(name)),
         "Rename it: convmv does so for a whole tree.");
  return name;
}

ImageFolder list_images(const fs::path& folder, const Job& job) {
  ImageFolder images;
  int links = 0;
  collect(folder, {}, 0, job, links, images);
  return images;
}

}  // namespace facebench

#include "facebench/training/internal/shared_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

#include "facebench/datasets/pack.h"
#include "facebench/io/hdf5.h"

namespace facebench {
namespace {

struct Key {
  std::uint64_t hash;
  std::int64_t image;
};

std::string_view pixels_of(const ImageSource& images, std::int64_t i) {
  return {reinterpret_cast<const char*>(images.pixels(i)),
          static_cast<std::size_t>(images.shape().bytes())};
}

// Of the files of a pack that knows them, so that not all of a large one is read; else nothing.
std::vector<std::uint8_t> file_hashes(const ImageSource& images) {
  const auto* pack = dynamic_cast<const Pack*>(&images);
  if (!pack) return {};
  const H5Reader file(pack->path());
  if (!file.has("/file_sha256")) return {};
  std::vector<std::uint8_t> hashes = file.read<std::uint8_t>("/file_sha256", 2);
  if (static_cast<std::int64_t>(hashes.size()) != 32 * pack->size()) hashes.clear();
  return hashes;
}

}  // namespace

std::string images_of_several_people(const TrainingSet& set, const TrainingClasses& classes,
                                     const std::vector<std::int64_t>& hashes) {
  const ImageSource& images = *set.images;
  const std::vector<std::uint8_t> of_files =
      hashes.empty() ? file_hashes(images) : std::vector<std::uint8_t>();
  std::vector<Key> keys;
  keys.reserve(classes.samples.size());
  for (const std::int64_t i : classes.samples) {
    std::uint64_t hash = 0;
    if (!hashes.empty())
      hash = static_cast<std::uint64_t>(hashes[static_cast<std::size_t>(i)]);
    else if (!of_files.empty())
      std::memcpy(&hash, of_files.data() + 32 * i, sizeof hash);
    if (hash == 0) hash = std::hash<std::string_view>()(pixels_of(images, i));
    keys.push_back({hash, i});
  }
  std::ranges::sort(keys, {}, [](const Key& k) { return std::pair(k.hash, k.image); });
  const auto label = [&](const Key& k) {
    return classes.labels[static_cast<std::size_t>(k.image)];
  };
  // Two faces may be cut out of one file: the pixels of a pack's images decide.
  const auto same = [&](const Key& a, const Key& b) {
    return !hashes.empty() || pixels_of(images, a.image) == pixels_of(images, b.image);
  };
  std::int64_t count = 0;
  std::string first;
  for (auto begin = keys.begin(), end = begin; begin != keys.end(); begin = end) {
    end = std::find_if(begin, keys.end(), [&](const Key& k) { return k.hash != begin->hash; });
    if (std::all_of(begin, end, [&](const Key& k) { return label(k) == label(*begin); })) continue;
    // Beside the first of another person; a group of more than two kinds of pixels is rare.
    for (auto k = begin; k != end; ++k) {
      const auto other = std::find_if(
          begin, end, [&](const Key& o) { return label(o) != label(*k) && same(o, *k); });
      if (other == end) continue;
      ++count;
      if (first.empty())
        first =
            fmt::format("{} and {}", sample_id(images, k->image), sample_id(images, other->image));
    }
  }
  if (count == 0) return {};
  return fmt::format(
      "{} images are of two people at once, byte for byte ({}{}): no loss can tell those apart. "
      "Keep the right person's, or leave them out (--exclude).",
      count, first, count > 2 ? ", ..." : "");
}

}  // namespace facebench

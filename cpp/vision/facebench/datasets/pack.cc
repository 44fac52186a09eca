#include "facebench/datasets/pack.h"

#include <fmt/format.h>

#include <stdexcept>

#include "facebench/core/error.h"
#include "facebench/io/hdf5.h"

namespace facebench {
namespace {

using Shape = std::vector<std::int64_t>;

constexpr std::string_view kAdvice = "Make the pack again with `facebench pack`.";

void require_shape(const H5Reader& reader, std::string_view name, const Shape& expected) {
  if (reader.shape(name) != expected)
    fail(reader.path().string(), fmt::format("{} has not one row for each image", name), kAdvice);
}

}  // namespace

Pack::Pack(const std::filesystem::path& path) : path_(path), file_(path) {
  const H5Reader reader(path);
  const std::string where = path.string();

  const Shape shape = reader.shape("/images");
  if (reader.type("/images") != H5Type::uint8 || shape.size() != 4 || shape[3] != 3)
    fail(where, "/images is not uint8 (N, H, W, 3), so this is not a pack", kAdvice);
  const std::int64_t n = shape[0];
  constexpr std::int64_t max_side = 65536;
  if (n < 1 || shape[1] < 1 || shape[2] < 1 || shape[1] > max_side || shape[2] > max_side)
    fail(where, "/images has an impossible extent", kAdvice);
  shape_ = {static_cast<int>(shape[1]), static_cast<int>(shape[2])};
  const auto offset = reader.dataset_offset("/images");
  const std::uint64_t file_size = file_.bytes().size();
  // Written so that nothing can overflow.
  if (!offset || *offset > file_size ||
      static_cast<std::uint64_t>(n) >
          (file_size - *offset) / static_cast<std::uint64_t>(shape_.bytes()))
    fail(where,
         "the images do not lie inside the file in one piece; it is cut short or was not "
         "written by facebench",
         kAdvice);
  images_ = reinterpret_cast<const std::uint8_t*>(file_.bytes().data()) + *offset;

  require_shape(reader, "/label", {n});
  require_shape(reader, "/name", {n});
  require_shape(reader, "/box", {n, 4});
  require_shape(reader, "/landmarks", {n, 5, 2});
  require_shape(reader, "/status", {n});
  labels_ = reader.read<std::int32_t>("/label", 1);
  names_ = reader.read_texts("/name");
  boxes_ = reader.read<float>("/box", 2);
  landmarks_ = reader.read<float>("/landmarks", 3);
  statuses_ = reader.read<std::uint8_t>("/status", 1);
  manifest_ = reader.read_json("/manifest");

  if (!manifest_.is_object() || manifest_.value("kind", Json()) != Json("pack"))
    fail(where, "/manifest is not that of a pack", kAdvice);
  const auto label_names = manifest_.find("label_names");
  if (label_names == manifest_.end() || !label_names->is_array())
    fail(where, "/manifest has no label_names", kAdvice);
  for (const Json& name : *label_names) {
    if (!name.is_string()) fail(where, "/manifest: label_names must be texts", kAdvice);
    label_names_.push_back(name.get<std::string>());
  }
  for (std::int64_t i = 0; i < n; ++i) {
    if (statuses_[i] >= kSampleStatusCount)
      fail(where, fmt::format("row {}: {} is not a status", i, statuses_[i]), kAdvice);
    if (labels_[i] < 0 || static_cast<std::size_t>(labels_[i]) >= label_names_.size())
      fail(where, fmt::format("row {}: label {} has no name", i, labels_[i]), kAdvice);
  }
}

std::size_t Pack::checked(std::int64_t index) const {
  if (index < 0 || index >= size())
    throw std::out_of_range(fmt::format("image {} of a pack of {}", index, size()));
  return static_cast<std::size_t>(index);
}

SampleStatus Pack::status(std::int64_t index) const {
  return sample_status_of(statuses_[checked(index)]);
}

std::string Pack::name(std::int64_t index) const { return names_[checked(index)]; }

const std::uint8_t* Pack::pixels(std::int64_t index) const {
  return images_ + checked(index) * static_cast<std::size_t>(shape_.bytes());
}

std::span<const std::uint8_t> Pack::image(std::int64_t index) const {
  return {pixels(index), static_cast<std::size_t>(shape_.bytes())};
}

std::int32_t Pack::label(std::int64_t index) const { return labels_[checked(index)]; }

Box Pack::box(std::int64_t index) const {
  const float* b = &boxes_[4 * checked(index)];
  return {b[0], b[1], b[2], b[3]};
}

Landmarks Pack::landmarks(std::int64_t index) const {
  const float* p = &landmarks_[10 * checked(index)];
  Landmarks result;
  for (int k = 0; k < 5; ++k) result[k] = {p[2 * k], p[2 * k + 1]};
  return result;
}

}  // namespace facebench

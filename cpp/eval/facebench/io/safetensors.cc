#include "facebench/io/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/registry.h"
#include "facebench/io/confine.h"
#include "facebench/io/json.h"

namespace facebench {
namespace {

constexpr std::uint64_t kLargestHeader = 100'000'000;  // the format's own limit
constexpr std::string_view kMetadata = "__metadata__";

struct DTypeRow {
  std::string_view name;
  std::size_t size;
};
constexpr DTypeRow kDTypes[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
                                {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U64", 8},  {"U32", 4},
                                {"U16", 2}, {"U8", 1},  {"BOOL", 1}};

// The bytes of a tensor; false where they are more than can exist.
bool byte_count(DType dtype, std::span<const std::int64_t> shape, std::uint64_t& bytes) {
  bytes = dtype_size(dtype);
  for (std::int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes))
      return false;
  return true;
}

// A whole number >= 0 out of the header.
std::uint64_t count_of(const Json& value, const std::string& where) {
  if (!value.is_number_unsigned())
    fail(where, fmt::format("expected a whole number, got {}", value.dump().substr(0, 40)));
  return value.get<std::uint64_t>();
}

const Json& member(const Json& object, const char* key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) fail(where, fmt::format("'{}' is missing", key));
  return *found;
}

}  // namespace

std::string_view dtype_name(DType dtype) { return kDTypes[static_cast<int>(dtype)].name; }

std::size_t dtype_size(DType dtype) { return kDTypes[static_cast<int>(dtype)].size; }

DType parse_dtype(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& known : kDTypes) names.emplace_back(known.name);
  return static_cast<DType>(index_of_name("tensor type", name, names));
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : name_(path.string()), file_(path) {
  parse(file_.bytes());
}

SafetensorsFile::SafetensorsFile(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)) {
  parse(bytes);
}

void SafetensorsFile::parse(std::span<const std::byte> bytes) {
  std::uint64_t header_size = 0;
  if (bytes.size() < sizeof header_size)
    fail(name_, fmt::format("is not a safetensors file: it has {} bytes", bytes.size()));
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  bytes = bytes.subspan(sizeof header_size);
  if (header_size > kLargestHeader || header_size > bytes.size())
    fail(name_, fmt::format("is not a safetensors file, or is cut short: a header of {} bytes, but "
                            "{} follow",
                            header_size, bytes.size()));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), header_size);
  const std::span<const std::byte> data = bytes.subspan(header_size);
  if (!text.starts_with('{'))
    fail(name_, "is not a safetensors file: its header is not a JSON object");
  const Json header = parse_file_json(text, name_ + ": header");

  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (const auto& [tensor, entry] : header.items()) {
    const std::string where = fmt::format("{}: tensor '{}'", name_, tensor);
    if (!entry.is_object()) fail(where, "is not described by an object");
    if (tensor == kMetadata) {
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) fail(name_, fmt::format("metadata '{}' is not a text", key));
        metadata_[key] = value.get<std::string>();
      }
      continue;
    }
    if (entry.size() != 3) fail(where, "expected exactly dtype, shape and data_offsets");
    TensorInfo info;
    const Json& dtype = member(entry, "dtype", where);
    if (!dtype.is_string()) fail(where, "its dtype is not a text");
    try {
      info.dtype = parse_dtype(dtype.get<std::string>());
    } catch (const std::invalid_argument& e) {
      fail(where, e.what());
    }
    const Json& shape = member(entry, "shape", where);
    const Json& offsets = member(entry, "data_offsets", where);
    if (!shape.is_array() || !offsets.is_array() || offsets.size() != 2)
      fail(where, "shape and data_offsets must be lists, the latter of two numbers");
    for (const Json& extent : shape) {
      const std::uint64_t value = count_of(extent, where);
      if (value > std::uint64_t{1} << 62) fail(where, "its shape is larger than can exist");
      info.shape.push_back(static_cast<std::int64_t>(value));
    }
    const std::uint64_t begin = count_of(offsets[0], where), end = count_of(offsets[1], where);
    if (begin > end || end > data.size())
      fail(where,
           fmt::format("its bytes {} to {} are not within the {} bytes of data", begin, end,
                       data.size()),
           "The file may be cut short");
    std::uint64_t wanted = 0;
    if (!byte_count(info.dtype, info.shape, wanted) || wanted != end - begin)
      fail(where, fmt::format("{} of shape [{}] does not fill {} bytes", dtype_name(info.dtype),
                              fmt::join(info.shape, ", "), end - begin));
    info.bytes = data.subspan(begin, end - begin);
    if (begin < end) places.emplace_back(begin, end);
    tensors_.emplace(tensor, std::move(info));
  }

  std::sort(places.begin(), places.end());
  std::uint64_t covered = 0;
  for (const auto& [begin, end] : places) {
    if (begin != covered)
      fail(name_, fmt::format("byte {} of the data belongs to {}", std::min(begin, covered),
                              begin < covered ? "two tensors" : "no tensor"));
    covered = end;
  }
  if (covered != data.size())
    fail(name_, fmt::format("{} bytes of the data belong to no tensor", data.size() - covered));
}

const TensorInfo& SafetensorsFile::at(std::string_view tensor) const {
  const auto found = tensors_.find(tensor);
  if (found != tensors_.end()) return found->second;
  const std::string close = [&] {
    std::vector<std::string> names;
    for (const auto& [known, info] : tensors_) names.push_back(known);
    return closest_name(tensor, names);
  }();
  fail(name_, fmt::format("there is no tensor '{}' among {}", tensor, tensors_.size()),
       close.empty() ? "" : fmt::format("Did you mean '{}'?", close));
}

std::vector<float> SafetensorsFile::floats(std::string_view tensor) const {
  const TensorInfo& info = at(tensor);
  if (info.dtype != DType::f32)
    fail(name_, fmt::format("tensor '{}' is {}, expected F32", tensor, dtype_name(info.dtype)));
  std::vector<float> values(info.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), info.bytes.data(), info.bytes.size());
  return values;
}

void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, TensorInfo, std::less<>>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<const std::pair<const std::string, TensorInfo>*> order;
  for (const auto& entry : tensors) {
    const auto& [tensor, info] = entry;
    std::uint64_t bytes = 0;
    if (tensor == kMetadata) throw std::invalid_argument("a tensor cannot be called __metadata__");
    if (!byte_count(info.dtype, info.shape, bytes) || bytes != info.bytes.size())
      throw std::invalid_argument(fmt::format("tensor '{}': {} bytes do not make {} of shape [{}]",
                                              tensor, info.bytes.size(), dtype_name(info.dtype),
                                              fmt::join(info.shape, ", ")));
    order.push_back(&entry);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return dtype_size(a->second.dtype) > dtype_size(b->second.dtype);
  });
  Json header = Json::object();
  if (!metadata.empty()) header[kMetadata] = metadata;
  std::uint64_t offset = 0;
  for (const auto* entry : order) {
    const auto& [tensor, info] = *entry;
    header[tensor] = {{"dtype", dtype_name(info.dtype)},
                      {"shape", info.shape},
                      {"data_offsets", {offset, offset + info.bytes.size()}}};
    offset += info.bytes.size();
  }
  std::string text = canonical_json(header);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kLargestHeader)
    throw std::invalid_argument("safetensors: the names and metadata exceed 100 MB");
  const std::uint64_t size = text.size();
  std::string begin(sizeof size, '\0');
  std::memcpy(begin.data(), &size, sizeof size);
  std::vector<std::string_view> pieces = {begin, text};
  for (const auto* entry : order) {
    const std::span<const std::byte> bytes = entry->second.bytes;
    pieces.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  write_file(path, pieces);
}

}  // namespace facebench

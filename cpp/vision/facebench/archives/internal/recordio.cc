#include "facebench/archives/internal/recordio.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "facebench/archives/internal/protobuf.h"
#include "facebench/core/error.h"
#include "facebench/io/internal/memory_number.h"

namespace facebench {
namespace {

constexpr std::uint64_t kHeader = 24;  // bytes of IRHeader
constexpr std::uint32_t kLengthBits = 29;
constexpr const char* kDamaged = "The file is cut off or damaged: get it again.";

template <class T>
void append_number(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_part(std::string& out, std::uint32_t flag, std::string_view data) {
  append_number(out, kRecordMagic);
  append_number(out, flag << kLengthBits | static_cast<std::uint32_t>(data.size()));
  out.append(data);
  out.append((4 - data.size() % 4) % 4, '\0');
}

}  // namespace

Record::Record(std::span<const std::byte> file, std::uint64_t offset,
               const std::function<std::string()>& where) {
  const char* bytes = reinterpret_cast<const char*>(file.data());
  const std::uint64_t size = file.size();
  const auto refuse = [&](std::uint64_t at, std::string_view what) {
    fail(where(), fmt::format("byte {}: {}", at, what), kDamaged);
  };
  for (bool first = true;; first = false) {
    if (offset > size || size - offset < 8)
      refuse(offset, first ? fmt::format("no record, the file has {} bytes", size)
                           : "the record's last part is missing");
    if (number_at<std::uint32_t>(bytes + offset) != kRecordMagic)
      refuse(offset,
             first ? "no record begins here" : "the record's next part does not begin here");
    const auto word = number_at<std::uint32_t>(bytes + offset + 4);
    const std::uint32_t flag = word >> kLengthBits;
    const std::uint64_t length = word & ((1u << kLengthBits) - 1);
    if (flag > 3) refuse(offset, fmt::format("a part has flag {}, not 0 to 3", flag));
    if (first && flag > 1) refuse(offset, "a record begins with a later part (parts out of order)");
    if (!first && flag < 2) refuse(offset, "a new record begins before the last one ends");
    const std::uint64_t begin = offset + 8, padded = (length + 3) / 4 * 4;
    if (length > size - begin)
      refuse(offset,
             fmt::format("a part of {} bytes, {} are left in the file", length, size - begin));
    if (padded > size - begin) refuse(offset, "the padding at the file's end is missing");
    const std::string_view data(bytes + begin, length);
    offset = next_ = begin + padded;
    if (flag == 0) {
      whole_ = data;
      return;
    }
    cut_ = true;
    if (!first) append_number(joined_, kRecordMagic);
    joined_ += data;
    if (flag == 3) return;
  }
}

std::uint64_t next_record(std::span<const std::byte> file, std::uint64_t offset) {
  const char* bytes = reinterpret_cast<const char*>(file.data());
  for (offset = (offset + 3) / 4 * 4; offset + 8 <= file.size(); offset += 4)
    if (number_at<std::uint32_t>(bytes + offset) == kRecordMagic &&
        number_at<std::uint32_t>(bytes + offset + 4) >> kLengthBits < 2)
      return offset;
  return file.size();
}

ImageRecord parse_image_record(std::string_view data, const std::function<std::string()>& where) {
  if (data.size() < kHeader)
    fail(where(),
         fmt::format("a record of {} bytes, an image's header has {}", data.size(), kHeader),
         "Is this a file of images?");
  ImageRecord record;
  record.flag = number_at<std::uint32_t>(data.data());
  record.id = number_at<std::uint64_t>(data.data() + 8);
  const std::uint64_t labels = std::uint64_t{record.flag} * 4;
  if (labels > data.size() - kHeader)
    fail(where(),
         fmt::format("the header claims {} labels in a record of {} bytes", record.flag,
                     data.size()),
         "The record is damaged, or holds no image with mxnet's header.");
  if (record.flag == 0) {
    record.labels = {number_at<float>(data.data() + 4)};
  } else {
    record.labels.resize(record.flag);
    std::memcpy(record.labels.data(), data.data() + kHeader, labels);
  }
  record.image = data.substr(kHeader + labels);
  return record;
}

bool looks_like_protobuf(std::string_view data) {
  ProtobufFields fields(data);
  // SageMaker's Record has fields 1 to 4, all of them with a length.
  while (fields.next())
    if (fields.wire() != ProtobufFields::Wire::bytes || fields.number() < 1 || fields.number() > 4)
      return false;
  return !data.empty() && !fields.damaged();
}

std::string frame_record(std::string_view data) {
  if (data.size() >= std::size_t{1} << kLengthBits)
    throw std::invalid_argument(
        fmt::format("a record of {} bytes; RecordIO holds less than 512 MiB", data.size()));
  std::string out;
  out.reserve(data.size() + 16);
  std::size_t begin = 0;
  for (std::size_t at = 0; at + 4 <= data.size(); at += 4) {
    if (number_at<std::uint32_t>(data.data() + at) != kRecordMagic) continue;
    append_part(out, begin == 0 ? 1 : 2, data.substr(begin, at - begin));
    begin = at + 4;
  }
  append_part(out, begin == 0 ? 0 : 3, data.substr(begin));
  return out;
}

std::string image_record(std::span<const float> labels, std::uint64_t id, std::string_view image) {
  if (labels.empty()) throw std::invalid_argument("a record needs a label");
  const bool one = labels.size() == 1;
  std::string out;
  append_number(out, one ? 0u : static_cast<std::uint32_t>(labels.size()));
  append_number(out, one ? labels[0] : 0.f);
  append_number(out, id);
  append_number(out, std::uint64_t{0});
  if (!one)
    for (const float label : labels) append_number(out, label);
  return out.append(image);
}

}  // namespace facebench

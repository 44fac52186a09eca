#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace facebench {

// The framing of dmlc-core's RecordIO files, and the header of an image in it. All numbers are
// little-endian. A part of a record: u32 magic, u32 flag << 29 | length, data, zeros to a multiple
// of 4. Flags: 0 whole record, 1 first, 2 middle, 3 last part; a record is cut where its data has
// the magic at a multiple of 4, and the magic itself is left out there.
// Source: dmlc-core 5295de9, include/dmlc/recordio.h, src/recordio.cc.
inline constexpr std::uint32_t kRecordMagic = 0xced7230a;
inline constexpr std::uint32_t kOldRecordMagic = 0x3ed7230a;  // of dmlc's first years

// A record in a mapped file: its parts, and where the next one begins.
class Record {
 public:
  // Checks the frame of the record at `offset`. Throws Error beginning with where(), naming the
  // byte, for a place outside of the file or without the magic, a length beyond the file, parts out
  // of order, and missing padding.
  Record(std::span<const std::byte> file, std::uint64_t offset,
         const std::function<std::string()>& where);

  std::uint64_t next() const { return next_; }
  // The data, joined; valid as long as this object and the file.
  std::string_view data() const { return cut_ ? std::string_view(joined_) : whole_; }

 private:
  std::string_view whole_;
  std::string joined_;
  bool cut_ = false;
  std::uint64_t next_ = 0;
};

// Where the next record may begin at or after `offset`: a multiple of 4 with the magic and the flag
// of a whole record or a first part; the file's size where there is none.
std::uint64_t next_record(std::span<const std::byte> file, std::uint64_t offset);

// mxnet's IRHeader and what follows it: u32 flag, f32 label, u64 id, u64 id2, `flag` floats, data.
struct ImageRecord {
  std::uint32_t flag = 0;
  std::vector<float> labels;  // the floats, or the label where flag is 0
  std::uint64_t id = 0;
  std::string_view image;  // the encoded image; empty in header and identity records

  // A header or identity record of InsightFace's layout: two labels and no image.
  bool is_range() const { return flag == 2 && image.empty(); }
};
// Throws Error beginning with where() for data too short for its header.
ImageRecord parse_image_record(std::string_view data, const std::function<std::string()>& where);
// Whether data is one protobuf message from its first byte to its last: Amazon SageMaker keeps such
// records in the same frame.
bool looks_like_protobuf(std::string_view data);

// A record as it stands in a file. Throws std::invalid_argument for data of 512 MiB and more.
std::string frame_record(std::string_view data);
// The data of a record: labels.size() == 1 is written with flag 0.
std::string image_record(std::span<const float> labels, std::uint64_t id, std::string_view image);

}  // namespace facebench

// InsightFace's and mxnet's training sets: images in a RecordIO file, with an index beside it.
// Source: deepinsight/insightface recognition/_datasets_, recognition/arcface_torch/dataset.py;
// apache/mxnet python/mxnet/recordio.py, tools/im2rec.py.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "facebench/archives/internal/formats.h"
#include "facebench/archives/internal/rec_index.h"
#include "facebench/archives/internal/recordio.h"
#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/io/presence.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// From here on a float32 may be a whole number that was not meant.
constexpr float kExact = 1 << 24;

bool is_exact(float value) { return value >= 0 && value < kExact && value == std::floor(value); }

class RecArchive : public ImageArchive {
 public:
  explicit RecArchive(const fs::path& path) : path_(path), file_(path) {
    check_kind();
    const fs::path index = fs::path(path).replace_extension(".idx");
    std::error_code ignored;
    if (fs::exists(index, ignored)) {
      index_ = RecIndex(index);
      if (index_.size() == 0 && !file_.bytes().empty())
        fail(index.string(), "the index is empty",
             "Get it again, or remove it: the .rec file is then read in its order.");
      keep_images(index);
      compare_with_file(index.filename().string());
    } else {
      scan();
      notes_.push_back(
          fmt::format("{} is not there: the records are taken in the order of the file",
                      index.filename().string()));
    }
    read_property();
  }

  std::int64_t size() const override { return index_.size(); }
  std::string name(std::int64_t i) const override {
    return entry_name(label(i), fmt::format("{}", index_.key(i)));
  }
  std::int64_t label(std::int64_t i) const override {
    const Record record = record_at(i);
    return label_of(image_of(record, i), i);
  }
  std::string read(std::int64_t i) const override {
    const Record record = record_at(i);
    const ImageRecord image = image_of(record, i);
    label_of(image, i);
    return std::string(image.image);
  }
  std::string where(std::int64_t i) const override {
    return fmt::format("{}: record {} (byte {})", path_.string(), index_.key(i), index_.offset(i));
  }
  std::vector<std::string> notes() const override { return notes_; }

 private:
  Record record_at(std::int64_t i) const {
    return Record(file_.bytes(), index_.offset(i), [&] { return where(i); });
  }

  ImageRecord image_of(const Record& record, std::int64_t i) const {
    ImageRecord image = parse_image_record(record.data(), [&] { return where(i); });
    if (image.image.empty())
      fail(where(i), "the record holds no image", "Is the index of this file?");
    return image;
  }

  std::int64_t label_of(const ImageRecord& image, std::int64_t i) const {
    const float label = image.labels.front();
    if (!is_exact(label))
      fail(where(i),
           label >= kExact && label == std::floor(label)
               ? fmt::format("the label is {}: from 16777216 on float32 mixes up neighbours", label)
               : fmt::format("the label is {}, not a whole number from 0 on", label),
           "A label is the number of a person.");
    return static_cast<std::int64_t>(label);
  }

  // What is said of a file is about its first record, which each file has.
  void check_kind() const {
    const auto bytes = file_.bytes();
    if (bytes.empty()) fail(path_.string(), "the file is empty");
    std::uint32_t magic = 0;
    std::copy_n(bytes.data(), std::min<std::size_t>(4, bytes.size()),
                reinterpret_cast<std::byte*>(&magic));
    if (magic == kOldRecordMagic)
      fail(path_.string(), "is RecordIO in dmlc's first form, of before 2015",
           "Convert it with a current tool.");
    if (magic != kRecordMagic)
      fail(path_.string(), "is not a RecordIO file, by its first bytes", "Expected 0a 23 d7 ce.");
    if (has_protobuf())
      fail(path_.string(),
           "holds Amazon SageMaker's protobuf records, not images with mxnet's header",
           "Write it again with im2rec, or unpack it to files.");
  }

  bool has_protobuf() const {
    const auto nowhere = [] { return std::string(); };
    bool whole = false;
    try {
      const Record record(file_.bytes(), 0, nowhere);
      whole = looks_like_protobuf(record.data());
      parse_image_record(record.data(), nowhere);
      return false;
    } catch (const Error&) {
      return whole;  // damage is found where the record is read
    }
  }

  // InsightFace's layout has a header record, key 0, with the range of the identity records' keys;
  // images have the keys from 1 to the first of them. Without it all keys are images.
  void keep_images(const fs::path& index) {
    const std::uint64_t first = index_.find(0);
    std::uint64_t begin = 0, end = RecIndex::kNone;
    if (first != RecIndex::kNone) {
      const auto where = [&] {
        return fmt::format("{}: record 0 (byte {})", path_.string(), first);
      };
      // A damaged record 0 that may be an image's is found where it is read.
      try {
        const Record record(file_.bytes(), first, where);
        const ImageRecord header = parse_image_record(record.data(), where);
        if (header.is_range()) {
          begin = 1;
          end = first_identity(header, where());
        }
      } catch (const Error&) {
        if (begin == 1) throw;
      }
    }
    index_.keep(begin, end);
    if (begin == 1 && static_cast<std::uint64_t>(index_.size()) != end - 1)
      fail(index.string(),
           fmt::format("has {} of the {} images that the header record speaks of", index_.size(),
                       end - 1),
           "Index and .rec are not of one set, or one of them is cut off.");
  }

  // An index that was cut off names fewer records than there are, and nothing else tells: its keys
  // need not be consecutive. What it should name is known for the record farthest behind.
  void compare_with_file(const std::string& index) {
    if (const std::int64_t shared = index_.count_shared(); shared > 0)
      notes_.push_back(
          fmt::format("{}: {} of {} keys stand for a record that a smaller key stands for, too; "
                      "its image is there as often",
                      index, shared, index_.size()));
    try {
      const Record last(file_.bytes(), index_.largest_offset(), [] { return std::string(); });
      const std::uint64_t size = file_.bytes().size();
      if (last.next() != size)
        notes_.push_back(fmt::format(
            "{}: its last record ends at byte {}, the .rec file at byte {}: what is between has "
            "no key and is not read; without the index all records are",
            index, last.next(), size));
    } catch (const Error&) {
      // Said with the key where that record is read.
    }
  }

  // The key of the first identity record. float32 holds it exactly below 2^24; beyond that it is
  // looked for near the number that stands there.
  std::uint64_t first_identity(const ImageRecord& header, const std::string& where) const {
    const float low = header.labels[0], high = header.labels[1];
    if (!(low >= 1) || !(high >= low) || low != std::floor(low) || high != std::floor(high) ||
        high > 4e9f)
      fail(where, fmt::format("the header record's range is {} to {}", low, high),
           "Expected the key of the first identity record, and one beyond the last.");
    auto key = static_cast<std::uint64_t>(low);
    if (low < kExact) {
      check_identities(key, static_cast<std::uint64_t>(high));
      return key;
    }
    for (int i = 0; i < 4 && is_identity(key - 1); ++i) --key;
    for (int i = 0; i < 4 && index_.find(key) != RecIndex::kNone && !is_identity(key); ++i) ++key;
    return key;
  }

  bool is_identity(std::uint64_t key) const {
    const std::uint64_t offset = index_.find(key);
    if (offset == RecIndex::kNone) return false;
    const auto where = [&] { return fmt::format("{}: record {}", path_.string(), key); };
    const Record record(file_.bytes(), offset, where);
    return parse_image_record(record.data(), where).is_range();
  }

  void check_identities(std::uint64_t begin, std::uint64_t end) const {
    for (std::uint64_t key = begin; key < end; ++key) {
      const std::uint64_t offset = index_.find(key);
      if (offset == RecIndex::kNone) continue;
      const auto where = [&] {
        return fmt::format("{}: identity record {} (byte {})", path_.string(), key, offset);
      };
      const Record record(file_.bytes(), offset, where);
      const ImageRecord identity = parse_image_record(record.data(), where);
      if (!identity.is_range())
        fail(where(), "is not the range of a person's images",
             "The header record and the index do not belong together.");
      const float low = identity.labels[0], high = identity.labels[1];
      if (!(low >= 1) || !(high >= low) || high > static_cast<float>(begin))
        fail(where(),
             fmt::format("the range {} to {} lies outside of the {} images", low, high, begin - 1),
             "The file is damaged: get it again.");
    }
  }

  // Without an index: all records in their order. What is damaged becomes an entry that throws
  // where it is read, and reading goes on at the next magic.
  void scan() {
    std::vector<std::uint64_t> offsets, ids;
    const auto nowhere = [] { return std::string(); };
    const auto bytes = file_.bytes();
    for (std::uint64_t at = 0; at < bytes.size();) {
      std::uint64_t next = 0;
      try {
        const Record record(bytes, at, nowhere);
        next = record.next();
        const ImageRecord image = parse_image_record(record.data(), nowhere);
        if (!image.is_range()) {
          offsets.push_back(at);
          ids.push_back(image.id);
        }
      } catch (const Error&) {
        offsets.push_back(at);
        ids.push_back(RecIndex::kNone);
        next = next_record(bytes, std::max(next, at + 4));
      }
      at = next;
    }
    // The ids that im2rec and InsightFace write are the keys of the index.
    std::vector<std::uint64_t> sorted = ids;
    std::ranges::sort(sorted);
    const bool as_keys = std::ranges::adjacent_find(sorted) == sorted.end() &&
                         std::ranges::is_sorted(ids) && !ids.empty() &&
                         ids.back() < (std::uint64_t{1} << 40);
    for (std::size_t i = 0; i < offsets.size(); ++i) index_.add(as_keys ? ids[i] : i, offsets[i]);
    index_.keep(0, RecIndex::kNone);
  }

  // "CLASSES,HEIGHT,WIDTH", and the number of images in a second line of newer files.
  void read_property() {
    const fs::path path = folder_of_file() / "property";
    if (!is_file(path)) return;
    const TextFile text(path);
    if (text.lines().size() < 2) return;
    const std::string_view line = trim(text.lines()[1].text);
    if (line.empty()) return;
    const std::int64_t images = parse_int(line, text.place(text.lines()[1]), "number of images");
    if (images != size())
      notes_.push_back(fmt::format("property speaks of {} images, {} are there", images, size()));
  }

  fs::path folder_of_file() const { return path_.parent_path(); }

  fs::path path_;
  MappedFile file_;
  RecIndex index_;
  std::vector<std::string> notes_;
};

bool is_rec(const fs::path& path) {
  return has_ending(path, ".rec") || (is_folder(path) && is_file(path / "train.rec"));
}

std::shared_ptr<const ImageArchive> open_rec(const fs::path& path, const ArchiveOptions&) {
  return std::make_shared<RecArchive>(file_or_only_one(path, "train.rec", ".rec"));
}

}  // namespace

ImageArchiveFormat rec_archive() {
  return {"rec", "mxnet's and InsightFace's .rec with .idx, or the folder of train.rec", is_rec,
          open_rec};
}

}  // namespace facebench

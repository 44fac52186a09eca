#include "facebench/archives/internal/writers.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "facebench/archives/internal/formats.h"
#include "facebench/archives/internal/recordio.h"
#include "facebench/archives/internal/tar_format.h"
#include "facebench/core/error.h"
#include "facebench/core/numbers.h"
#include "facebench/io/file.h"
#include "facebench/io/verification_pack.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// float32 counts without gaps below it.
constexpr std::int64_t kExactFloats = 1 << 24;

class RecWriter : public ImageArchiveWriter {
 public:
  explicit RecWriter(const ImageArchiveTarget& target)
      : target_(target),
        records_(target.path),
        index_(fs::path(target.path).replace_extension(".idx")),
        property_(target.path.parent_path() / "property") {
    const auto first_identity = static_cast<float>(target.images + 1);
    if (static_cast<std::int64_t>(first_identity) != target.images + 1)
      throw std::invalid_argument(
          fmt::format("{} images: a .rec file cannot state that number (float32); leave one out",
                      target.images));
  }

  void add(std::int64_t label, std::string_view image) override {
    if (label < 0 || label >= kExactFloats)
      throw std::invalid_argument(
          fmt::format("label {}: a .rec file holds 0 to 16777215 (float32)", label));
    if (ranges_.empty() || label != label_) ranges_.push_back({images_ + 1, images_ + 1});
    label_ = label;
    ++images_;
    ++ranges_.back().second;
    const auto value = static_cast<float>(label);
    write(images_, image_record({&value, 1}, static_cast<std::uint64_t>(images_), image));
  }

  std::vector<fs::path> finish() override {
    std::int64_t key = images_ + 1;
    for (const auto& [begin, end] : ranges_) write_range(key++, begin, end);
    write_range(0, images_ + 1, key);
    property_.write(fmt::format("{},{},{}\n", target_.people, target_.height, target_.width));
    property_.commit();
    index_.commit();
    records_.commit();
    return {target_.path, fs::path(target_.path).replace_extension(".idx"),
            target_.path.parent_path() / "property"};
  }

 private:
  void write(std::int64_t key, const std::string& data) {
    index_.write(fmt::format("{}\t{}\n", key, records_.size()));
    records_.write(frame_record(data));
  }
  void write_range(std::int64_t key, std::int64_t begin, std::int64_t end) {
    const float range[] = {static_cast<float>(begin), static_cast<float>(end)};
    write(key, image_record(range, static_cast<std::uint64_t>(key), {}));
  }

  ImageArchiveTarget target_;
  PieceFile records_, index_, property_;
  std::int64_t images_ = 0, label_ = -1;
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges_;  // keys of each person's images
};

class BinWriter : public ImageArchiveWriter {
 public:
  explicit BinWriter(const ImageArchiveTarget& target) : target_(target) {
    if (target.images % 2 != 0)
      throw std::invalid_argument(fmt::format("{} images: a .bin file holds pairs", target.images));
  }
  void add(std::int64_t label, std::string_view image) override {
    if (images_.size() % 2 == 1) same_.push_back(label == label_);
    label_ = label;
    images_.emplace_back(image);
  }
  std::vector<fs::path> finish() override {
    write_file(target_.path, verification_pack_bytes(images_, same_));
    return {target_.path};
  }

 private:
  ImageArchiveTarget target_;
  std::vector<std::string> images_;
  std::vector<bool> same_;
  std::int64_t label_ = -1;
};

std::string_view image_ending(std::string_view bytes) {
  if (bytes.starts_with("\xff\xd8")) return "jpg";
  if (bytes.starts_with("\x89PNG")) return "png";
  if (bytes.starts_with("P2") || bytes.starts_with("P5")) return "pgm";
  if (bytes.starts_with("P3") || bytes.starts_with("P6")) return "ppm";
  return "jpg";
}

class TarWriter : public ImageArchiveWriter {
 public:
  explicit TarWriter(const ImageArchiveTarget& target) : target_(target) {
    const std::string text = target.path.string();
    const std::size_t open = text.find('{'), close = text.find('}', open);
    if (open == std::string::npos || close == std::string::npos) {
      before_ = text;
      shard_images_ = target.images;
      return;
    }
    before_ = text.substr(0, open);
    after_ = text.substr(close + 1);
    const std::string range = text.substr(open + 1, close - open - 1);
    digits_ = range.find("..");
    const auto number = [&](const std::string& digits) {
      if (digits.empty() || digits.size() > 9 ||
          digits.find_first_not_of("0123456789") != std::string::npos)
        throw std::invalid_argument(
            fmt::format("{}: expected {{000..}} or {{000..007}} for the shards", text));
      return static_cast<std::int64_t>(*number_of(digits));
    };
    first_ = number(range.substr(0, digits_));
    shard_images_ = target.shard_images;
    if (range.size() > digits_ + 2) {
      const std::int64_t shards = number(range.substr(digits_ + 2)) - first_ + 1;
      if (shards < 1 || shards > std::max<std::int64_t>(1, target.images))
        throw std::invalid_argument(
            fmt::format("{}: {} images cannot be put into {} shards", text, target.images, shards));
      shards_ = shards;
    }
  }

  void add(std::int64_t label, std::string_view image) override {
    while (files_.empty() || images_ >= end_of_shard()) begin_shard();
    const std::string key = fmt::format("{:09}", images_++);
    files_.back()->write(tar_member(fmt::format("{}.{}", key, image_ending(image)), image));
    files_.back()->write(tar_member(key + ".cls", fmt::format("{}", label)));
  }

  std::vector<fs::path> finish() override {
    if (files_.empty()) begin_shard();
    end_shard();
    for (const auto& file : files_) file->commit();
    return paths_;
  }

 private:
  // Where the images of the last shard end; a stated number of shards is filled evenly.
  std::int64_t end_of_shard() const {
    const auto n = static_cast<std::int64_t>(files_.size());
    return shards_ > 0 ? target_.images * n / shards_ : n * shard_images_;
  }
  void begin_shard() {
    if (!files_.empty()) end_shard();
    std::string path = before_;
    if (digits_ != std::string::npos)
      path += fmt::format("{:0{}}", first_ + static_cast<std::int64_t>(files_.size()), digits_) +
              after_;
    paths_.emplace_back(path);
    files_.push_back(std::make_unique<PieceFile>(path));
  }
  void end_shard() { files_.back()->write(tar_end()); }

  ImageArchiveTarget target_;
  std::string before_, after_;
  std::size_t digits_ = std::string::npos;
  std::int64_t first_ = 0, shard_images_ = 0, shards_ = 0, images_ = 0;
  std::vector<fs::path> paths_;
  std::vector<std::unique_ptr<PieceFile>> files_;
};

template <class Writer>
std::unique_ptr<ImageArchiveWriter> make_archive_writer(const ImageArchiveTarget& target) {
  return std::make_unique<Writer>(target);
}

}  // namespace

PieceFile::PieceFile(const fs::path& target)
    : file_(target), stream_(file_.temporary(), std::ios::binary) {}

void PieceFile::write(std::string_view bytes) {
  stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream_) fail(file_.target().string(), "cannot be written", "Is the disk full?");
  size_ += bytes.size();
}

void PieceFile::commit() {
  stream_.close();
  if (!stream_) fail(file_.target().string(), "cannot be written", "Is the disk full?");
  file_.commit();
}

ImageArchiveWriterFormat rec_writer() {
  return {"rec", "InsightFace's .rec with .idx and property", true, true,
          make_archive_writer<RecWriter>};
}
ImageArchiveWriterFormat bin_writer() {
  return {"bin", "InsightFace's test set: two images after each other are a pair", false, false,
          make_archive_writer<BinWriter>};
}
ImageArchiveWriterFormat tar_writer() {
  return {"tar", "webdataset's tar, in shards where the path has {000..}", false, true,
          make_archive_writer<TarWriter>};
}

const Table<ImageArchiveWriterFormat>& image_archive_writers() {
  static const Table<ImageArchiveWriterFormat> table("archive to write",
                                                     {rec_writer(), bin_writer(), tar_writer()});
  return table;
}

const ImageArchiveWriterFormat& image_archive_writer_for(const fs::path& path) {
  for (const ImageArchiveWriterFormat& format : image_archive_writers().entries())
    if (has_ending(path, "." + format.name)) return format;
  throw std::invalid_argument(
      fmt::format("{}: what is written is told by the ending: .rec, .bin, .tar", path.string()));
}

}  // namespace facebench

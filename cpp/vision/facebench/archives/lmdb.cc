// Training sets in LMDB. Two layouts circulate:
// - messages: a value is msgpack of [encoded image, label], and __keys__ lists the keys in their
//   order, __len__ counts them. Source: SOTA-FR-train-and-test, utils/imagelist2lmdb.py.
// - Caffe's Datum: a value is a protobuf message with the encoded image in field 4; the label is in
//   lines "KEY LABEL" of NAME_kv.txt beside it, else in field 5. Source: BVLC/caffe,
//   src/caffe/proto/caffe.proto, message Datum; Fast Face Classification, util/lmdb_loader.py.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <unordered_map>

#include "facebench/archives/internal/formats.h"
#include "facebench/archives/internal/lmdb_file.h"
#include "facebench/archives/internal/message_pack.h"
#include "facebench/archives/internal/protobuf.h"
#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/file.h"
#include "facebench/io/presence.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

class LmdbArchive : public ImageArchive {
 public:
  // `path` is the data file.
  explicit LmdbArchive(const fs::path& path) : path_(path), file_(path) {
    if (const std::string_view keys = file_.find("__keys__"); keys.data() != nullptr)
      list_messages(keys);
    else
      list_datums();
    if (ends_.empty()) fail(path_.string(), "there is no image in the database");
    refuse_repeated();
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(ends_.size()); }
  std::string name(std::int64_t i) const override { return entry_name(label(i), key(i)); }
  std::int64_t label(std::int64_t i) const override { return entry(i).label; }
  std::string read(std::int64_t i) const override { return std::string(entry(i).image); }
  std::string where(std::int64_t i) const override {
    constexpr std::size_t kShown = 60;  // bytes of a key, which may be any
    const std::string_view whole = key(i);
    return fmt::format("{}: key {}{}", path_.string(), printable(whole.substr(0, kShown)),
                       whole.size() > kShown ? "..." : "");
  }
  std::vector<std::string> notes() const override { return notes_; }

 private:
  struct Entry {
    std::string_view image;
    std::int64_t label = -1;
  };

  void add_key(std::string_view key) {
    keys_ += key;
    ends_.push_back(keys_.size());
  }
  std::string_view key(std::int64_t i) const {
    if (i < 0 || i >= size()) throw std::out_of_range("no such entry of the archive");
    const auto k = static_cast<std::size_t>(i);
    const std::uint64_t begin = k == 0 ? 0 : ends_[k - 1];
    return std::string_view(keys_).substr(begin, ends_[k] - begin);
  }

  void list_messages(std::string_view keys) {
    messages_ = true;
    const auto refuse = [&](std::string_view what) {
      fail(path_.string() + ": __keys__", what,
           "Written by imagelist2lmdb.py it is a msgpack list of the keys.");
    };
    // What Efficient-PyTorch's tools write; nothing is unpickled here.
    if (keys.starts_with('\x80')) refuse("is a Python pickle, which is not read");
    MessagePack message(keys);
    std::size_t count = 0;
    if (!message.list(count)) refuse("is not a list");
    std::string_view key;
    for (std::size_t i = 0; i < count; ++i) {
      if (!message.bytes(key) || key.empty()) refuse(fmt::format("entry {} is not a key", i));
      add_key(key);
    }
    std::int64_t stated = 0;
    MessagePack length(file_.find("__len__"));
    if (!length.whole_number(stated) || stated != size())
      fail(path_.string() + ": __len__",
           fmt::format("is not the number of keys in __keys__, which has {}", size()));
  }

  void list_datums() {
    if (const std::optional<fs::path> list = labels_file()) {
      const TextFile text(*list);
      for (const TextLine& line : text.lines()) {
        const auto fields = split_whitespace(line.text);
        if (fields.empty()) continue;
        if (fields.size() != 2)
          fail(fmt::format("{}:{}", text.name(), line.number),
               fmt::format("{} fields where 'KEY LABEL' is expected", fields.size()));
        const std::int64_t label = parse_int(fields[1], text.place(line), "the label");
        if (label < 0) fail(fmt::format("{}:{}", text.name(), line.number), "the label is below 0");
        add_key(fields[0]);
        labels_.push_back(label);
      }
      if (static_cast<std::uint64_t>(size()) != file_.entries())
        notes_.push_back(fmt::format("{} names {} of the {} entries", list->filename().string(),
                                     size(), file_.entries()));
    } else {
      file_.for_each_key([&](std::string_view key) { add_key(key); });
    }
  }

  // NAME_kv.txt in the folder of the data file.
  std::optional<fs::path> labels_file() const {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::directory_iterator it(path_.parent_path(), error), end; !error && it != end;
         it.increment(error))
      if (has_ending(it->path(), "_kv.txt")) files.push_back(it->path());
    if (files.size() > 1)
      fail(path_.parent_path().string(),
           fmt::format("there are {} files *_kv.txt in this folder", files.size()),
           "Leave the one that lists this database.");
    if (files.empty()) return std::nullopt;
    return files.front();
  }

  void refuse_repeated() const {
    std::vector<std::int64_t> order(ends_.size());
    std::iota(order.begin(), order.end(), 0);
    const auto key_of = [&](std::int64_t i) { return key(i); };
    std::ranges::sort(order, {}, key_of);
    if (const auto twice = std::ranges::adjacent_find(order, {}, key_of); twice != order.end())
      fail(where(*twice), "the key is listed twice", "Each image is listed once.");
  }

  Entry entry(std::int64_t i) const {
    const std::string_view value = file_.find(key(i));
    if (value.data() == nullptr)
      fail(where(i), "is listed, but not in the database", "Is the list of this database?");
    const Entry entry = messages_ ? message(value, i) : datum(value, i);
    if (entry.image.empty()) fail(where(i), "the image has no bytes");
    return entry;
  }

  Entry message(std::string_view value, std::int64_t i) const {
    if (value.starts_with('\x80')) fail(where(i), "is a Python pickle, which is not read");
    Entry entry;
    MessagePack message(value);
    std::size_t count = 0;
    if (!message.list(count) || count != 2 || !message.bytes(entry.image))
      fail(where(i), "is not a msgpack list of an image and a label", "The entry is damaged.");
    if (!message.whole_number(entry.label) || entry.label < 0)
      fail(where(i), "the label is not a whole number from 0 on");
    if (!message.at_end()) fail(where(i), "bytes follow the label", "The entry is damaged.");
    return entry;
  }

  Entry datum(std::string_view value, std::int64_t i) const {
    using Wire = ProtobufFields::Wire;
    Entry entry;
    std::uint64_t label = 0, channels = 0, height = 0, width = 0;
    bool labelled = false, encoded = false;
    ProtobufFields fields(value);
    while (fields.next()) {
      if (fields.is(1, Wire::varint)) channels = fields.value();
      if (fields.is(2, Wire::varint)) height = fields.value();
      if (fields.is(3, Wire::varint)) width = fields.value();
      if (fields.is(4, Wire::bytes)) entry.image = fields.bytes();
      if (fields.is(5, Wire::varint)) {
        label = fields.value();
        labelled = true;
      }
      if (fields.is(7, Wire::varint)) encoded = fields.value() != 0;
    }
    if (fields.damaged())
      fail(where(i), "is not a message of Caffe's Datum",
           "Read are msgpack pairs with __keys__, too.");
    if (!encoded && channels > 0 && height < 65536 && width < 65536 && channels < 16 &&
        channels * height * width == entry.image.size())
      fail(where(i), fmt::format("holds raw pixels, {} x {} x {}", channels, height, width),
           "Images have to be kept encoded (convert_imageset --encoded).");
    if (!labels_.empty())
      entry.label = labels_[static_cast<std::size_t>(i)];
    else if (labelled && label < (1ull << 31))
      entry.label = static_cast<std::int64_t>(label);
    else
      fail(where(i), "has no label from 0 on",
           "Lines 'KEY LABEL' in NAME_kv.txt beside the data file give it.");
    return entry;
  }

  fs::path path_;
  LmdbFile file_;
  bool messages_ = false;
  std::string keys_;                  // one after the other
  std::vector<std::uint64_t> ends_;   // of each key
  std::vector<std::int64_t> labels_;  // of each key, where a list gives them
  std::vector<std::string> notes_;
};

bool is_lmdb(const fs::path& path) {
  return has_ending(path, ".lmdb") || path.filename() == "data.mdb" ||
         (is_folder(path) && is_file(path / "data.mdb"));
}

std::shared_ptr<const ImageArchive> open_lmdb(const fs::path& path, const ArchiveOptions&) {
  return std::make_shared<LmdbArchive>(is_folder(path) ? path / "data.mdb" : path);
}

}  // namespace

ImageArchiveFormat lmdb_archive() {
  return {"lmdb", "LMDB of msgpack pairs or of Caffe's Datum: x.lmdb, data.mdb, or its folder",
          is_lmdb, open_lmdb};
}

}  // namespace facebench

// TFace's training sets: images in TFRecord files, and a list of where each begins. Source:
// Tencent/TFace recognition/tools/img2tfrecord.py, recognition/torchkit/data/parser.py; the framing
// is TensorFlow's, tensorflow/core/lib/io/record_writer.h.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <unordered_map>

#include "facebench/archives/internal/compression.h"
#include "facebench/archives/internal/formats.h"
#include "facebench/archives/internal/label_text.h"
#include "facebench/archives/internal/protobuf.h"
#include "facebench/archives/shard_names.h"
#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/file.h"
#include "facebench/io/internal/memory_number.h"
#include "facebench/io/internal/unfold.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNamedFeatures = 20;
constexpr std::uint64_t kFrame = 16;  // u64 length, u32 sum of it, the data, u32 sum of them

// CRC-32C (Castagnoli), bit-reversed polynomial 0x82f63b78, eight bytes at a time.
class Crc32c {
 public:
  static std::uint32_t of(std::string_view data) {
    static const Crc32c tables;
    std::uint32_t crc = ~0u;
    for (; data.size() >= 8; data.remove_prefix(8)) {
      const std::uint64_t word = number_at<std::uint64_t>(data.data()) ^ crc;
      crc = 0;
      for (std::size_t k = 0; k < 8; ++k) crc ^= tables.of_[7 - k][word >> (8 * k) & 0xff];
    }
    for (const char c : data)
      crc = tables.of_[0][(crc ^ static_cast<std::uint8_t>(c)) & 0xff] ^ crc >> 8;
    return ~crc;
  }

 private:
  Crc32c() {
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
      of_[0][i] = crc;
    }
    for (std::size_t k = 1; k < 8; ++k)
      for (std::size_t i = 0; i < 256; ++i)
        of_[k][i] = of_[k - 1][i] >> 8 ^ of_[0][of_[k - 1][i] & 0xff];
  }
  std::array<std::array<std::uint32_t, 256>, 8> of_{};
};

// As TensorFlow keeps the sum of data that may hold sums.
std::uint32_t masked_sum(std::string_view data) {
  const std::uint32_t crc = Crc32c::of(data);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

class TfRecordArchive : public ImageArchive {
 public:
  // `path` is a list or a file of records; `label` is the feature that says who it is.
  TfRecordArchive(const fs::path& path, std::string label)
      : path_(path),
        label_(std::move(label)),
        is_list_(has_ending(path, ".index") || has_ending(path, ".txt")) {
    if (is_list_)
      read_list();
    else
      scan();
    if (entries_.empty()) fail(path.string(), "there is no record");
    refuse_repeated();
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(entries_.size()); }
  std::string name(std::int64_t i) const override {
    const Entry& entry = at(i);
    const Example of = example(i);
    const std::string key =
        entry.name_size > 0
            ? std::string(name_of(entry))
            : fmt::format("{}-{}", shards_[entry.shard].path.stem().string(), entry.offset);
    return of.label < 0 ? entry_name(of.person, key) : entry_name(of.label, key);
  }
  std::string person(std::int64_t i) const override {
    const Example of = example(i);
    return of.person.empty() && of.label >= 0 ? fmt::format("{}", of.label) : of.person;
  }
  std::int64_t label(std::int64_t i) const override { return example(i).label; }
  std::vector<std::string> notes() const override {
    std::string note = is_list_ ? std::string() : shard_note(path_.filename().string());
    if (note.empty()) return {};
    return {std::move(note)};
  }
  std::string read(std::int64_t i) const override {
    const std::string_view data = record(i);
    if (number_at<std::uint32_t>(data.data() + data.size()) != masked_sum(data))
      fail(where(i), "the record's check sum differs", kDamaged);
    return std::string(example(i).image);
  }
  std::string where(std::int64_t i) const override {
    const Entry& entry = at(i);
    return fmt::format("{}: record {} (byte {})", shards_[entry.shard].path.string(), i,
                       entry.offset);
  }

 private:
  static constexpr const char* kDamaged = "The file is cut off or damaged: get it again.";
  struct Shard {
    fs::path path;
    MappedFile file;
    std::string unfolded;  // of a file that gzip packed

    std::string_view bytes() const {
      const auto mapped = file.bytes();
      return unfolded.empty()
                 ? std::string_view(reinterpret_cast<const char*>(mapped.data()), mapped.size())
                 : std::string_view(unfolded);
    }
  };
  struct Entry {
    std::uint64_t offset = 0;
    std::int64_t label = -1;
    std::uint64_t name = 0;  // where it begins among all names
    std::uint32_t name_size = 0;
    std::uint32_t shard = 0;
  };
  struct Example {
    std::string_view image;
    std::int64_t label = -1;
    std::string person;                      // who is called by a name
    std::string wrong;                       // with its label; empty: nothing is
    std::vector<std::string_view> features;  // all that are there
  };

  const Entry& at(std::int64_t i) const {
    if (i < 0 || i >= size()) throw std::out_of_range("no such entry of the archive");
    return entries_[static_cast<std::size_t>(i)];
  }
  std::string_view name_of(const Entry& entry) const {
    return std::string_view(names_).substr(entry.name, entry.name_size);
  }

  // Lines "IMAGE<TAB>SHARD<TAB>OFFSET" of img2tfrecord.py, or "NAME<TAB>SHARD<TAB>OFFSET<TAB>LABEL"
  // of training, where NAME is the folder of the shards.
  void read_list() {
    const TextFile text(path_);
    std::unordered_map<std::string, std::uint32_t> shards;
    for (const TextLine& line : text.lines()) {
      if (trim(line.text).empty()) continue;
      const auto fields = split_tabs(line.text);
      const std::string where = fmt::format("{}:{}", text.name(), line.number);
      if (fields.size() != 3 && fields.size() != 4)
        fail(where, fmt::format("{} fields between tabs", fields.size()),
             "Expected IMAGE, SHARD, OFFSET, or NAME, SHARD, OFFSET, LABEL.");
      const Place place = text.place(line);
      const std::int64_t shard = parse_int(fields[1], place, "the number of the shard"),
                         offset = parse_int(fields[2], place, "the offset");
      if (shard < 0 || shard > 99'999 || offset < 0)
        fail(where, "the shard or the offset is out of range");
      Entry entry;
      entry.offset = static_cast<std::uint64_t>(offset);
      const bool labelled = fields.size() == 4;
      const std::string set = labelled ? std::string(fields[0]) : path_.stem().string();
      if (labelled) {
        entry.label = parse_int(fields[3], place, "the label");
        if (entry.label < 0) fail(where, "the label is below 0");
        if (set.empty() || set == ".." || set.find('/') != std::string::npos)
          fail(where, fmt::format("'{}' is not the name of a folder beside the list", set));
      } else {
        add_name(entry, fields[0], where);
      }
      const std::string file = fmt::format("{}-{:05}.tfrecord", set, shard);
      const auto [known, fresh] =
          shards.try_emplace(file, static_cast<std::uint32_t>(shards_.size()));
      if (fresh) open_shard(set, file, where);
      entry.shard = known->second;
      entries_.push_back(entry);
    }
  }

  void add_name(Entry& entry, std::string_view name, const std::string& where) {
    while (name.starts_with('/') || name.starts_with("./")) name.remove_prefix(1);
    if (name.empty() || name.find("..") != std::string_view::npos)
      fail(where, fmt::format("'{}' is not a name of an image", name));
    entry.name = names_.size();
    entry.name_size = static_cast<std::uint32_t>(name.size());
    names_ += name;
  }

  // Beside the list, or in the folder of the set's name beside it.
  void open_shard(const std::string& set, const std::string& file, const std::string& where) {
    std::error_code ignored;
    const fs::path beside = path_.parent_path() / file, below = path_.parent_path() / set / file;
    if (!fs::exists(beside, ignored) && !fs::exists(below, ignored))
      fail(where, fmt::format("{} is not there", beside.string()),
           "The list and its .tfrecord files lie in one folder.");
    const fs::path& path = fs::exists(beside, ignored) ? beside : below;
    add_shard(path);
  }

  void add_shard(const fs::path& path) {
    Shard shard{path, MappedFile(path), {}};
    const std::string_view all = shard.bytes();
    // A record may be as long as a compressed file's magic number says; its sum tells them apart.
    if (all.size() > kFrame &&
        number_at<std::uint32_t>(all.data() + 8) != masked_sum(all.substr(0, 8))) {
      const auto bytes = shard.file.bytes();
      if (begins_gzip(bytes))
        shard.unfolded = unfold_gzip(bytes, path.string());
      else
        refuse_compressed(bytes, path.string());
    }
    shards_.push_back(std::move(shard));
  }

  // A file of records without a list: in its order, as far as it is whole.
  void scan() {
    add_shard(path_);
    const std::uint64_t size = shards_[0].bytes().size();
    for (std::uint64_t offset = 0; offset < size;) {
      entries_.push_back({.offset = offset});
      try {
        offset += kFrame + record(this->size() - 1).size();
      } catch (const Error&) {
        return;  // thrown again where the entry is read
      }
    }
  }

  void refuse_repeated() const {
    std::vector<std::size_t> order(entries_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto place = [&](std::size_t i) {
      return std::pair(entries_[i].shard, entries_[i].offset);
    };
    std::ranges::sort(order, {}, place);
    if (const auto twice = std::ranges::adjacent_find(order, {}, place); twice != order.end())
      fail(where(static_cast<std::int64_t>(*twice)), "is listed twice",
           "Each image is listed once.");
    const auto name = [&](std::size_t i) { return name_of(entries_[i]); };
    std::erase_if(order, [&](std::size_t i) { return entries_[i].name_size == 0; });
    std::ranges::sort(order, {}, name);
    if (const auto twice = std::ranges::adjacent_find(order, {}, name); twice != order.end())
      fail(where(static_cast<std::int64_t>(*twice)),
           fmt::format("the name {} is there twice", name(*twice)));
  }

  // The data of a record, which its own sum follows.
  std::string_view record(std::int64_t i) const {
    const Entry& entry = at(i);
    const std::string_view all = shards_[entry.shard].bytes();
    if (entry.offset > all.size() || all.size() - entry.offset < kFrame)
      fail(where(i), fmt::format("no record, the file has {} bytes", all.size()), kDamaged);
    const auto length = number_at<std::uint64_t>(all.data() + entry.offset);
    if (number_at<std::uint32_t>(all.data() + entry.offset + 8) !=
        masked_sum(all.substr(entry.offset, 8)))
      fail(where(i), "no record begins here: the check sum of the length differs",
           "Does the list belong to this file?");
    if (length > all.size() - entry.offset - kFrame)
      fail(where(i),
           fmt::format("a record of {} bytes, {} are left in the file", length,
                       all.size() - entry.offset - kFrame),
           kDamaged);
    return all.substr(entry.offset + 12, length);
  }

  // tf.train.Example with the bytes `image` (TFace; or image_raw, or TensorFlow's image/encoded),
  // and where the list has none, the label: the feature that was asked for, else `label` or
  // image/class/label, with the name image/class/text.
  Example example(std::int64_t i) const {
    using Wire = ProtobufFields::Wire;
    Example example;
    if (label_.empty()) example.label = at(i).label;
    bool damaged = false;
    ProtobufFields message(record(i));
    while (message.next()) {
      if (!message.is(1, Wire::bytes)) continue;
      ProtobufFields features(message.bytes());
      while (features.next())
        if (features.is(1, Wire::bytes)) take_feature(features.bytes(), example, damaged, i);
      damaged = damaged || features.damaged();
    }
    if (damaged || message.damaged())
      fail(where(i), "is not a tf.train.Example", "The record is damaged, or of another kind.");
    const std::string features = printable(fmt::format("{}", fmt::join(example.features, ", ")));
    if (example.image.empty())
      fail(where(i), "has no feature 'image' or 'image/encoded' with bytes",
           fmt::format("Its features are {}.", features));
    if (!example.wrong.empty()) fail(where(i), example.wrong);
    const bool nobody = example.label < 0 && example.person.empty();
    if (nobody && !label_.empty())
      fail(where(i), fmt::format("has no label '{}'", printable(label_)),
           fmt::format("Its features are {}.", features));
    if (nobody && at(i).name_size == 0)
      fail(where(i), "has no label from 0 on",
           fmt::format("Give TFace's list, NAME.txt or NAME.index, or name the feature that says "
                       "who it is (--label NAME): {}.",
                       features));
    return example;
  }

  void take_feature(std::string_view entry, Example& example, bool& damaged, std::int64_t i) const {
    using Wire = ProtobufFields::Wire;
    std::string_view key, value;
    ProtobufFields pair(entry);
    while (pair.next()) {
      if (pair.is(1, Wire::bytes)) key = pair.bytes();
      if (pair.is(2, Wire::bytes)) value = pair.bytes();
    }
    damaged = damaged || pair.damaged();
    if (example.features.size() < kNamedFeatures) example.features.push_back(key);
    const bool image = key == "image" || key == "image_raw" || key == "image/encoded";
    const bool text = label_.empty() && key == "image/class/text";
    const bool label =
        label_.empty() ? key == "label" || key == "image/class/label" : key == label_;
    if (!image && !text && (!label || (label_.empty() && at(i).label >= 0))) return;
    ProtobufFields kinds(value);
    while (kinds.next()) {
      if (kinds.wire() != Wire::bytes) continue;
      ProtobufFields list(kinds.bytes());
      while (list.next()) {
        const bool bytes = kinds.number() == 1 && list.is(1, Wire::bytes);
        if (image && bytes) example.image = list.bytes();
        if (text && bytes)
          if (const auto name = parse_label_text(list.bytes())) example.person = name->person;
        if (label && bytes) take_text(list.bytes(), example);
        if (label && kinds.number() == 2) take_float(list, example);
        if (label && kinds.number() == 3) take_label(list, example, i);
      }
      damaged = damaged || list.damaged();
    }
    damaged = damaged || kinds.damaged();
  }

  static void take_text(std::string_view text, Example& example) {
    const auto label = parse_label_text(text);
    if (!label) {
      example.wrong = "the label is neither a whole number from 0 on nor a name";
      return;
    }
    example.label = label->label;
    example.person = label->person;
  }

  // Floats stand one after the other, or packed into bytes.
  static void take_float(const ProtobufFields& list, Example& example) {
    using Wire = ProtobufFields::Wire;
    float value = -1;
    if ((list.is(1, Wire::bytes) || list.is(1, Wire::fixed32)) &&
        list.bytes().size() >= sizeof(value))
      value = number_at<float>(list.bytes().data());
    if (const auto label = whole_number_of(value))
      example.label = *label;
    else
      example.wrong = fmt::format("the label is {}, not a whole number from 0 on", value);
  }

  // Whole numbers stand one after the other, or packed into bytes.
  void take_label(const ProtobufFields& list, Example& example, std::int64_t i) const {
    std::uint64_t label = list.value();
    if (list.is(1, ProtobufFields::Wire::bytes)) {
      // One varint is a field without its tag.
      const std::string field = '\x08' + std::string(list.bytes());
      ProtobufFields packed(field);
      if (!packed.next()) fail(where(i), "the label is damaged");
      label = packed.value();
    }
    if (label >> 62 != 0) fail(where(i), "the label is below 0");
    example.label = static_cast<std::int64_t>(label);
  }

  fs::path path_;
  std::string label_;
  bool is_list_;
  std::vector<Shard> shards_;
  std::string names_;
  std::vector<Entry> entries_;
};

// Of a folder the only list beside which its first shard lies, as img2tfrecord.py lays them out.
std::optional<fs::path> list_of_folder(const fs::path& folder) {
  std::error_code error;
  std::optional<fs::path> list;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (has_ending(it->path(), ".index") &&
        fs::exists(folder / (it->path().stem().string() + "-00000.tfrecord"), ignored)) {
      if (list) return std::nullopt;
      list = it->path();
    }
  }
  return list;
}

bool is_tfrecord(const fs::path& path) {
  constexpr std::array endings = {".tfrecord", ".tfrecords", ".index", ".tfrecord.gz",
                                  ".tfrecords.gz"};
  if (std::ranges::any_of(endings, [&](const char* end) { return has_ending(path, end); }))
    return true;
  // As TensorFlow numbers them: NAME.tfrecord-00000-of-00004.
  const std::string file = path.filename().string();
  if (file.find(".tfrecord-") != std::string::npos && file.find("-of-") != std::string::npos)
    return true;
  return list_of_folder(path).has_value();
}

std::shared_ptr<const ImageArchive> open_tfrecord(const fs::path& path,
                                                  const ArchiveOptions& options) {
  return std::make_shared<TfRecordArchive>(list_of_folder(path).value_or(path), options.label);
}

}  // namespace

ImageArchiveFormat tfrecord_archive() {
  return {"tfrecord",
          "TFace's TFRecord files by their list .index (or .txt), or one .tfrecord, TensorFlow's "
          "too, also "
          ".gz",
          is_tfrecord, open_tfrecord, true};
}

}  // namespace facebench

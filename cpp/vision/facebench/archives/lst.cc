// Lists of image files with labels, as mxnet's im2rec and InsightFace's tools write and take them.
// Source: apache/mxnet, tools/im2rec.py, write_list, read_list; deepinsight/insightface,
// src/data/face2rec2.py, read_list.

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

#include "facebench/archives/internal/formats.h"
#include "facebench/archives/internal/label_text.h"
#include "facebench/archives/internal/tar_format.h"
#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/file.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLines =
    "Expected INDEX, LABEL, PATH (im2rec) or ALIGNED, PATH, LABEL (InsightFace) between tabs.";

bool is_number(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

class ListArchive : public ImageArchive {
 public:
  explicit ListArchive(const fs::path& path) : path_(path), folder_(path.parent_path()) {
    const TextFile text(path);
    std::unordered_set<std::string> seen;
    for (const TextLine& line : text.lines()) {
      if (trim(line.text).empty()) continue;
      const std::string where = fmt::format("{}:{}", text.name(), line.number);
      Entry entry = entry_of(split_tabs(line.text), where);
      entry.line = line.number;
      if (!seen.insert(entry.file).second)
        fail(where, fmt::format("{} is listed twice", printable(entry.file)));
      entries_.push_back(std::move(entry));
    }
    if (entries_.empty()) fail(path.string(), "there is no image in the list");
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(entries_.size()); }
  std::string name(std::int64_t i) const override {
    const Entry& entry = at(i);
    return entry.label.person.empty() ? entry_name(entry.label.label, entry.file)
                                      : entry_name(entry.label.person, entry.file);
  }
  std::int64_t label(std::int64_t i) const override { return at(i).label.label; }
  std::string person(std::int64_t i) const override {
    const Entry& entry = at(i);
    return entry.label.person.empty() ? ImageArchive::person(i) : entry.label.person;
  }
  std::string read(std::int64_t i) const override {
    const fs::path file = folder_ / at(i).file;
    std::error_code error;
    if (!fs::exists(file, error))
      fail(where(i), fmt::format("{} is not there", file.string()),
           "Paths are those from the list's folder: move the list to the images.");
    std::string bytes = read_file(file);
    if (bytes.empty()) fail(where(i), "the image has no bytes");
    return bytes;
  }
  std::string where(std::int64_t i) const override {
    return fmt::format("{}:{}", path_.string(), at(i).line);
  }

 private:
  struct Entry {
    std::string file;
    LabelText label;
    std::int64_t line = 0;
  };

  static Entry entry_of(const std::vector<std::string_view>& fields, const std::string& where) {
    if (fields.size() < 3)
      fail(where, fmt::format("{} fields between tabs", fields.size()), kLines);
    // The path is last, or stands between two numbers.
    const bool of_insightface = !is_number(fields[1]) && is_number(fields[2]);
    std::string_view file = of_insightface ? fields[1] : fields.back();
    const std::string_view label = of_insightface ? fields[2] : fields[1];
    while (file.starts_with("./")) file.remove_prefix(2);
    if (leaves_archive(file) || !is_utf8(file))
      fail(where, fmt::format("'{}' is not a path below the list's folder", printable(file)),
           kLines);
    const auto text = parse_label_text(label);
    if (!text)
      fail(where,
           fmt::format("the label is '{}', neither a whole number from 0 on nor a name",
                       printable(label.substr(0, 40))),
           kLines);
    return {std::string(file), *text};
  }

  const Entry& at(std::int64_t i) const {
    if (i < 0 || i >= size()) throw std::out_of_range("no such entry of the archive");
    return entries_[static_cast<std::size_t>(i)];
  }

  fs::path path_, folder_;
  std::vector<Entry> entries_;
};

}  // namespace

ImageArchiveFormat lst_archive() {
  return {"lst",
          "a .lst of mxnet's im2rec or InsightFace: image files below its folder, with labels",
          [](const fs::path& path) { return has_ending(path, ".lst"); },
          [](const fs::path& path, const ArchiveOptions&) -> std::shared_ptr<const ImageArchive> {
            return std::make_shared<ListArchive>(path);
          }};
}

}  // namespace facebench

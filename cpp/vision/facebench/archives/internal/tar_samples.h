#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/archives/internal/label_text.h"
#include "facebench/archives/internal/tar_format.h"
#include "facebench/io/json.h"

namespace facebench {

// A sample of a tar file.
struct TarSample {
  std::string key;
  std::uint64_t offset = 0, size = 0;  // of the image's bytes
  std::int64_t label = -1;
  std::string person;  // who is called by a name
  std::string wrong;   // a sentence; empty: nothing is
};

// Puts the files of tar files together to samples. By webdataset's rule the files of a sample
// follow each other and share their name up to the first dot of the file's name; endings are
// compared in lower case. Where that would leave images unread or join different ones, since
// people's names have dots (m.01abc_0001.jpg), the last dot divides: in a group without a file
// KEY.jpg, in one without a label for KEY, and for an image that has a label file of its own. It
// then takes that label, or the group's (KEY.cls, or the only one: 0001.target.cls). Source:
// webdataset/webdataset, tariterators.py base_plus_ext, group_by_keys.
class TarGrouping {
 public:
  using Take = std::function<void(TarSample&&)>;

  // `label` is that of ArchiveOptions: an ending, or a key of .json (a.b within an object).
  explicit TarGrouping(std::string label);

  void add(TarMember&& member, std::span<const std::byte> bytes, const Take& take);
  // At the end of a tar file.
  void finish(std::span<const std::byte> bytes, const Take& take);

  // Throws Error where the label that was asked for is nowhere.
  void refuse_absent_label(const std::string& where) const;
  std::string label_places() const;
  std::vector<std::string> notes() const;

 private:
  struct File {
    TarMember member;
    std::string stem;         // up to the dot that divides
    std::string ending;       // behind it, in lower case
    std::string full_ending;  // behind the first dot
    bool plain = false;       // the first dot divides
    bool image = false;
  };
  struct Found {
    LabelText text;
    bool there = false;
    std::string wrong;
  };

  // Images and labels of each name up to the last dot.
  using OfStem =
      std::map<std::string, std::pair<std::vector<const File*>, std::vector<const File*>>>;
  static std::vector<std::string>::iterator label_field(const std::string& key, bool plain_image,
                                                        std::vector<std::string>& stems,
                                                        OfStem& of_stem);
  File file_of(TarMember&& member, std::size_t first_dot) const;
  bool is_label_file(const File& file) const;
  Found label_in(const std::vector<const File*>& files, std::span<const std::byte> bytes);
  Found label_in_json(const Json& json);
  void emit(const std::string& key, const std::vector<const File*>& images,
            const std::vector<const File*>& labels, std::span<const std::byte> bytes,
            const Take& take);
  void leave_out(const File& file);

  std::string label_;
  std::string key_;  // of the group, up to the first dot
  std::vector<File> group_;
  std::set<std::string> endings_, json_keys_;   // where a label could be
  std::map<std::string, std::int64_t> unread_;  // by ending
  std::vector<std::filesystem::path> litter_;
  std::int64_t labelled_ = 0, contradictions_ = 0;
};

}  // namespace facebench

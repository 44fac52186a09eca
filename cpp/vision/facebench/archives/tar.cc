// webdataset's tar files, plain or compressed, and zip files, one or many (internal/tar_samples.h).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <unordered_map>

#include "facebench/archives/internal/formats.h"
#include "facebench/archives/internal/tar_format.h"
#include "facebench/archives/internal/tar_samples.h"
#include "facebench/archives/internal/unfolded.h"
#include "facebench/archives/remote.h"
#include "facebench/archives/shard_names.h"
#include "facebench/core/error.h"
#include "facebench/core/natural_order.h"
#include "facebench/io/file.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kUnfoldedShards = 2;  // that are kept in memory
constexpr std::size_t kMostShards = 1'000'000;

bool is_zip(const fs::path& path) { return has_ending(path, ".zip"); }
bool is_tar(const fs::path& path) { return has_ending(path, ".tar"); }
bool is_folded_tar(const fs::path& path) {
  constexpr std::array endings = {".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz",
                                  ".tar.xz", ".txz", ".tar.zst", ".tzst", ".tar.lz4"};
  return std::ranges::any_of(endings, [&](const char* e) { return has_ending(path, e); });
}

// Tar and zip files of which parts can be read: mapped, or unfolded or fetched as a whole and kept
// for a while.
class Shards {
 public:
  explicit Shards(std::vector<fs::path> paths) : paths_(std::move(paths)) {
    for (fs::path& path : paths_) {
      const std::optional<std::string> address = remote_address(path);
      if (address) path = *address;
      remote_.push_back(address.has_value());
      files_.push_back(address ? MappedFile() : MappedFile(path));
    }
  }

  const std::vector<fs::path>& paths() const { return paths_; }

  // Calls use(bytes of the shard, its members where it lists them itself) while they are there.
  template <class Use>
  void with(std::size_t shard, const Use& use) const {
    static const std::optional<std::vector<TarMember>> none;
    const std::span<const std::byte> mapped = files_[shard].bytes();
    if (!remote_[shard] && !begins_folded(mapped)) return use(mapped, none);
    const std::shared_ptr<const Unfolded> held = unfolded(shard);
    use(std::as_bytes(std::span(held->bytes)), held->members);
  }

 private:
  std::shared_ptr<const Unfolded> unfolded(std::size_t shard) const {
    const std::lock_guard lock(mutex_);
    for (auto it = recent_.begin(); it != recent_.end(); ++it)
      if (it->first == shard) {
        recent_.splice(recent_.begin(), recent_, it);
        return recent_.front().second;
      }
    if (recent_.size() >= kUnfoldedShards) recent_.pop_back();
    recent_.emplace_front(shard, std::make_shared<const Unfolded>(held(shard)));
    return recent_.front().second;
  }

  Unfolded held(std::size_t shard) const {
    const std::string where = paths_[shard].string();
    if (!remote_[shard]) return unfold_archive(files_[shard].bytes(), where);
    std::string fetched = read_remote(where);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(fetched));
    if (begins_folded(bytes)) return unfold_archive(bytes, where);
    return {std::move(fetched), {}};
  }

  std::vector<fs::path> paths_;
  std::vector<bool> remote_;
  std::vector<MappedFile> files_;  // of those on this machine
  mutable std::mutex mutex_;
  mutable std::list<std::pair<std::size_t, std::shared_ptr<const Unfolded>>> recent_;
};

struct Entry {
  std::uint64_t offset = 0, size = 0;
  std::int64_t label = -1;
  std::uint64_t name = 0;  // where it begins among all names
  std::uint32_t name_size = 0;
  std::uint32_t shard = 0;
  std::uint32_t person = 0;  // place among the names of people; 0 = its label alone
};

class TarArchive : public ImageArchive {
 public:
  TarArchive(const fs::path& path, std::vector<fs::path> shards, std::string label,
             std::string shards_note)
      : path_(path),
        shards_(std::move(shards)),
        grouping_(std::move(label)),
        shards_note_(std::move(shards_note)) {
    for (std::size_t shard = 0; shard < shards_.paths().size(); ++shard)
      shards_.with(shard, [&](std::span<const std::byte> bytes, const auto& members) {
        index(shard, bytes, members);
      });
    grouping_.refuse_absent_label(path.string());
    if (entries_.empty()) fail(path.string(), "there is no image in the archive");
    refuse_repeated();
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(entries_.size()); }
  std::string name(std::int64_t i) const override {
    const Entry& entry = sound(i);
    const std::string name = entry.person == 0 ? entry_name(entry.label, key(entry))
                                               : entry_name(people_[entry.person], key(entry));
    if (!repeated_) return name;
    return fmt::format("{}/{}", shards_.paths()[entry.shard].stem().string(), name);
  }
  std::int64_t label(std::int64_t i) const override { return sound(i).label; }
  std::string person(std::int64_t i) const override {
    const Entry& entry = sound(i);
    return entry.person == 0 ? ImageArchive::person(i) : people_[entry.person];
  }
  std::string label_places() const override { return grouping_.label_places(); }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = grouping_.notes();
    if (!shards_note_.empty()) notes.push_back(shards_note_);
    return notes;
  }
  std::string read(std::int64_t i) const override {
    const Entry& entry = sound(i);
    std::string bytes;
    shards_.with(entry.shard, [&](std::span<const std::byte> all, const auto&) {
      if (entry.offset > all.size() || entry.size > all.size() - entry.offset)
        fail(where(i), "the file has changed since it was opened");
      bytes.assign(reinterpret_cast<const char*>(all.data()) + entry.offset, entry.size);
    });
    return bytes;
  }
  std::string where(std::int64_t i) const override {
    const Entry& entry = at(i);
    return fmt::format("{}: sample {} (byte {})", shards_.paths()[entry.shard].string(), key(entry),
                       entry.offset);
  }

 private:
  const Entry& at(std::int64_t i) const {
    if (i < 0 || i >= size()) throw std::out_of_range("no such entry of the archive");
    return entries_[static_cast<std::size_t>(i)];
  }
  const Entry& sound(std::int64_t i) const {
    const Entry& entry = at(i);
    const auto wrong =
        std::ranges::lower_bound(damaged_, i, {}, [](const auto& d) { return d.first; });
    if (wrong != damaged_.end() && wrong->first == i) throw Error(wrong->second);
    return entry;
  }
  std::string_view key(const Entry& entry) const {
    return std::string_view(names_).substr(entry.name, entry.name_size);
  }

  void index(std::size_t shard, std::span<const std::byte> bytes,
             const std::optional<std::vector<TarMember>>& members) {
    const std::string where = shards_.paths()[shard].string();
    const auto take = [&](TarSample&& sample) { add(shard, std::move(sample)); };
    if (!members && is_zip(shards_.paths()[shard]))
      fail(where, "is not a zip file, by its first bytes");
    bool damage = false;
    const auto group = [&](TarMember&& member) { grouping_.add(std::move(member), bytes, take); };
    try {
      if (members)
        for (const TarMember& member : *members) group(TarMember(member));
      else
        read_tar(bytes, where, group, damage);
    } catch (const Error& e) {
      if (!damage) throw;
      grouping_.finish(bytes, take);
      damaged_.emplace_back(size(), e.what());
      entries_.push_back({.shard = static_cast<std::uint32_t>(shard)});
      return;
    }
    grouping_.finish(bytes, take);
  }

  void add(std::size_t shard, TarSample&& sample) {
    Entry entry;
    entry.shard = static_cast<std::uint32_t>(shard);
    entry.name = names_.size();
    entry.name_size = static_cast<std::uint32_t>(sample.key.size());
    names_ += sample.key;
    entry.label = sample.label;
    entry.offset = sample.offset;
    entry.size = sample.size;
    if (!sample.person.empty()) entry.person = place_of_person(sample.person);
    entries_.push_back(entry);
    if (!sample.wrong.empty())
      damaged_.emplace_back(size() - 1, fmt::format("{}: {}.", where(size() - 1), sample.wrong));
  }

  std::uint32_t place_of_person(const std::string& name) {
    const auto [at, fresh] = places_.try_emplace(name, static_cast<std::uint32_t>(people_.size()));
    if (fresh) people_.push_back(name);
    return at->second;
  }

  // One name twice in a shard is damage; shards of their own numbering are told apart by theirs.
  void refuse_repeated() {
    std::vector<std::uint32_t> order(entries_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::erase_if(order, [&](std::uint32_t i) { return entries_[i].name_size == 0; });
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
      const int names = key(entries_[a]).compare(key(entries_[b]));
      return names != 0 ? names < 0 : a < b;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const Entry &a = entries_[order[i - 1]], &b = entries_[order[i]];
      if (key(a) != key(b)) continue;
      repeated_ = true;
      if (a.shard == b.shard)
        fail(where(order[i]), fmt::format("the sample is there twice, first at byte {}", a.offset),
             "Names of samples are unique, and the files of a sample follow each other.");
    }
  }

  fs::path path_;
  Shards shards_;
  TarGrouping grouping_;
  std::string shards_note_;
  std::string names_;
  std::vector<std::string> people_{""};  // who are called by a name, from 1 on
  std::unordered_map<std::string, std::uint32_t> places_;
  std::vector<Entry> entries_;
  std::vector<std::pair<std::int64_t, std::string>> damaged_;  // ascending
  bool repeated_ = false;
};

// "x-{000..003}.tar" and "x-{a,b}.tar" as the paths that they stand for.
void expand_braces(const std::string& text, std::vector<fs::path>& out) {
  const std::size_t open = text.find('{'), close = text.find('}', open);
  if (open == std::string::npos || close == std::string::npos) {
    if (out.size() >= kMostShards) fail(text, "the pattern stands for more than a million files");
    out.emplace_back(text);
    return;
  }
  const std::string before = text.substr(0, open), inside = text.substr(open + 1, close - open - 1),
                    after = text.substr(close + 1);
  if (const std::size_t dots = inside.find(".."); dots != std::string::npos) {
    const auto first = whole_number(inside.substr(0, dots)),
               last = whole_number(inside.substr(dots + 2));
    if (!first || !last || *last < *first ||
        *last - *first >= static_cast<std::int64_t>(kMostShards))
      fail(text, fmt::format("'{{{}}}' is not a range of numbers", inside), "Expected {000..099}.");
    for (std::int64_t i = *first; i <= *last; ++i)
      expand_braces(before + fmt::format("{:0{}}", i, dots) + after, out);
    return;
  }
  for (std::size_t begin = 0; begin <= inside.size();) {
    const std::size_t end = std::min(inside.find(',', begin), inside.size());
    expand_braces(before + inside.substr(begin, end - begin) + after, out);
    begin = end + 1;
  }
}

bool is_any_tar(const fs::path& path) { return is_tar(path) || is_folded_tar(path); }

bool is_tar_path(const fs::path& path) {
  if (is_any_tar(path)) return true;
  std::error_code error;
  if (!fs::is_directory(path, error)) return false;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
    if (is_any_tar(it->path()) && it->is_regular_file(error)) return true;
  return false;
}

template <bool (*is_shard)(const fs::path&)>
std::shared_ptr<const ImageArchive> open_shards(const fs::path& path,
                                                const ArchiveOptions& options) {
  std::vector<fs::path> shards;
  std::string note;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error))
      if (is_shard(it->path())) shards.push_back(it->path());
    if (error) fail(path.string(), "cannot list the folder: " + error.message());
    if (shards.empty())
      fail(path.string(),
           fmt::format("there is no {} file in this folder", is_shard == is_zip ? ".zip" : ".tar"));
    std::ranges::sort(shards, [](const fs::path& a, const fs::path& b) {
      return natural_less(a.filename().string(), b.filename().string());
    });
    std::vector<std::string> names;
    for (const fs::path& shard : shards) names.push_back(shard.filename().string());
    require_all_shards(names, path.string());
    note = numbering_note(names);
  } else if (fs::exists(path, error)) {
    shards.push_back(path);
    note = shard_note(path.filename().string());
  } else {
    expand_braces(path.string(), shards);
  }
  return std::make_shared<TarArchive>(path, std::move(shards), options.label, std::move(note));
}

}  // namespace

ImageArchiveFormat tar_archive() {
  return {"tar",
          "webdataset's .tar, also .gz, .bz2, .xz, .zst, .lz4, a folder of them, or a pattern: "
          "shards-{000..099}.tar",
          is_tar_path, open_shards<is_any_tar>, true};
}

ImageArchiveFormat zip_archive() {
  return {"zip",
          "a .zip of images in folders or in webdataset's form, a folder of them, or a pattern",
          is_zip, open_shards<is_zip>, true};
}

}  // namespace facebench

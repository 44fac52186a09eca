#include "facebench/archives/internal/unfolded.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <utility>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/internal/confined_child.h"
#include "facebench/io/internal/memory_number.h"
#include "facebench/io/internal/unfold.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kSmall = 64 << 20, kMostFolded = 64, kMost = std::uint64_t{8} << 30;
constexpr std::size_t kPiece = 1 << 16;
constexpr const char* kGetAgain = "The file is cut off or damaged: get it again";

struct Free {
  void operator()(archive* a) const { archive_read_free(a); }
};
using Reader = std::unique_ptr<archive, Free>;

enum class Kind { gzip, xz, other };
struct Beginning {
  std::string_view bytes;
  Kind kind;
  int filter = 0;  // of libarchive; 0: a zip
};
constexpr std::array<Beginning, 7> kBeginnings{
    {{"\x1f\x8b\x08"sv, Kind::gzip},
     {"\xfd\x37zXZ\0"sv, Kind::xz},
     {"BZh"sv, Kind::other, ARCHIVE_FILTER_BZIP2},
     {"\x28\xb5\x2f\xfd"sv, Kind::other, ARCHIVE_FILTER_ZSTD},
     {"\x04\x22\x4d\x18"sv, Kind::other, ARCHIVE_FILTER_LZ4},
     {"PK\x03\x04"sv, Kind::other},
     {"PK\x05\x06"sv, Kind::other}}};  // an empty one

const Beginning* beginning_of(std::span<const std::byte> bytes) {
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Beginning& one : kBeginnings)
    if (head.starts_with(one.bytes)) return &one;
  return nullptr;
}

[[noreturn]] void refuse(archive* a, std::string_view where) {
  const char* said = archive_error_string(a);
  fail(where, fmt::format("cannot be unfolded: {}", printable(said ? said : "no reason is given")),
       kGetAgain);
}

// Warnings are errors: a check sum that is wrong is one.
void require(int status, archive* a, std::string_view where) {
  if (status != ARCHIVE_OK) refuse(a, where);
}

std::uint64_t most_unfolded(std::uint64_t folded) {
  return std::min(kMost, std::max(kSmall, kMostFolded * folded));
}

// Adds what is left of the entry to `out`, which grows to at most what such a file may unfold to.
void add_data(archive* a, std::size_t folded, std::string_view where, std::string& out) {
  const std::uint64_t most = most_unfolded(folded);
  std::array<char, kPiece> piece;
  for (;;) {
    const la_ssize_t n = archive_read_data(a, piece.data(), piece.size());
    if (n < 0) refuse(a, where);
    if (n == 0) return;
    if (out.size() + static_cast<std::uint64_t>(n) > most)
      fail(where, fmt::format("unfolds from {} to more than {} bytes", folded, most),
           "Encoded images hardly shrink: this is not an archive of images");
    out.append(piece.data(), static_cast<std::size_t>(n));
  }
}

Reader open(std::span<const std::byte> bytes, std::string_view where, int filter) {
  Reader reader(archive_read_new());
  archive* const a = reader.get();
  if (a == nullptr) throw std::bad_alloc();
  // The filter is named, so that what lies within is not unfolded once more.
  if (filter != 0) {
    require(archive_read_append_filter(a, filter), a, where);
    require(archive_read_support_format_raw(a), a, where);
  } else {
    require(archive_read_support_format_zip_seekable(a), a, where);
  }
  require(archive_read_open_memory(a, bytes.data(), bytes.size()), a, where);
  return reader;
}

std::string unfold_filtered(std::span<const std::byte> bytes, std::string_view where, int filter) {
  const Reader reader = open(bytes, where, filter);
  archive_entry* entry = nullptr;
  std::string out;
  const int status = archive_read_next_header(reader.get(), &entry);
  if (status == ARCHIVE_EOF) return out;
  require(status, reader.get(), where);
  add_data(reader.get(), bytes.size(), where, out);
  return out;
}

std::string name_of(archive_entry* entry, std::string_view where, std::size_t number) {
  // The other form is that of names without the mark that they are UTF-8.
  const char* name = archive_entry_pathname_utf8(entry);
  if (name == nullptr) name = archive_entry_pathname(entry);
  if (name == nullptr || !is_utf8(name))
    fail(where, fmt::format("the name of file {} is not UTF-8", number),
         "Make the archive anew, with names in UTF-8");
  return name;
}

// How many files the end of a zip says it lists; -1 where 16 bits do not hold it, or nothing says
// so. libarchive passes over entries that share their data with one before.
std::int64_t listed_files(std::span<const std::byte> bytes) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t end = all.rfind("PK\x05\x06");
  if (end == std::string_view::npos || all.size() - end < 22) return -1;
  const auto count = number_at<std::uint16_t>(all.data() + end + 10);
  return count == 0xffff ? -1 : count;
}

Unfolded unzip(std::span<const std::byte> bytes, std::string_view where) {
  const Reader reader = open(bytes, where, 0);
  archive* const a = reader.get();
  Unfolded found;
  std::vector<TarMember>& members = found.members.emplace();
  archive_entry* entry = nullptr;
  for (std::size_t number = 0;; ++number) {
    const int status = archive_read_next_header(a, &entry);
    if (status == ARCHIVE_EOF) {
      const std::int64_t listed = listed_files(bytes);
      if (listed >= 0 && static_cast<std::size_t>(listed) != number)
        fail(where, fmt::format("lists {} files and holds {}", listed, number), kGetAgain);
      return found;
    }
    require(status, a, where);
    TarMember member{name_of(entry, where, number), found.bytes.size(), 0};
    if (archive_entry_filetype(entry) == AE_IFDIR) continue;
    const auto refuse_file = [&](std::string_view what) {
      fail(where, fmt::format("'{}' {}", printable(member.name.substr(0, 80)), what),
           "Only regular files with relative names are read");
    };
    if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr)
      refuse_file("is not a regular file");
    if (leaves_archive(member.name)) refuse_file("is a name that leaves the archive");
    if (archive_entry_is_encrypted(entry) != 0) refuse_file("is encrypted");
    add_data(a, bytes.size(), where, found.bytes);
    member.size = found.bytes.size() - member.offset;
    members.push_back(std::move(member));
  }
}

// By libarchive; `filter`: of a tar file, 0 of a zip.
Unfolded by_libarchive(std::span<const std::byte> bytes, std::string_view where, int filter) {
  return filter == 0 ? unzip(bytes, where) : Unfolded{unfold_filtered(bytes, where, filter), {}};
}

std::string packed(const Unfolded& found) {
  Packed out;
  out.add(std::string_view(found.bytes));
  out.add(std::uint64_t{found.members ? found.members->size() + 1 : 0});
  if (found.members)
    for (const TarMember& member : *found.members) {
      out.add(std::string_view(member.name));
      out.add(member.size);
    }
  return out.bytes();
}

Unfolded unpacked(Packed& in) {
  Unfolded found{in.text(), {}};
  std::uint64_t members = in.number(), at = 0;
  if (members-- == 0) return found;
  found.members.emplace();
  for (; members > 0; --members) {
    TarMember member{in.text(), at, in.number()};
    if (leaves_archive(member.name) || !is_utf8(member.name) ||
        member.size > found.bytes.size() - at)
      throw std::length_error("no member");
    at += member.size;
    found.members->push_back(std::move(member));
  }
  return found;
}

// The same, where strangers' files are read in a child process that can do nothing else.
Unfolded by_confined_libarchive(std::span<const std::byte> bytes, std::string_view where,
                                int filter) {
  const std::uint64_t most = most_unfolded(bytes.size());
  const ConfinedLimits limits{.memory = 4 * most + (256ull << 20),
                              .seconds = 10 + bytes.size() / 1'000'000,
                              .answer_bytes = most + bytes.size() + (1ull << 20)};
  const std::string place(where);
  ConfinedChild child(place, limits, [&] {
    return [&](const Packed&) { return packed(by_libarchive(bytes, where, filter)); };
  });
  return child.ask_for(Packed(), place, unpacked);
}

}  // namespace

bool begins_folded(std::span<const std::byte> bytes) { return beginning_of(bytes) != nullptr; }

Unfolded unfold_archive(std::span<const std::byte> bytes, std::string_view where) {
  const Beginning* one = beginning_of(bytes);
  if (one == nullptr) fail(where, "is not compressed");
  switch (one->kind) {
    case Kind::gzip:
      return {unfold_gzip(bytes, where), {}};
    case Kind::xz:
      return {unfold_xz(bytes, where), {}};
    default:
      return (readers_are_confined() ? by_confined_libarchive : by_libarchive)(bytes, where,
                                                                               one->filter);
  }
}

}  // namespace facebench

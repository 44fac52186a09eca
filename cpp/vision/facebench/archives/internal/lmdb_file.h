#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "facebench/io/file.h"

namespace facebench {

// The main database of an LMDB file, read only: keys and values in a B+ tree of pages. liblmdb
// trusts its file (a damaged page ends the process), and data here comes from anywhere; so every
// place that a page names is checked before it is followed. Changes that another process makes
// while the file is open are not seen. Source: LMDB 0.9.31, mdb.c, MDB_page, MDB_node, MDB_meta.
class LmdbFile {
 public:
  // Throws Error for a file that is not an LMDB data file of version 1 in little-endian order, that
  // is cut off, and for a database with duplicate values or numbers as keys.
  explicit LmdbFile(const std::filesystem::path& path);

  std::uint64_t entries() const { return entries_; }
  // The value of a key, valid as long as this object; data() is null where the key is not there.
  // Throws Error naming file and page where the tree is damaged.
  std::string_view find(std::string_view key) const;
  // Calls use(key) for every key, in ascending order of the bytes. Throws Error as find() does.
  void for_each_key(const std::function<void(std::string_view)>& use) const;

 private:
  struct Page;
  struct Node;

  bool read_meta(std::size_t offset);
  [[noreturn]] void refuse(std::uint64_t page, std::string_view what) const;
  Page page(std::uint64_t number) const;
  Node node(const Page& page, std::size_t i) const;
  std::string_view value(const Page& page, const Node& node) const;
  void walk(std::uint64_t number, int depth, std::uint64_t& left,
            const std::function<void(std::string_view)>& use) const;

  std::filesystem::path path_;
  MappedFile file_;
  std::uint64_t page_size_ = 0, last_page_ = 0, root_ = 0, entries_ = 0, transaction_ = 0;
  std::uint16_t flags_ = 0;
};

}  // namespace facebench

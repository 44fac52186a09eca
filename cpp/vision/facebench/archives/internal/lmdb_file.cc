#include "facebench/archives/internal/lmdb_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "facebench/core/error.h"
#include "facebench/io/internal/memory_number.h"

namespace facebench {
namespace {

constexpr std::uint32_t kMagic = 0xBEEFC0DE;
constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
constexpr std::size_t kPageHeader = 16, kNodeHeader = 8;
constexpr std::size_t kMeta = 16 + 24 + 2 * 48 + 16;  // a meta page's bytes that count
constexpr int kMostLevels = 32;                       // MDB's CURSOR_STACK
enum PageFlags : std::uint16_t { kBranch = 1, kLeaf = 2, kOverflow = 4, kLeafOfNumbers = 32 };
enum NodeFlags : std::uint16_t { kBigData = 1 };  // sub-databases and duplicates are 2 and 4

}  // namespace

struct LmdbFile::Page {
  std::uint64_t number = 0;
  const std::byte* data = nullptr;
  bool leaf = false;
  std::size_t nodes = 0;
};

struct LmdbFile::Node {
  std::string_view key;
  std::uint64_t child = 0;  // of a branch
  std::uint32_t size = 0;   // of the value of a leaf
  std::uint16_t flags = 0;
  std::size_t data = 0;  // where the value, or the number of its page, begins in the page
};

LmdbFile::LmdbFile(const std::filesystem::path& path) : path_(path), file_(path) {
  const std::string where = path_.string();
  const auto bytes = file_.bytes();
  if (bytes.size() < kMeta) fail(where, "is too short for an LMDB file");
  if (number_at<std::uint32_t>(bytes.data() + 16) != kMagic)
    fail(where, "is not an LMDB data file, by its first bytes",
         "Give data.mdb or its folder, written on a 64-bit little-endian machine.");
  if (const auto version = number_at<std::uint32_t>(bytes.data() + 20); version != 1)
    fail(where, fmt::format("is of LMDB's data version {}, version 1 is read", version),
         "Copy it with mdb_dump and mdb_load of LMDB 0.9.");
  // Two descriptions of the database, of which the newer one holds.
  const bool first = read_meta(0);
  const std::uint64_t size = number_at<std::uint32_t>(bytes.data() + 40);
  const bool second = size >= 256 && size <= 65536 && read_meta(size);
  if (!first && !second) fail(where, "both descriptions of the database are damaged");
  if (flags_ != 0)
    fail(where,
         fmt::format("the database has flags {:#x} (duplicate values, or other keys)", flags_),
         "Images are kept under plain keys, one value each.");
  if (last_page_ >= bytes.size() / page_size_)
    fail(where,
         fmt::format("page {} is the last one, the file ends after {}", last_page_,
                     bytes.size() / page_size_),
         "The file is cut off: copy it again.");
}

bool LmdbFile::read_meta(std::size_t offset) {
  const auto bytes = file_.bytes();
  if (bytes.size() < kMeta || offset > bytes.size() - kMeta) return false;
  const std::byte* meta = bytes.data() + offset + 16;
  const std::byte* databases = meta + 24;  // of free pages, then the main one
  const std::uint64_t page_size = number_at<std::uint32_t>(databases);
  const auto transaction = number_at<std::uint64_t>(databases + 104);
  if (number_at<std::uint32_t>(meta) != kMagic || number_at<std::uint32_t>(meta + 4) != 1 ||
      page_size < 256 || page_size > 65536 || (page_size & (page_size - 1)) != 0 ||
      (page_size_ != 0 && (page_size != page_size_ || transaction <= transaction_)))
    return false;
  const std::byte* main = databases + 48;
  page_size_ = page_size;
  transaction_ = transaction;
  flags_ = number_at<std::uint16_t>(main + 4);
  entries_ = number_at<std::uint64_t>(main + 32);
  root_ = number_at<std::uint64_t>(main + 40);
  last_page_ = number_at<std::uint64_t>(databases + 96);
  return true;
}

void LmdbFile::refuse(std::uint64_t page, std::string_view what) const {
  fail(fmt::format("{}: page {}", path_.string(), page), what,
       "The file is damaged: copy it again.");
}

LmdbFile::Page LmdbFile::page(std::uint64_t number) const {
  if (number < 2 || number > last_page_) refuse(number, "a place in the tree that is not a page");
  const std::byte* data = file_.bytes().data() + number * page_size_;
  const auto flags = number_at<std::uint16_t>(data + 10);
  const auto lower = number_at<std::uint16_t>(data + 12);
  if (number_at<std::uint64_t>(data) != number) refuse(number, "the page has another number");
  const bool leaf = (flags & kLeaf) != 0;
  if (leaf == ((flags & kBranch) != 0) || (flags & (kOverflow | kLeafOfNumbers)) != 0)
    refuse(number, "is neither a branch nor a leaf");
  if (lower < kPageHeader || lower > page_size_ || lower % 2 != 0)
    refuse(number, "its list of entries leaves the page");
  return {number, data, leaf, (lower - kPageHeader) / 2};
}

LmdbFile::Node LmdbFile::node(const Page& page, std::size_t i) const {
  const std::size_t at = number_at<std::uint16_t>(page.data + kPageHeader + 2 * i);
  if (at < kPageHeader + 2 * page.nodes || at > page_size_ - kNodeHeader)
    refuse(page.number, "an entry leaves the page");
  const auto low = number_at<std::uint16_t>(page.data + at),
             high = number_at<std::uint16_t>(page.data + at + 2);
  Node node;
  node.flags = number_at<std::uint16_t>(page.data + at + 4);
  const std::size_t key_size = number_at<std::uint16_t>(page.data + at + 6);
  if (key_size > page_size_ - kNodeHeader - at) refuse(page.number, "a key leaves the page");
  node.key = {reinterpret_cast<const char*>(page.data) + at + kNodeHeader, key_size};
  node.data = at + kNodeHeader + key_size;
  if (page.leaf)
    node.size = static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16;
  else
    node.child = std::uint64_t{low} | std::uint64_t{high} << 16 | std::uint64_t{node.flags} << 32;
  return node;
}

std::string_view LmdbFile::value(const Page& page, const Node& node) const {
  const auto bytes = file_.bytes();
  if ((node.flags & ~kBigData) != 0) refuse(page.number, "an entry is a database of its own");
  if ((node.flags & kBigData) == 0) {
    if (node.size > page_size_ - node.data) refuse(page.number, "a value leaves the page");
    return {reinterpret_cast<const char*>(page.data) + node.data, node.size};
  }
  if (page_size_ - node.data < 8) refuse(page.number, "a value leaves the page");
  const auto first = number_at<std::uint64_t>(page.data + node.data);
  if (first < 2 || first > last_page_) refuse(page.number, "a value lies outside of the file");
  const std::uint64_t begin = first * page_size_, end = (last_page_ + 1) * page_size_;
  if ((number_at<std::uint16_t>(bytes.data() + begin + 10) & kOverflow) == 0 ||
      end - begin < kPageHeader + node.size)
    refuse(first, fmt::format("does not begin a value of {} bytes", node.size));
  return {reinterpret_cast<const char*>(bytes.data()) + begin + kPageHeader, node.size};
}

std::string_view LmdbFile::find(std::string_view key) const {
  if (root_ == kNoPage) return {};
  std::uint64_t number = root_;
  for (int level = 0; level < kMostLevels; ++level) {
    const Page at = page(number);
    // The last entry whose key is not above; a branch's first key counts as below all.
    std::size_t begin = at.leaf ? 0 : 1, end = at.nodes;
    while (begin < end) {
      const std::size_t middle = begin + (end - begin) / 2;
      if (node(at, middle).key <= key)
        begin = middle + 1;
      else
        end = middle;
    }
    if (begin == 0) return {};
    if (at.nodes == 0) refuse(number, "a branch without entries");
    const Node entry = node(at, begin - 1);
    if (at.leaf) return entry.key == key ? value(at, entry) : std::string_view();
    number = entry.child;
  }
  refuse(root_, "the tree has too many levels");
}

void LmdbFile::for_each_key(const std::function<void(std::string_view)>& use) const {
  if (root_ == kNoPage) return;
  std::uint64_t left = last_page_ + 1;  // pages that may be visited: each is in the tree once
  walk(root_, 0, left, use);
}

void LmdbFile::walk(std::uint64_t number, int depth, std::uint64_t& left,
                    const std::function<void(std::string_view)>& use) const {
  if (depth >= kMostLevels || left-- == 0) refuse(number, "the tree leads in a circle");
  const Page at = page(number);
  for (std::size_t i = 0; i < at.nodes; ++i) {
    const Node entry = node(at, i);
    if (at.leaf)
      use(entry.key);
    else
      walk(entry.child, depth + 1, left, use);
  }
}

}  // namespace facebench

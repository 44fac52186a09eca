#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

namespace facebench {

// The index of a RecordIO file: lines "KEY<TAB>OFFSET", both decimal, in any order. Kept by key: 8
// bytes an entry where keys leave few gaps, 16 else.
class RecIndex {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  RecIndex() = default;
  // Reads the file in pieces. Throws Error with file and line for a line that is no such pair and
  // for a key that is there twice; where an offset points is checked when it is followed.
  explicit RecIndex(const std::filesystem::path& path);

  // Adds an entry; false where the key is there already or cannot be one.
  bool add(std::uint64_t key, std::uint64_t offset);
  // The offset of a key; kNone where the index has none.
  std::uint64_t find(std::uint64_t key) const;
  // The largest offset that was added; 0 without any.
  std::uint64_t largest_offset() const { return largest_offset_; }
  // How many of the keys have an offset that a smaller key has, too.
  std::int64_t count_shared() const;
  // Only the keys in [begin, end) stay; they are numbered in ascending order from then on.
  void keep(std::uint64_t begin, std::uint64_t end);

  std::int64_t size() const;
  std::uint64_t key(std::int64_t number) const;
  std::uint64_t offset(std::int64_t number) const;

 private:
  void sort();
  void make_sparse();

  std::uint64_t most_dense_ = 1 << 20;
  std::uint64_t largest_offset_ = 0;
  bool sparse_ = false;
  std::uint64_t base_ = 0;                                    // key of offsets_[0], after keep()
  std::vector<std::uint64_t> offsets_;                        // by key; kNone: no such key
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all_;  // (key, offset), where sparse
};

}  // namespace facebench

#include "facebench/archives/internal/rec_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

#include "facebench/core/error.h"

namespace facebench {
namespace {

constexpr std::uint64_t kLargest = std::uint64_t{1} << 62;
constexpr std::size_t kPiece = 1 << 20;

// Cuts the text into numbers as it comes: two a line.
class LineParser {
 public:
  LineParser(const std::filesystem::path& path, RecIndex& index) : path_(path), index_(index) {}

  void feed(const char* at, const char* end) {
    for (;;) {
      if (field_ == 0 && digits_[0] == 0) at = whole_lines(at, end);
      if (at == end) return;
      step(*at++);
    }
  }
  void finish_line() {
    if (field_ == 1 && digits_[0] > 0 && digits_[1] > 0) {
      if (!index_.add(value_[0], value_[1]))
        refuse(fmt::format("key {} is there twice", value_[0]));
    } else if (field_ == 1 || digits_[0] > 0) {
      refuse("expected KEY<TAB>OFFSET in decimal digits");
    }
    value_ = {};
    digits_ = {};
    field_ = 0;
    ++line_;
  }

 private:
  // The lines that are as they should be, fast; where the first other one, or one that the piece
  // cuts, begins.
  const char* whole_lines(const char* begin, const char* end) {
    const auto number = [end](const char*& at, std::uint64_t& value) {
      const char* first = at;
      for (value = 0; at != end && *at >= '0' && *at <= '9'; ++at)
        value = value * 10 + static_cast<std::uint64_t>(*at - '0');
      return at != first && at - first < 19;
    };
    for (const char* at = begin; at != end; begin = at) {
      std::uint64_t key = 0, offset = 0;
      if (!number(at, key) || at == end || *at++ != '\t' || !number(at, offset) || at == end ||
          *at++ != '\n')
        return begin;
      if (!index_.add(key, offset)) refuse(fmt::format("key {} is there twice", key));
      ++line_;
    }
    return begin;
  }

  void step(char c) {
    if (c >= '0' && c <= '9') {
      std::uint64_t& value = value_[field_];
      if (value >= kLargest / 10) refuse("a number is too large");
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
      ++digits_[field_];
    } else if (c == '\t' && field_ == 0) {
      field_ = 1;
    } else if (c == '\n') {
      finish_line();
    } else if (c != '\r') {
      refuse("expected KEY<TAB>OFFSET in decimal digits");
    }
  }

  [[noreturn]] void refuse(std::string_view what) const {
    fail(at_line(path_.string(), line_), what,
         "The index is damaged or of another kind; without it the .rec file is read in its order.");
  }

  const std::filesystem::path& path_;
  RecIndex& index_;
  std::array<std::uint64_t, 2> value_{};
  std::array<int, 2> digits_{};
  std::size_t field_ = 0;
  std::int64_t line_ = 1;
};

}  // namespace

RecIndex::RecIndex(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) fail(path.string(), "the index cannot be read");  // opening a pipe would block
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path.string(), "the index cannot be read");
  // A line has four bytes at least, and about twenty in large files. Reserved is not yet used.
  most_dense_ = bytes / 4 + (1 << 16);
  offsets_.reserve(bytes / 8 + 1);
  LineParser parser(path, *this);
  std::vector<char> piece(kPiece);
  while (file) {
    file.read(piece.data(), kPiece);
    parser.feed(piece.data(), piece.data() + file.gcount());
  }
  if (file.bad()) fail(path.string(), "the index cannot be read to its end");
  parser.finish_line();
  sort();
  for (std::size_t i = 1; i < all_.size(); ++i)
    if (all_[i].first == all_[i - 1].first)
      fail(path.string(), fmt::format("key {} is there twice", all_[i].first),
           "The index is damaged; without it the .rec file is read in its order.");
}

void RecIndex::make_sparse() {
  for (std::size_t key = 0; key < offsets_.size(); ++key)
    if (offsets_[key] != kNone) all_.emplace_back(base_ + key, offsets_[key]);
  offsets_ = {};
  sparse_ = true;
}

bool RecIndex::add(std::uint64_t key, std::uint64_t offset) {
  largest_offset_ = std::max(largest_offset_, offset);
  if (!sparse_ && key >= most_dense_) make_sparse();
  if (sparse_) {
    all_.emplace_back(key, offset);
    return true;
  }
  if (key >= offsets_.size()) {
    if (key >= offsets_.capacity())
      offsets_.reserve(std::max<std::size_t>(key + 1, 2 * offsets_.capacity()));
    offsets_.resize(key + 1, kNone);
  }
  if (offsets_[key] != kNone) return false;
  offsets_[key] = offset;
  return true;
}

void RecIndex::sort() {
  if (sparse_) std::ranges::sort(all_);
}

std::uint64_t RecIndex::find(std::uint64_t key) const {
  if (!sparse_)
    return key < base_ || key - base_ >= offsets_.size() ? kNone : offsets_[key - base_];
  const auto at = std::ranges::lower_bound(all_, key, {}, [](const auto& e) { return e.first; });
  return at == all_.end() || at->first != key ? kNone : at->second;
}

void RecIndex::keep(std::uint64_t begin, std::uint64_t end) {
  sort();
  if (!sparse_) {
    end = std::min<std::uint64_t>(end, base_ + offsets_.size());
    begin = std::min(begin, end);
    // Gaps at the ends are cut off; gaps inside make numbers and keys go apart.
    while (begin < end && offsets_[begin - base_] == kNone) ++begin;
    while (begin < end && offsets_[end - 1 - base_] == kNone) --end;
    offsets_.resize(end - base_);
    offsets_.erase(offsets_.begin(), offsets_.begin() + static_cast<long>(begin - base_));
    base_ = begin;
    if (std::ranges::find(offsets_, kNone) != offsets_.end()) make_sparse();
    return;
  }
  std::erase_if(all_, [&](const auto& e) { return e.first < begin || e.first >= end; });
}

std::int64_t RecIndex::count_shared() const {
  std::vector<std::uint64_t> offsets = offsets_;
  for (const auto& entry : all_) offsets.push_back(entry.second);
  if (!std::ranges::is_sorted(offsets)) std::ranges::sort(offsets);
  std::int64_t shared = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i) shared += offsets[i] == offsets[i - 1];
  return shared;
}

std::int64_t RecIndex::size() const {
  return static_cast<std::int64_t>(sparse_ ? all_.size() : offsets_.size());
}

std::uint64_t RecIndex::key(std::int64_t number) const {
  if (number < 0 || number >= size()) throw std::out_of_range("no such entry of the archive");
  return sparse_ ? all_[static_cast<std::size_t>(number)].first
                 : base_ + static_cast<std::uint64_t>(number);
}

std::uint64_t RecIndex::offset(std::int64_t number) const {
  if (number < 0 || number >= size()) throw std::out_of_range("no such entry of the archive");
  const auto i = static_cast<std::size_t>(number);
  return sparse_ ? all_[i].second : offsets_[i];
}

}  // namespace facebench

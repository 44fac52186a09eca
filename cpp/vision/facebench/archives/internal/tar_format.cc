#include "facebench/archives/internal/tar_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

#include "facebench/archives/internal/compression.h"
#include "facebench/core/error.h"

namespace facebench {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kLongestName = 1 << 16;
constexpr const char* kCutTar = "The file is cut off or damaged: get it again.";

std::uint64_t padded(std::uint64_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

std::string_view until_zero(std::string_view field) { return field.substr(0, field.find('\0')); }

// Octal digits with blanks around, or GNU's big-endian number with the highest bit set; false where
// it is neither.
bool tar_number(std::string_view field, std::uint64_t& value) {
  value = 0;
  if ((static_cast<unsigned char>(field[0]) & 0x80) != 0) {
    for (std::size_t i = 0; i < field.size(); ++i) {
      const auto byte = static_cast<unsigned char>(i == 0 ? field[i] & 0x7f : field[i]);
      if (value >> 54 != 0) return false;
      value = value << 8 | byte;
    }
    return true;
  }
  std::size_t i = 0, digits = 0;
  while (i < field.size() && field[i] == ' ') ++i;
  for (; i < field.size() && field[i] >= '0' && field[i] <= '7'; ++i, ++digits)
    value = value << 3 | static_cast<std::uint64_t>(field[i] - '0');
  for (; i < field.size(); ++i)
    if (field[i] != ' ' && field[i] != '\0') return false;
  return digits > 0 && digits < 20;
}

// What precedes a member and changes its name or size.
struct Extensions {
  std::string name;
  std::uint64_t size = 0;
  bool has_size = false;
};

class TarScan {
 public:
  TarScan(std::span<const std::byte> bytes, std::string_view where, bool& damage)
      : bytes_(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
        where_(where),
        damage_(damage) {}

  void run(const std::function<void(TarMember&&)>& take) {
    for (;;) {
      if (bytes_.size() - at_ < kBlock) {
        if (at_ == 0) refuse_compressed(std::as_bytes(std::span(bytes_)), where_);
        cut("the archive's end is missing");
      }
      const std::string_view header = bytes_.substr(at_, kBlock);
      if (header.find_first_not_of('\0') == std::string_view::npos) {
        // What follows the end is another archive that was joined to this one, or damage.
        const std::size_t next = bytes_.find_first_not_of('\0', at_);
        if (next == std::string_view::npos) return;
        at_ = next / kBlock * kBlock;
        continue;
      }
      check_sum(header);
      std::uint64_t size = 0;
      if (!tar_number(header.substr(124, 12), size)) cut("a member's size is not a number");
      const char type = header[156];
      if (type != 'x' && type != 'g' && type != 'L' && type != 'K' && extensions_.has_size)
        size = extensions_.size;
      if (type == '5' || type == '1' || type == '2') size = 0;
      const std::uint64_t begin = at_ + kBlock, left = bytes_.size() - begin;
      if (size > left || padded(size) > left)
        cut(fmt::format("a member of {} bytes, {} are left in the file", size, left));
      if (!extend(type, bytes_.substr(begin, size))) {
        TarMember member{name_of(header), begin, size};
        refuse_unsafe(member.name, type);
        extensions_ = {};
        if (type != '5') take(std::move(member));
      }
      at_ = begin + padded(size);
    }
  }

 private:
  [[noreturn]] void cut(std::string_view what) const {
    damage_ = true;
    fail(at_byte(where_, at_), what, kCutTar);
  }

  void check_sum(std::string_view header) const {
    std::uint64_t stated = 0, sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
      sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
    if (tar_number(header.substr(148, 8), stated) && stated == sum) return;
    if (at_ == 0) refuse_compressed(std::as_bytes(std::span(bytes_)), where_);
    cut("no member begins here: the check sum of its header is wrong");
  }

  std::string name_of(std::string_view header) const {
    if (!extensions_.name.empty()) return extensions_.name;
    std::string name(until_zero(header.substr(0, 100)));
    const std::string_view prefix = until_zero(header.substr(345, 155));
    if (header.substr(257, 6) == std::string_view("ustar\0", 6) && !prefix.empty())
      name = std::string(prefix) + "/" + name;
    return name;
  }

  // Whether the member is one that speaks of the next.
  bool extend(char type, std::string_view data) {
    if (type == 'g' || type == 'K') return true;
    if (type != 'L' && type != 'x') return false;
    if (data.size() > kLongestName) cut("a member's name is longer than 64 KiB");
    if (type == 'L')
      extensions_.name = until_zero(data);
    else
      read_pax(data);
    return true;
  }

  // Records "LENGTH KEY=VALUE\n".
  void read_pax(std::string_view data) {
    while (!data.empty() && data.front() != '\0') {
      std::size_t length = 0, digits = 0;
      while (digits < data.size() && digits < 9 && data[digits] >= '0' && data[digits] <= '9')
        length = 10 * length + static_cast<std::size_t>(data[digits++] - '0');
      if (digits == 0 || length <= digits + 1 || length > data.size() || data[digits] != ' ' ||
          data[length - 1] != '\n')
        cut("a damaged pax header");
      const std::string_view record = data.substr(digits + 1, length - digits - 2);
      if (record.starts_with("path=")) extensions_.name = record.substr(5);
      if (record.starts_with("GNU.sparse")) refuse("a sparse file");
      if (record.starts_with("size=")) {
        extensions_.has_size = true;
        extensions_.size = 0;
        if (record.size() == 5 || record.size() > 23) cut("a damaged pax header");
        for (const char c : record.substr(5)) {
          if (c < '0' || c > '9') cut("a damaged pax header");
          extensions_.size = 10 * extensions_.size + static_cast<std::uint64_t>(c - '0');
        }
      }
      data.remove_prefix(length);
    }
  }

  [[noreturn]] void refuse(std::string_view what) const {
    fail(at_byte(where_, at_), fmt::format("{} in the archive", what),
         "Only regular files with relative names are read.");
  }

  void refuse_unsafe(const std::string& name, char type) const {
    std::string shown;
    for (const char c : name.substr(0, 80)) shown += c >= 32 && c != 127 ? c : '?';
    if (type == '1' || type == '2') refuse(fmt::format("the link '{}'", shown));
    if (type != '0' && type != '\0' && type != '7' && type != '5')
      refuse(fmt::format("'{}', which is not a regular file,", shown));
    if (leaves_archive(name)) refuse(fmt::format("the name '{}', which leaves it,", shown));
  }

  std::string_view bytes_;
  std::string_view where_;
  bool& damage_;
  std::uint64_t at_ = 0;
  Extensions extensions_;
};

std::string header_block(std::string_view name, std::uint64_t size, char type) {
  std::string header(kBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), header.begin() + static_cast<long>(at));
  };
  put(0, name.substr(0, 100));
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", size));
  put(136, "00000000000");
  put(148, "        ");
  header[156] = type;
  put(257, std::string_view("ustar\0"
                            "00",
                            8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  return header;
}

void append_padded(std::string& out, std::string_view bytes) {
  out += bytes;
  out.append(padded(bytes.size()) - bytes.size(), '\0');
}

}  // namespace

bool leaves_archive(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.find('\0') != std::string_view::npos) return true;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return true;
    begin = end + 1;
  }
  return false;
}

void read_tar(std::span<const std::byte> bytes, std::string_view where,
              const std::function<void(TarMember&&)>& take, bool& damage) {
  TarScan(bytes, where, damage).run(take);
}

std::string tar_member(std::string_view name, std::string_view bytes) {
  if (leaves_archive(name) || name.size() > 4096)
    throw std::invalid_argument(fmt::format("'{}' cannot be a name in an archive", name));
  if (bytes.size() >= std::uint64_t{1} << 33)
    throw std::invalid_argument("a file of 8 GiB or more in an archive");
  std::string out;
  if (name.size() > 100) {
    std::size_t length = name.size() + 7;  // " path=" and the line end
    std::size_t all = length + fmt::format("{}", length).size();
    while (fmt::format("{}", all).size() + length != all) ++all;
    const std::string record = fmt::format("{} path={}\n", all, name);
    out = header_block("pax", record.size(), 'x');
    append_padded(out, record);
  }
  out += header_block(name, bytes.size(), '0');
  append_padded(out, bytes);
  return out;
}

std::string tar_end() { return std::string(2 * kBlock, '\0'); }

}  // namespace facebench

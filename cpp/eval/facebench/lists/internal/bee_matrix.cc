#include "facebench/lists/internal/bee_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 32;
constexpr std::size_t kLongestLine = 4096;

// What is left of a file, taken from its beginning.
class Rest {
 public:
  Rest(std::string_view bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  [[noreturn]] void refuse(std::string_view why) const {
    fail(where_, fmt::format("is not a matrix of this kind in BEE's format: {}", why),
         "Write the file again.");
  }
  std::string_view until(char end) {
    const std::size_t size = bytes_.find(end);
    if (size == std::string_view::npos || size > kLongestLine) refuse("its header is cut off");
    return take(size + 1).substr(0, size);
  }
  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) refuse("it is cut off");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::size_t size() const { return bytes_.size(); }
  const std::string& where() const { return where_; }

 private:
  std::string_view bytes_;
  std::string where_;
};

template <class Entry>
BeeMatrix<Entry> read(const std::filesystem::path& path, std::string_view kind) {
  const std::string bytes = read_file(path, kMostBytes);
  Rest rest(bytes, path.string());
  BeeMatrix<Entry> matrix;
  const std::string_view format = trim(rest.until('\n'));
  if (format != "S2" && format != "D2") rest.refuse("it begins with neither S2 nor D2");
  matrix.distances = format == "D2";
  matrix.target = trim(rest.until('\n'));
  matrix.query = trim(rest.until('\n'));
  if (const std::string_view found = rest.until(' '); found != kind)
    rest.refuse(fmt::format("{} is expected in its fourth line", kind));
  const Place place{rest.where(), 4};
  const auto count = [&](std::string_view what) {
    const std::int64_t n = parse_int(rest.until(' '), place, what);
    if (n < 1 || n > std::int64_t{1} << 31) rest.refuse(fmt::format("it has {} {}", n, what));
    return static_cast<std::size_t>(n);
  };
  matrix.rows = count("rows");
  matrix.columns = count("columns");
  std::uint32_t order = 0;
  std::memcpy(&order, rest.take(4).data(), 4);
  const bool swapped = order == 0x78563412u;
  if (order != 0x12345678u && !swapped) rest.refuse("its fourth line names no byte order");
  if (rest.take(1) != "\n") rest.refuse("its fourth line does not end");
  if (rest.size() != matrix.rows * matrix.columns * sizeof(Entry))
    rest.refuse(fmt::format("{} bytes follow for {} x {} entries", rest.size(), matrix.rows,
                            matrix.columns));
  matrix.entries.resize(matrix.rows * matrix.columns);
  std::memcpy(matrix.entries.data(), rest.take(rest.size()).data(),
              matrix.entries.size() * sizeof(Entry));
  if (swapped)
    for (Entry& entry : matrix.entries) {
      auto* first = reinterpret_cast<unsigned char*>(&entry);
      std::reverse(first, first + sizeof(Entry));
    }
  return matrix;
}

}  // namespace

BeeMatrix<float> read_bee_matrix(const std::filesystem::path& path) {
  return read<float>(path, "MF");
}

BeeMatrix<std::uint8_t> read_bee_mask(const std::filesystem::path& path) {
  return read<std::uint8_t>(path, "MB");
}

}  // namespace facebench

#include "facebench/io/mat5.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/file.h"
#include "facebench/io/internal/inflate.h"
#include "facebench/io/internal/mat5_format.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

using namespace mat5;

constexpr std::uint64_t kHeader = 128;
constexpr int kDeepestCell = 16;

// What one file may take, so that a few bytes cannot ask for gigabytes: an empty cell takes eight
// bytes in the file (less where it is compressed) and some hundred in memory.
struct Budget {
  static constexpr std::uint64_t kExpandedBytes = 256ull << 20, kArrays = 2'000'000,
                                 kNumbers = 32ull << 20;
  std::uint64_t expanded = 0, arrays = 0, numbers = 0;
};

constexpr std::uint32_t kComplexFlag = 0x0800;

struct Element {
  std::uint32_t type = 0;
  std::span<const std::byte> data;
};

// Walks over the elements of one run of bytes; `base` is where the run begins in the file (of a
// compressed run: where its compressed form begins).
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, bool swap, std::string_view file, std::uint64_t base,
         Budget& budget)
      : bytes_(bytes), swap_(swap), file_(file), base_(base), budget_(&budget) {}

  bool at_end() const { return at_ == bytes_.size(); }
  bool swap() const { return swap_; }
  std::string_view file() const { return file_; }
  std::uint64_t offset() const { return base_ + at_; }
  Budget& budget() const { return *budget_; }

  // Counts `more` against a part of the budget.
  void spend(std::uint64_t Budget::*part, std::uint64_t more, std::uint64_t most,
             std::string_view of_what) const {
    if (more > most - budget_->*part)
      fail(at_byte(file_, offset()),
           fmt::format("the file holds more than {} {}; more are not read", most, of_what));
    budget_->*part += more;
  }

  [[noreturn]] void refuse(std::string_view what) const {
    fail(at_byte(file_, offset()), what, "The file is damaged or cut short");
  }

  template <class T>
  T load(const std::byte* p) const {
    std::array<std::byte, sizeof(T)> raw;
    std::memcpy(raw.data(), p, sizeof(T));
    if (swap_) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<T>(raw);
  }

  Element next() {
    if (bytes_.size() - at_ < 8) refuse("an element is cut short");
    const std::uint32_t first = load<std::uint32_t>(bytes_.data() + at_);
    if (first >> 16 != 0) {  // the short form: size, type and up to four bytes of data in eight
      const std::uint32_t size = first >> 16;
      if (size > 4) refuse("a short element of more than four bytes");
      const Element element{first & 0xFFFF, bytes_.subspan(at_ + 4, size)};
      at_ += 8;
      return element;
    }
    const std::uint64_t size = load<std::uint32_t>(bytes_.data() + at_ + 4);
    if (size > bytes_.size() - at_ - 8)
      refuse(fmt::format("an element of {} bytes is cut short", size));
    const Element element{first, bytes_.subspan(at_ + 8, size)};
    at_ += 8 + size;
    // Everything but compressed elements is padded to a multiple of eight.
    if (first != mi_compressed)
      at_ += std::min<std::uint64_t>((8 - size % 8) % 8, bytes_.size() - at_);
    return element;
  }

 private:
  std::span<const std::byte> bytes_;
  bool swap_;
  std::string_view file_;
  std::uint64_t base_;
  Budget* budget_;
  std::uint64_t at_ = 0;
};

std::vector<std::byte> inflate_all(std::span<const std::byte> packed, const Cursor& cursor) {
  Inflated out = inflate_zlib(packed, Budget::kExpandedBytes);
  cursor.spend(&Budget::expanded, out.bytes.size(), Budget::kExpandedBytes, "expanded bytes");
  if (!out.whole) cursor.refuse("compressed data that cannot be expanded");
  return std::move(out.bytes);
}

template <class T>
void append_numbers(const Cursor& cursor, std::span<const std::byte> data,
                    std::vector<double>& out) {
  if (data.size() % sizeof(T) != 0) cursor.refuse("an array that ends inside a number");
  cursor.spend(&Budget::numbers, data.size() / sizeof(T), Budget::kNumbers, "numbers");
  out.reserve(data.size() / sizeof(T));
  for (std::size_t i = 0; i < data.size(); i += sizeof(T)) {
    const T value = cursor.load<T>(data.data() + i);
    const auto number = static_cast<double>(value);
    if constexpr (sizeof(T) == 8 && std::is_integral_v<T>)
      if (std::abs(number) > 0x1p53) cursor.refuse("a whole number too large to be held exactly");
    out.push_back(number);
  }
}

std::vector<double> numbers_of(const Cursor& cursor, const Element& e) {
  using Append = void (*)(const Cursor&, std::span<const std::byte>, std::vector<double>&);
  // By data type; null where it is none of numbers.
  static constexpr std::array<Append, 14> append = {nullptr,
                                                    append_numbers<std::int8_t>,
                                                    append_numbers<std::uint8_t>,
                                                    append_numbers<std::int16_t>,
                                                    append_numbers<std::uint16_t>,
                                                    append_numbers<std::int32_t>,
                                                    append_numbers<std::uint32_t>,
                                                    append_numbers<float>,
                                                    nullptr,
                                                    append_numbers<double>,
                                                    nullptr,
                                                    nullptr,
                                                    append_numbers<std::int64_t>,
                                                    append_numbers<std::uint64_t>};
  if (e.type >= append.size() || !append[e.type])
    cursor.refuse(fmt::format("type {} where numbers are expected", e.type));
  std::vector<double> out;
  append[e.type](cursor, e.data, out);
  return out;
}

std::string text_of(const Cursor& cursor, const Element& e) {
  if (e.type == mi_utf8) {
    const std::string text(reinterpret_cast<const char*>(e.data.data()), e.data.size());
    if (!is_utf8(text)) cursor.refuse("text that is not UTF-8");
    return text;
  }
  if (e.type != mi_utf16 && e.type != mi_uint16 && e.type != mi_uint8 && e.type != mi_int8)
    cursor.refuse(fmt::format("type {} where text is expected", e.type));
  const bool wide = e.type == mi_utf16 || e.type == mi_uint16;
  if (wide && e.data.size() % 2 != 0) cursor.refuse("text that ends inside a character");
  std::string text;
  std::uint32_t high = 0;  // the first half of a surrogate pair
  for (std::size_t i = 0; i < e.data.size(); i += wide ? 2 : 1) {
    const std::uint32_t c = wide ? cursor.load<std::uint16_t>(e.data.data() + i)
                                 : std::to_integer<std::uint32_t>(e.data[i]);
    const bool low = c >= 0xDC00 && c < 0xE000;
    if ((high != 0) != low) cursor.refuse("text with half a surrogate pair");
    if (low)
      append_utf8(0x10000 + ((high - 0xD800) << 10) + (c - 0xDC00), text);
    else if (c < 0xD800 || c >= 0xE000)
      append_utf8(c, text);
    high = c >= 0xD800 && c < 0xDC00 ? c : 0;
  }
  if (high != 0) cursor.refuse("text with half a surrogate pair");
  return text;
}

std::uint64_t element_count(const Cursor& cursor, const std::vector<std::int64_t>& shape) {
  std::uint64_t count = 1;
  for (std::int64_t extent : shape)
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count))
      cursor.refuse("an array larger than can exist");
  return count;
}

MatArray read_matrix(Cursor& cursor, const Element& matrix, std::string& name, int depth);

// The `count` arrays that a cell array or a structure holds.
void read_cells(Cursor& inner, std::uint64_t count, std::uint64_t bytes, int depth,
                std::vector<MatArray>& cells) {
  // Each takes eight bytes at least, so a false count is found before anything is allocated.
  if (count > bytes / 8) inner.refuse(fmt::format("{} cells cannot be here", count));
  if (count > Budget::kArrays)
    inner.spend(&Budget::arrays, count, Budget::kArrays, "arrays and cells");
  cells.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Element cell = inner.next();
    if (cell.type != mi_matrix) inner.refuse("a cell that is not an array");
    std::string unused;
    cells.push_back(read_matrix(inner, cell, unused, depth + 1));
  }
}

// The names of a structure's fields: of one length each, filled up with zeros.
std::vector<std::string> read_field_names(Cursor& inner) {
  const Element length = inner.next(), names = inner.next();
  if (length.type != mi_int32 || length.data.size() != 4 || names.type != mi_int8)
    inner.refuse("a structure without its field names");
  const auto width = inner.load<std::int32_t>(length.data.data());
  if (width < 1 || names.data.size() % static_cast<std::size_t>(width) != 0)
    inner.refuse("field names that are not of one length");
  std::vector<std::string> result;
  for (std::size_t i = 0; i < names.data.size(); i += static_cast<std::size_t>(width)) {
    const std::string padded(reinterpret_cast<const char*>(names.data.data()) + i,
                             static_cast<std::size_t>(width));
    result.push_back(padded.substr(0, padded.find('\0')));
    if (!is_utf8(result.back())) inner.refuse("a field name that is not text");
  }
  return result;
}

MatArray read_matrix(Cursor& cursor, const Element& matrix, std::string& name, int depth) {
  MatArray array;
  if (depth > kDeepestCell) cursor.refuse("cells nested too deeply");
  cursor.spend(&Budget::arrays, 1, Budget::kArrays, "arrays and cells");
  if (matrix.data.empty()) {  // how an empty cell is written
    array.kind = MatArray::Kind::numbers;
    array.shape = {0, 0};
    return array;
  }
  Cursor inner(matrix.data, cursor.swap(), cursor.file(), cursor.offset() - matrix.data.size(),
               cursor.budget());
  const Element flags = inner.next();
  if (flags.type != mi_uint32 || flags.data.size() != 8) inner.refuse("an array without its flags");
  const std::uint32_t word = inner.load<std::uint32_t>(flags.data.data());
  const std::uint32_t array_class = word & 0xFF;
  const Element dimensions = inner.next();
  if (dimensions.type != mi_int32 || dimensions.data.size() < 8 || dimensions.data.size() % 4 != 0)
    inner.refuse("an array without its dimensions");
  for (std::size_t i = 0; i < dimensions.data.size(); i += 4) {
    const std::int32_t extent = inner.load<std::int32_t>(dimensions.data.data() + i);
    if (extent < 0) inner.refuse("a negative dimension");
    array.shape.push_back(extent);
  }
  const Element name_element = inner.next();
  name.assign(reinterpret_cast<const char*>(name_element.data.data()), name_element.data.size());
  if (!is_utf8(name)) inner.refuse("a name that is not text");
  const std::uint64_t count = element_count(inner, array.shape);

  if (array_class == mx_cell) {
    array.kind = MatArray::Kind::cell;
    read_cells(inner, count, matrix.data.size(), depth, array.cells);
  } else if (array_class == mx_struct) {
    array.kind = MatArray::Kind::structure;
    array.fields = read_field_names(inner);
    std::uint64_t cells = 0;
    if (__builtin_mul_overflow(count, array.fields.size(), &cells))
      inner.refuse("a structure larger than can exist");
    read_cells(inner, cells, matrix.data.size(), depth, array.cells);
  } else if (array_class == mx_char && (count == 0 || array.shape[0] == 1)) {
    array.kind = MatArray::Kind::text;
    if (count > 0) array.text = text_of(inner, inner.next());
  } else if (array_class >= mx_double && array_class <= mx_uint64 && !(word & kComplexFlag)) {
    array.kind = MatArray::Kind::numbers;
    if (count > 0) array.numbers = numbers_of(inner, inner.next());
    if (array.numbers.size() != count)
      inner.refuse(fmt::format("{} numbers where {} are expected", array.numbers.size(), count));
  }
  return array;
}

}  // namespace

std::map<std::string, MatArray> parse_mat5(std::span<const std::byte> bytes,
                                           std::string_view name) {
  const auto text = [&](std::size_t from, std::size_t size) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()) + from, size);
  };
  if (bytes.size() < kHeader)
    fail(name, fmt::format("is not a MAT file: it has {} bytes", bytes.size()));
  if (text(0, 10) == "MATLAB 7.3" || text(0, 4) == "\x89HDF")
    fail(name, "is a MAT file of version 7.3, which is not supported",
         "Save it again with MATLAB's option -v7");
  const std::string_view order = text(126, 2);
  if (order != "IM" && order != "MI") fail(name, "is not a MAT file of version 5");
  const bool swap = order == "MI";  // as a big-endian machine wrote it

  std::map<std::string, MatArray> variables;
  Budget budget;
  Cursor cursor(bytes.subspan(kHeader), swap, name, kHeader, budget);
  while (!cursor.at_end()) {
    const std::uint64_t begin = cursor.offset();
    Element element = cursor.next();
    std::vector<std::byte> inflated;
    Cursor unpacked = cursor;
    if (element.type == mi_compressed) {
      inflated = inflate_all(element.data, cursor);
      unpacked = Cursor(inflated, swap, name, begin, budget);
      element = unpacked.next();
      if (!unpacked.at_end()) unpacked.refuse("more than one array in one compressed element");
    }
    if (element.type != mi_matrix) continue;
    std::string variable;
    MatArray array = read_matrix(unpacked, element, variable, 0);
    // Objects keep their data in an array without a name at the end, which is not a variable.
    if (variable.empty()) continue;
    if (!variables.emplace(variable, std::move(array)).second)
      fail(name, fmt::format("the variable '{}' is there twice", variable));
  }
  if (variables.empty()) fail(name, "holds no variables");
  return variables;
}

std::map<std::string, MatArray> read_mat5(const std::filesystem::path& path) {
  const MappedFile file(path);
  return parse_mat5(file.bytes(), path.string());
}

std::vector<std::vector<std::string>> mat_text_rows(const MatArray& array, std::string_view where) {
  if (array.kind != MatArray::Kind::cell || array.shape.size() != 2)
    fail(where, "is not a cell array of rows and columns");
  if (array.cells.empty()) return {};  // whatever number of rows it says that it has
  const auto rows = static_cast<std::size_t>(array.shape[0]);
  const auto columns = static_cast<std::size_t>(array.shape[1]);
  std::vector<std::vector<std::string>> result(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      const MatArray& cell = array.cells[column * rows + row];
      // MATLAB writes '' as an empty array of either kind.
      const bool empty = cell.kind == MatArray::Kind::numbers && cell.numbers.empty();
      if (cell.kind != MatArray::Kind::text && !empty)
        fail(where, fmt::format("row {}, column {} is not a text", row + 1, column + 1));
      result[row].push_back(cell.text);
    }
  }
  return result;
}

}  // namespace facebench

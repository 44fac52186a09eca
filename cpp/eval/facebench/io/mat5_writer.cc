#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "facebench/core/utf8.h"
#include "facebench/io/internal/mat5_format.h"
#include "facebench/io/mat5.h"

namespace facebench {
namespace {

using namespace mat5;

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// One element: type, size, data, filled up to a multiple of eight.
void append_element(std::string& out, std::uint32_t type, std::string_view data) {
  append(out, type);
  append(out, static_cast<std::uint32_t>(data.size()));
  out += data;
  out.append((8 - data.size() % 8) % 8, '\0');
}

// Characters as MATLAB stores them. Texts are checked to be UTF-8 before.
std::string utf16(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int follow = lead < 0x80 ? 0 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    std::uint32_t c = follow == 0 ? lead : lead & (0x3F >> follow);
    for (int k = 1; k <= follow; ++k)
      c = c << 6 | (static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]) & 0x3F);
    i += static_cast<std::size_t>(follow) + 1;
    if (c >= 0x10000) {
      append(out, static_cast<std::uint16_t>(0xD800 + ((c - 0x10000) >> 10)));
      c = 0xDC00 + ((c - 0x10000) & 0x3FF);
    }
    append(out, static_cast<std::uint16_t>(c));
  }
  return out;
}

void append_matrix(std::string& out, const MatArray& a, std::string_view name);

std::string content(const MatArray& a, std::uint64_t count) {
  std::string body;
  const auto require = [&](std::uint64_t there, std::uint64_t wanted) {
    if (there != wanted)
      throw std::invalid_argument(
          fmt::format("MAT array of {} elements that holds {}", wanted, there));
  };
  switch (a.kind) {
    case MatArray::Kind::numbers:
      require(a.numbers.size(), count);
      append_element(body, mi_double,
                     {reinterpret_cast<const char*>(a.numbers.data()), a.numbers.size() * 8});
      break;
    case MatArray::Kind::text: {
      if (!is_utf8(a.text)) throw std::invalid_argument("MAT text that is not UTF-8");
      const std::string characters = utf16(a.text);
      require(characters.size() / 2, count);
      append_element(body, mi_utf16, characters);
      break;
    }
    case MatArray::Kind::structure: {
      std::size_t width = 1;
      for (const std::string& f : a.fields) width = std::max(width, f.size() + 1);
      std::string length, names;
      append(length, static_cast<std::int32_t>(width));
      for (const std::string& f : a.fields) names += f + std::string(width - f.size(), '\0');
      append_element(body, mi_int32, length);
      append_element(body, mi_int8, names);
      require(a.cells.size(), count * a.fields.size());
      for (const MatArray& cell : a.cells) append_matrix(body, cell, "");
      break;
    }
    case MatArray::Kind::cell:
      require(a.cells.size(), count);
      for (const MatArray& cell : a.cells) append_matrix(body, cell, "");
      break;
    case MatArray::Kind::other:
      throw std::invalid_argument("MAT array of a kind that cannot be written");
  }
  return body;
}

void append_matrix(std::string& out, const MatArray& a, std::string_view name) {
  const std::uint32_t array_class = a.kind == MatArray::Kind::numbers     ? mx_double
                                    : a.kind == MatArray::Kind::text      ? mx_char
                                    : a.kind == MatArray::Kind::structure ? mx_struct
                                                                          : mx_cell;
  std::string flags, dimensions, body;
  append(flags, array_class);
  append(flags, std::uint32_t{0});
  std::uint64_t count = 1;
  for (const std::int64_t extent : a.shape) {
    append(dimensions, static_cast<std::int32_t>(extent));
    count *= static_cast<std::uint64_t>(extent);
  }
  if (a.shape.size() < 2) throw std::invalid_argument("MAT array of fewer than two dimensions");
  append_element(body, mi_uint32, flags);
  append_element(body, mi_int32, dimensions);
  append_element(body, mi_int8, name);
  body += content(a, count);
  append_element(out, mi_matrix, body);
}

}  // namespace

MatArray mat_text(std::string text) {
  MatArray a;
  a.kind = MatArray::Kind::text;
  const auto length = static_cast<std::int64_t>(utf16(text).size() / 2);
  a.shape = {length == 0 ? 0 : 1, length};
  a.text = std::move(text);
  return a;
}

MatArray mat_cells(std::vector<std::int64_t> shape, std::vector<MatArray> cells) {
  MatArray a;
  a.kind = MatArray::Kind::cell;
  a.shape = std::move(shape);
  a.cells = std::move(cells);
  return a;
}

std::string mat5_bytes(const std::map<std::string, MatArray>& variables) {
  std::string out = "MATLAB 5.0 MAT-file, written by facebench";
  out.resize(124, ' ');
  append(out, std::uint16_t{0x0100});
  out += "IM";
  for (const auto& [name, array] : variables) append_matrix(out, array, name);
  return out;
}

}  // namespace facebench

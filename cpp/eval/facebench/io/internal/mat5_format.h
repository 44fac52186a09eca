#pragma once

#include <cstdint>

// What elements and arrays of a MAT file of version 5 call themselves; for this floor's sources
// only.
namespace facebench::mat5 {

enum DataType : std::uint32_t {
  mi_int8 = 1,
  mi_uint8 = 2,
  mi_int16 = 3,
  mi_uint16 = 4,
  mi_int32 = 5,
  mi_uint32 = 6,
  mi_single = 7,
  mi_double = 9,
  mi_int64 = 12,
  mi_uint64 = 13,
  mi_matrix = 14,
  mi_compressed = 15,
  mi_utf8 = 16,
  mi_utf16 = 17,
};
enum ArrayClass : std::uint32_t {
  mx_cell = 1,
  mx_struct = 2,
  mx_char = 4,
  mx_double = 6,
  mx_uint64 = 15,
};

}  // namespace facebench::mat5

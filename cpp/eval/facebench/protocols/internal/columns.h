#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facebench/io/hdf5.h"

namespace facebench {

template <class T>
void write_column(H5Writer& file, const std::string& name, const std::vector<T>& values) {
  file.write<T>(name, values, {static_cast<std::int64_t>(values.size())});
}

// One value of a column that must have just one; throws std::invalid_argument otherwise.
template <class T>
T read_value(const H5Reader& file, const std::string& name) {
  const std::vector<T> column = file.read<T>(name, 1);
  if (column.size() != 1) throw std::invalid_argument(name + " does not hold one value");
  return column.front();
}

}  // namespace facebench

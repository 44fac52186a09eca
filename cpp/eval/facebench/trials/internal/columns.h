#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facebench/io/hdf5.h"
#include "facebench/metrics/score_tail.h"

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

// Calls column(name, values) for the scores of a tail and who was compared, in the order of files.
template <class Tail>
void each_compared(Tail& tail, auto&& column) {
  column("genuine", tail.genuine);
  column("genuine_row", tail.genuine_row);
  column("genuine_column", tail.genuine_column);
  column("impostor", tail.impostor);
  column("impostor_row", tail.impostor_row);
  column("impostor_column", tail.impostor_column);
}

inline void write_compared(H5Writer& file, const std::string& group, const ScoreTail& tail) {
  each_compared(tail, [&](const char* name, const auto& values) {
    write_column(file, group + name, values);
  });
}

inline void read_compared(const H5Reader& file, const std::string& group, ScoreTail& tail) {
  each_compared(tail, [&]<class T>(const char* name, std::vector<T>& values) {
    values = file.read<T>(group + name, 1);
  });
}

}  // namespace facebench

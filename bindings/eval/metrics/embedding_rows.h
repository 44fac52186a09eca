#pragma once

#include <span>

#include "arrays.h"
#include "facebench/metrics/embedding_rows.h"

// Embeddings as Python hands them over.
namespace facebench {

using FloatRows = py::array_t<float, py::array::c_style>;

// (N, D) float32: the caller's own memory where it is that already, else a converted copy.
inline FloatRows float_rows(const py::object& values, const char* name) {
  return dense<float>(as_array(values, name, 2));
}

template <class T>
std::span<const T> view(const py::array_t<T, py::array::c_style>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

inline EmbeddingRows embedding_rows(const FloatRows& rows, const Job& job) {
  return EmbeddingRows(view(rows), rows.shape(1), job);
}

}  // namespace facebench

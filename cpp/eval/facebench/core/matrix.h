#pragma once

// What is allocated by the library may be freed by a program that is compiled for wider registers,
// and the other way: both must align alike.
#ifndef EIGEN_MAX_ALIGN_BYTES
#define EIGEN_MAX_ALIGN_BYTES 16
#endif

#include <Eigen/Core>

#if EIGEN_MAX_ALIGN_BYTES != 16
#error "include facebench before Eigen, or define EIGEN_MAX_ALIGN_BYTES=16"
#endif

namespace facebench {

// A matrix whose rows lie one behind the other, as an array of numpy.
template <class T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Somebody else's memory as such a matrix: MatrixView<float>(values.data(), rows, columns).
template <class T>
using MatrixView = Eigen::Map<const RowMatrix<T>>;

// What a function takes: a matrix or a view, without a copy.
template <class T>
using MatrixRef = Eigen::Ref<const RowMatrix<T>>;

}  // namespace facebench

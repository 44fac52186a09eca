#pragma once

#include <filesystem>
#include <vector>

// Scores that are kept as one vector of numbers.
namespace facebench {

// Whether the file is one by its ending: .npy, .h5, .hdf5 or .hdf.
bool holds_vector(const std::filesystem::path& path);

// The numbers of a .npy file of one axis (format 1 to 3, whole or floating point numbers or bool,
// little endian), or of the one vector of an HDF5 file. Throws Error for any other content.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::vector<double> score_vector(const std::filesystem::path& path);

// The numbers of a vector of an HDF5 file.
class H5Reader;
std::vector<double> numbers_of(const H5Reader& file, const std::string& name);

}  // namespace facebench

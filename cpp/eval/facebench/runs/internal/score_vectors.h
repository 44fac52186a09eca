#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

// Scores that are kept as one vector of numbers.
namespace facebench {

class H5Reader;

// Whether the file is one by its ending: .npy, .h5, .hdf5 or .hdf.
bool holds_vector(const std::filesystem::path& path);

// The numbers of a .npy file of one axis (format 1 to 3, whole or floating point numbers or bool,
// little endian), or of the one vector of an HDF5 file. Throws Error for any other content.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::vector<double> score_vector(const std::filesystem::path& path);

// Throws Error where a score of a file is not finite.
void check_finite(std::span<const double> scores, const std::filesystem::path& path);
// Whether all are 1, or the one other number that labels of impostor comparisons are.
bool are_labels(std::span<const double> values);
// Whether both hold vectors of one length, of which one can only be labels.
bool are_scores_and_labels(std::span<const std::filesystem::path> files);

// The numbers of a vector of an HDF5 file.
std::vector<double> numbers_of(const H5Reader& file, const std::string& name);

}  // namespace facebench

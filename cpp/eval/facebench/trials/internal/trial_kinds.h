#pragma once

#include <memory>
#include <string>

#include "facebench/io/hdf5.h"
#include "facebench/trials/trials.h"

// Trials out of the group "/tracks/NAME/" of scores.h5, as Trials::write() wrote them. Throw Error
// or std::invalid_argument for a damaged group.
namespace facebench {

std::shared_ptr<const Trials> read_listed_trials(const H5Reader& file, const std::string& group);
std::shared_ptr<const Trials> read_dense_trials(const H5Reader& file, const std::string& group);
std::shared_ptr<const Trials> read_matrix_trials(const H5Reader& file, const std::string& group);
std::shared_ptr<const Trials> read_identification_trials(const H5Reader& file,
                                                         const std::string& group);

}  // namespace facebench

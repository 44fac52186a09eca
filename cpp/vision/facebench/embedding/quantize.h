#pragma once

#include <cstdint>

#include "facebench/core/job.h"
#include "facebench/datasets/image_source.h"
#include "facebench/embedding/model.h"

namespace facebench {

// What precision int8 needs of a model: the range of numbers that each of its layers reads, seen on
// `count` crops, spread evenly over those of `images` that have a face (all where there are fewer):
// the mean over the crops of the least and of the largest number, to four digits. Mirrored crops
// count too where the model embeds them. The crops should be like those to be embedded, and other
// ones: the numbers that come out depend on them. Throws std::invalid_argument for count < 1, and
// as extract() does; Error where no crop has a face.
InputRanges measure_input_ranges(const Model& model, const ImageSource& images,
                                 std::int64_t count = 256, const Job& job = {});

}  // namespace facebench

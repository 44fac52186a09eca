#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

// VGGFace2's template lists: one image `SUBJECT/FILE` a line, for each subject the same number of
// blocks of `size` images in a row; a block is a template. Which template it is, is data: `blocks`
// names them in the order of the list as "GROUP/1" or "GROUP/2". Every group has both, and the
// matrix that results compares template 1 (rows) with template 2 (columns). Source: the data set's
// README (Cao et al., FG 2018).
//
// Keys: file, track, size, blocks, identity ("folder").
std::unique_ptr<TrialReader> make_template_list_reader(const TomlTable& table);

}  // namespace facebench

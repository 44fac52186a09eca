#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

// Disguised Faces in the Wild: a file of N names, one a line, and a mask, N lines of N numbers
// between blanks in the order of the names, that says what each pair is. Which number means what is
// data. Only entries above the diagonal count, each unordered pair once; a note says how many below
// differ from them. Names lose byte order marks and blanks at their ends, which the official list
// has here and there. Who is the same person follows from the mask: genuine entries connect, since
// folders also hold other people who pass for their subject. Source: Kushwaha et al., CVPR
// Workshops 2018, and public scripts of the challenge, which read the files so.
//
// Keys: names, mask (the files), and an array of tables `tracks` with name, genuine and impostor
// (lists of mask values from 0 to 255).
std::unique_ptr<TrialReader> make_dfw_reader(const TomlTable& table);

}  // namespace facebench

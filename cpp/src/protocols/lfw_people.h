#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

// Identification over all of LFW by its list of people. people.txt: the number of sets, then for
// each its number of people and as many lines `NAME<tab>IMAGES`. The gallery holds image 1 of
// everybody who has at least `enrolled_from` images; probes are all other images of these people
// (mated) and, with `open`, all images of everybody else (non-mated).
//
// Keys: people ("people.txt"), track, extension (".jpg"), enrolled_from (2), open (true).
std::unique_ptr<TrialReader> make_lfw_people_reader(const TomlTable& table);

}  // namespace facebench

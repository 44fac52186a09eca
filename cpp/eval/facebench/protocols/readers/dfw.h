#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

struct DfwOptions {
  std::string names;
  std::string mask;
  static void describe(OptionsBuilder<DfwOptions>& o) {
    o.name("dfw", "Disguised Faces in the Wild; its tracks are [[reader.tracks]].");
    o.field("names", &DfwOptions::names, "the file of names").required = true;
    o.field("mask", &DfwOptions::mask, "the file of the mask").required = true;
  }
};

struct DfwTrackOptions {
  std::string name;
  std::vector<std::int64_t> genuine;
  std::vector<std::int64_t> impostor;
  static void describe(OptionsBuilder<DfwTrackOptions>& o) {
    o.name("a dfw track", "Which of the mask's values are a track.");
    o.field("name", &DfwTrackOptions::name, "of the track").required = true;
    o.field("genuine", &DfwTrackOptions::genuine, "the values that mean genuine", 0, 255).required =
        true;
    o.field("impostor", &DfwTrackOptions::impostor, "the values that mean impostor", 0, 255)
        .required = true;
  }
};

// Disguised Faces in the Wild: a file of N names, one a line, and a mask, N lines of N numbers
// between blanks in the order of the names, that gives the kind of each pair. The protocol states
// what each number means. Only entries above the diagonal count, each unordered pair once. People
// follow from the mask: samples that genuine entries connect are one person. Folders do not tell,
// because they also hold impersonators of their subject.
// Source: Kushwaha et al., CVPR Workshops 2018, and public scripts of the challenge, which read the
// files so.
std::unique_ptr<TrialReader> make_dfw_reader(const TomlTable& table);

}  // namespace facebench

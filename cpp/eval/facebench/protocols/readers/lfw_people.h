#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

struct LfwPeopleOptions {
  std::string people = "people.txt";
  std::string track = "search";
  std::string extension = ".jpg";
  std::int64_t enrolled_from = 2;
  bool open = true;
  static void describe(OptionsBuilder<LfwPeopleOptions>& o) {
    o.name("lfw_people", "Identification over LFW's people.");
    o.field("people", &LfwPeopleOptions::people, "the list");
    o.field("track", &LfwPeopleOptions::track, "name of the track");
    o.field("extension", &LfwPeopleOptions::extension, "of the photographs' files");
    o.field("enrolled_from", &LfwPeopleOptions::enrolled_from,
            "least images of a person in the gallery; with one there would be no probe", 2,
            1'000'000);
    o.field("open", &LfwPeopleOptions::open, "search people who are not in the gallery, too");
  }
};

// Identification over all of LFW by its list of people. people.txt: the number of sets, then for
// each its number of people and as many lines `NAME<tab>IMAGES`. The gallery holds image 1 of
// everybody who has at least `enrolled_from` images; probes are all other images of these people
// (mated) and, with `open`, all images of everybody else (non-mated).
std::unique_ptr<TrialReader> make_lfw_people_reader(const TomlTable& table);

}  // namespace facebench

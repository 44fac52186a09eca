// Identification over all of LFW by its list of people. people.txt: the number of sets, then for
// each its number of people and as many lines `NAME<tab>IMAGES`. The gallery holds image 1 of
// everybody who has at least `enrolled_from` images; probes are all other images of these people
// (mated) and, with `open`, all images of everybody else (non-mated).

#include <fmt/format.h>

#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/lists/internal/list_file.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/lists/internal/sample_names.h"
#include "facebench/trials/identification_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

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

// A line of a few bytes stands for as many names as it says; lists of the field have 13,000.
constexpr std::int64_t kMostImages = 2'000'000;
constexpr std::uint64_t kMostNameBytes = 1ull << 28;

struct Person {
  std::string name;
  std::int64_t images = 0;
};

std::int64_t positive(std::string_view field, const Place& place, std::string_view what) {
  const std::int64_t value = parse_int(field, place, what);
  if (value < 1 || value > 999'999)
    fail(at_line(place.file, place.line),
         fmt::format("{} must be from 1 to 999999, got {}", what, value));
  return value;
}

std::vector<Person> read_people(const ListFile& text, Blemishes& blemishes) {
  const auto& lines = text.lines();
  std::size_t at = 0;
  const auto next = [&](std::string_view what) -> const TextLine& {
    if (at == lines.size())
      fail(lines.empty() ? text.name() : text.where(lines.back()),
           fmt::format("the list ends where {} is expected", what),
           "It was cut off; download it again.");
    return lines[at++];
  };
  const TextLine& head = next("the number of sets");
  const std::int64_t sets = positive(head.text, text.place(head), "the number of sets");
  std::vector<Person> people;
  std::unordered_map<std::string, std::int64_t> line_of;
  std::int64_t all = 0;
  std::uint64_t bytes = 0;
  for (std::int64_t set = 0; set < sets; ++set) {
    const TextLine& count = next("the number of people of a set");
    const std::int64_t size = positive(count.text, text.place(count), "the number of people");
    for (std::int64_t k = 0; k < size; ++k) {
      const TextLine& line = next("a person");
      const std::string where = text.where(line);
      const auto fields = split_tabs(line.text);
      if (fields.size() != 2)
        fail(where,
             fmt::format("{} fields between tabs where NAME IMAGES is expected", fields.size()));
      const std::string name = sample_name(fields[0], blemishes, [&] { return text.at(line); });
      if (name.find('/') != std::string::npos)
        fail(where, fmt::format("'{}' is not a person's name", name));
      const std::int64_t images = positive(fields[1], text.place(line), "the number of images");
      all += images;
      bytes += static_cast<std::uint64_t>(images) * (2 * name.size() + 16);
      if (all > kMostImages || bytes > kMostNameBytes)
        fail(where, fmt::format("the list stands for more than {} images, or {} bytes of their "
                                "names; more are not read",
                                kMostImages, kMostNameBytes));
      if (const auto [earlier, fresh] = line_of.try_emplace(name, line.number); !fresh)
        blemishes.add(
            BlemishKind::repeated_name, [&] { return text.at(line); },
            [&, earlier = earlier] {
              return fmt::format("{}, as in line {}", name, earlier->second);
            });
      else
        people.push_back({name, images});
    }
  }
  if (at != lines.size()) fail(text.where(lines[at]), "more lines than the list announces");
  return people;
}

class LfwPeopleReader : public OptionsReader<LfwPeopleOptions> {
 public:
  using OptionsReader::OptionsReader;
  std::vector<std::string> files() const override { return {options_.people}; }

  TrialSet read(const fs::path& lists) const override {
    Blemishes blemishes(lists);
    const ListFile text(lists / options_.people, "people", blemishes);
    TrialSet set;
    TrialSetBuilder builder(set);
    IdentificationTrials trials;
    for (const Person& p : read_people(text, blemishes)) {
      const bool enrolled = p.images >= options_.enrolled_from;
      if (!enrolled && !options_.open) continue;
      for (std::int64_t i = 1; i <= p.images; ++i) {
        const std::int32_t sample =
            builder.sample(fmt::format("{0}/{0}_{1:04}{2}", p.name, i, options_.extension), p.name);
        (enrolled && i == 1 ? trials.gallery : trials.probes).push_back(sample);
      }
    }
    if (trials.gallery.empty() || trials.probes.empty())
      fail(text.name(), fmt::format("{} images for the gallery and {} probes",
                                    trials.gallery.size(), trials.probes.size()));
    set.tracks.push_back({options_.track, std::move(trials)});
    set.lists.push_back(text.list());
    set.blemishes = blemishes.kinds();
    set.check();
    return set;
  }
};

}  // namespace

TrialReaderEntry lfw_people_reader() {
  return reader_entry<LfwPeopleReader>("lfw_people",
                                       "LFW's people.txt: everybody with their number of images");
}

}  // namespace facebench

#include "facebench/datasets/folder_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "facebench/core/error.h"
#include "facebench/core/natural_order.h"
#include "facebench/core/nfc.h"
#include "facebench/core/numbers.h"
#include "facebench/core/utf8.h"
#include "facebench/io/text.h"

namespace facebench {
namespace {

constexpr std::size_t kFewParts = 12;   // ten folds, and two more
constexpr std::size_t kManyPeople = 4;  // for each part
constexpr std::string_view kWhichLevel =
    "If the folders in them are the people of one set, say --label 2; if they are people "
    "themselves, --label 1.";

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }  // of lower_ascii()

// The words that names of parts of data sets are made of, and of folders that hold pictures:
// train, test_set, fold1, probe-images.
constexpr std::array<std::string_view, 34> kPartWords{
    "train",      "training", "trainset", "trainval",  "val",        "valid",   "validation",
    "valset",     "dev",      "devset",   "test",      "testing",    "testset", "eval",
    "evaluation", "holdout",  "gallery",  "probe",     "probes",     "query",   "queries",
    "enroll",     "enrol",    "enrolled", "enrolment", "enrollment", "verify",  "verification",
    "fold",       "split",    "part",     "subset",    "partition",  "set"};
constexpr std::array<std::string_view, 9> kHolderWords{"image", "images",  "img",   "imgs",  "data",
                                                       "faces", "aligned", "crops", "photos"};

// Whether a name says that a folder is a part of a data set, or merely that it holds pictures.
enum class Called { otherwise, holder, part };

Called called(std::string_view name) {
  const std::string lower = lower_ascii(name);
  Called kind = Called::otherwise;
  for (auto at = lower.begin(); at != lower.end();) {
    if (static_cast<unsigned char>(*at) >= 0x80) return Called::otherwise;
    if (!is_letter(*at)) {
      ++at;
      continue;
    }
    const auto end = std::find_if_not(at, lower.end(), is_letter);
    const std::string_view word(at, end);
    if (std::ranges::find(kPartWords, word) != kPartWords.end())
      kind = Called::part;
    else if (std::ranges::find(kHolderWords, word) == kHolderWords.end())
      return Called::otherwise;
    else if (kind == Called::otherwise)
      kind = Called::holder;
    at = end;
  }
  return kind;
}

// Whether all differ by numbers alone: session_1, session_2, as parts of a person are called.
bool are_numbered(const std::map<std::string, std::size_t>& names) {
  std::set<std::string> words;
  for (const auto& [name, count] : names) {
    std::string word;
    std::ranges::copy_if(name, std::back_inserter(word), [](char c) { return c < '0' || c > '9'; });
    words.insert(std::move(word));
    if (words.size() > 1) return false;
  }
  return true;
}

// The inner folder of a sample; nothing where it lies in the outer one.
std::optional<std::string> inner_folder(const Sample& sample) {
  const std::size_t first = sample.id.find('/'), second = sample.id.find('/', first + 1);
  if (first == std::string::npos || second == std::string::npos) return std::nullopt;
  return sample.id.substr(first + 1, second - first - 1);
}

struct Levels {
  struct Outer {
    std::string name;
    std::set<std::string> inner;
    bool images = false;  // right in it
  };
  std::vector<Outer> outer;
  std::vector<std::string> part_names;          // outer ones that are called as parts or holders
  bool part = false;                            // one of them is called as a part
  std::vector<std::string> with_folders;        // of them
  std::vector<std::string> folders_only;        // outer ones
  std::map<std::string, std::size_t> inner;     // of those, in how many each is
  std::size_t inner_folders = 0, repeated = 0;  // of these names
};

Levels levels_of(const Dataset& dataset) {
  Levels levels;
  for (const std::string& name : dataset.label_names) levels.outer.push_back({name, {}, false});
  for (const Sample& sample : dataset.samples) {
    Levels::Outer& outer = levels.outer[static_cast<std::size_t>(sample.label)];
    if (std::optional<std::string> inner = inner_folder(sample))
      outer.inner.insert(nfc(*inner));
    else
      outer.images = true;
  }
  for (const Levels::Outer& outer : levels.outer) {
    if (const Called kind = called(outer.name); kind != Called::otherwise) {
      levels.part = levels.part || kind == Called::part;
      levels.part_names.push_back(printable(outer.name));
      if (!outer.inner.empty()) levels.with_folders.push_back(printable(outer.name));
    }
    if (outer.images) continue;
    levels.folders_only.push_back(printable(outer.name));
    levels.inner_folders += outer.inner.size();
    for (const std::string& inner : outer.inner) ++levels.inner[inner];
  }
  for (const auto& [name, count] : levels.inner) levels.repeated += count > 1;
  return levels;
}

std::string first_inner(const Levels& levels) {
  std::vector<std::string> names;
  for (const auto& [name, count] : levels.inner) names.push_back(printable(name));
  std::ranges::sort(names, natural_less);
  return first_names(names);
}

}  // namespace

void look_for_parts(Dataset& dataset) {
  const Levels levels = levels_of(dataset);
  const std::size_t all = levels.outer.size(), parts = levels.part_names.size(),
                    only = levels.folders_only.size(), names = levels.inner.size();
  const std::size_t with_folders = levels.with_folders.size();
  if (levels.part && (with_folders > 1 || (parts == all && (parts > 1 || with_folders == 1)))) {
    fail(dataset.root.string(),
         fmt::format("{}: folders called as the splits of a data set are, not as people",
                     first_names(levels.part_names, kFewParts)),
         with_folders > 0
             ? fmt::format("Give one of them, in which each person has a folder (--split {}). {}",
                           levels.with_folders.front(), kWhichLevel)
             : "Give each person a folder in them; if they are people themselves, say --label "
               "1.");
  }
  if (all > 1 && only == all && all <= kFewParts && names >= kManyPeople * all &&
      2 * levels.repeated >= names && !are_numbered(levels.inner))
    fail(
        dataset.root.string(),
        fmt::format("{} folders ({}) hold {} folders of {} names ({}), {} of which are in several: "
                    "they are parts of a data set, it seems, and not people",
                    all, first_names(levels.folders_only, kFewParts), levels.inner_folders, names,
                    first_inner(levels), levels.repeated),
        fmt::format("Give one of them. {}", kWhichLevel));
  if (levels.part && with_folders == 1) {
    dataset.notes.push_back(fmt::format(
        "'{}' counts as a person, and its folder holds folders. If it is a split of the data set, "
        "give it alone, or move it away.",
        levels.with_folders.front()));
    return;
  }
  // One inner folder each, or few names that come again below many, are parts of people.
  if (all == 1 || only == 0 || names < only || levels.inner_folders == only) return;
  dataset.notes.push_back(fmt::format(
      "{} of {} people ({}) have no image right in their folder, but {} folders of {} names ({}). "
      "{} If they are parts of a data set, give one of them, or say --label 2: the folders in them "
      "are people.",
      only, all, first_names(levels.folders_only), levels.inner_folders, names, first_inner(levels),
      only == all ? "The outer folders count as the people (--label 1 says so)."
                  : "These are taken for parts of one person (--label 1 says so)."));
}

Dataset people_of_inner_folders(Dataset dataset) {
  std::vector<Sample> samples;
  std::map<std::string, std::string> people;  // as it is compared -> as the first is written
  for (Sample& sample : dataset.samples) {
    const std::optional<std::string> inner = inner_folder(sample);
    if (inner) {
      people.try_emplace(nfc(*inner), *inner);
      samples.push_back(std::move(sample));
    } else {
      dataset.passed_over.push_back(printable(sample.id));
    }
  }
  if (samples.empty())
    fail(dataset.root.string(), "no folder with images lies in its folders",
         "--label 2 is for ROOT/PART/PERSON/IMAGE.");
  dataset.label_names.clear();
  for (const auto& [compared, name] : people) dataset.label_names.push_back(name);
  std::ranges::sort(dataset.label_names, natural_less);
  std::map<std::string, std::int32_t> numbers;
  for (const std::string& name : dataset.label_names)
    numbers.emplace(nfc(name), static_cast<std::int32_t>(numbers.size()));
  for (Sample& sample : samples) sample.label = numbers.at(nfc(*inner_folder(sample)));
  dataset.samples = std::move(samples);
  return dataset;
}

}  // namespace facebench

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

#include "facebench/synthetic/layouts/layouts.h"

namespace facebench::synthetic {
namespace {

constexpr std::int64_t kFolds = 10;

struct Person {
  std::string name;
  std::int64_t images;
};

// (person, image, person, image), counted from 0 within a list of people.
using Pair = std::tuple<std::size_t, std::int64_t, std::size_t, std::int64_t>;

std::vector<PlannedImage> plan_lfw(const SyntheticOptions& o) {
  if (o.people < 2 * kFolds || o.images < 2)
    throw std::invalid_argument(
        fmt::format("protocol lfw has {} folds with at least 2 people each and needs 2 images of "
                    "each person: people must be at least {}, images at least 2",
                    kFolds, 2 * kFolds));
  if (o.images > 9999)
    throw std::invalid_argument("protocol lfw numbers images with four digits: at most 9999");
  std::vector<PlannedImage> images;
  for (std::int64_t p = 0; p < o.people; ++p) {
    const std::int64_t identity = o.first_person + p;
    const std::string name = person_name(identity);
    for (std::int64_t i = 1; i <= o.images; ++i)
      images.push_back({fmt::format("{0}/{0}_{1:04d}.jpg", name, i), name, identity, i, o.kind});
  }
  return images;
}

std::vector<Pair> genuine_pairs(const std::vector<Person>& people) {
  std::vector<Pair> pairs;
  for (std::size_t p = 0; p < people.size(); ++p)
    for (std::int64_t i = 0; i < people[p].images; ++i)
      for (std::int64_t j = i + 1; j < people[p].images; ++j) pairs.emplace_back(p, i, p, j);
  return pairs;
}

std::int64_t impostor_count(const std::vector<Person>& people) {
  std::int64_t all = 0, same = 0;
  for (const Person& p : people) {
    all += p.images;
    same += p.images * p.images;
  }
  return (all * all - same) / 2;
}

// `count` different impostor pairs. Requires count <= impostor_count(people) / 2, so that few draws
// repeat, or takes them all from the enumeration.
std::vector<Pair> impostor_pairs(const std::vector<Person>& people, std::int64_t count,
                                 Random& random) {
  if (count * 2 > impostor_count(people)) {
    std::vector<Pair> all;
    for (std::size_t p = 0; p < people.size(); ++p)
      for (std::size_t q = p + 1; q < people.size(); ++q)
        for (std::int64_t i = 0; i < people[p].images; ++i)
          for (std::int64_t j = 0; j < people[q].images; ++j) all.emplace_back(p, i, q, j);
    shuffle(all, random);
    all.resize(static_cast<std::size_t>(count));
    return all;
  }
  std::set<Pair> pairs;
  while (static_cast<std::int64_t>(pairs.size()) < count) {
    std::size_t p = random.below(people.size()), q = random.below(people.size());
    if (p == q) continue;
    if (p > q) std::swap(p, q);
    pairs.emplace(p, random.below(static_cast<std::uint64_t>(people[p].images)), q,
                  random.below(static_cast<std::uint64_t>(people[q].images)));
  }
  return {pairs.begin(), pairs.end()};
}

// The lines of `count` genuine and `count` impostor pairs, each half sorted.
std::string pair_lines(const std::vector<Person>& people, std::int64_t count, Random& random) {
  std::vector<Pair> genuine = genuine_pairs(people);
  shuffle(genuine, random);
  genuine.resize(static_cast<std::size_t>(count));
  std::sort(genuine.begin(), genuine.end());
  std::vector<Pair> impostor = impostor_pairs(people, count, random);
  std::sort(impostor.begin(), impostor.end());
  std::string text;
  for (const auto& [p, i, q, j] : genuine)
    text += fmt::format("{}\t{}\t{}\n", people[p].name, i + 1, j + 1);
  for (const auto& [p, i, q, j] : impostor)
    text += fmt::format("{}\t{}\t{}\t{}\n", people[p].name, i + 1, people[q].name, j + 1);
  return text;
}

// The largest number of pairs of each sort that every group can give.
std::int64_t pairs_possible(std::int64_t wanted, const std::vector<std::vector<Person>>& groups) {
  for (const auto& people : groups) {
    wanted = std::min(wanted, static_cast<std::int64_t>(genuine_pairs(people).size()));
    wanted = std::min(wanted, impostor_count(people));
  }
  return wanted;
}

std::string people_lines(const std::vector<Person>& people) {
  std::string text = fmt::format("{}\n", people.size());
  for (const Person& p : people) text += fmt::format("{}\t{}\n", p.name, p.images);
  return text;
}

// People in a random order, cut at the given places, each part sorted by name.
std::vector<std::vector<Person>> split(std::vector<Person> people, Random& random,
                                       const std::vector<std::size_t>& cuts) {
  shuffle(people, random);
  std::vector<std::vector<Person>> parts;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    parts.emplace_back(people.begin() + static_cast<std::ptrdiff_t>(cuts[k]),
                       people.begin() + static_cast<std::ptrdiff_t>(cuts[k + 1]));
    std::sort(parts.back().begin(), parts.back().end(),
              [](const Person& a, const Person& b) { return a.name < b.name; });
  }
  return parts;
}

// View 2: pairs.txt and people.txt.
void write_folds(const SyntheticOptions& o, const std::vector<Person>& people,
                 const std::filesystem::path& folder) {
  Random random(static_cast<std::uint64_t>(o.seed), "synthetic.lfw.folds");
  std::vector<std::size_t> cuts;
  for (std::int64_t k = 0; k <= kFolds; ++k)
    cuts.push_back(people.size() * static_cast<std::size_t>(k) / kFolds);
  const auto folds = split(people, random, cuts);
  const std::int64_t count = pairs_possible(o.pairs_per_fold, folds);
  std::string pairs = fmt::format("{}\t{}\n", kFolds, count);
  std::string names = fmt::format("{}\n", kFolds);
  for (const auto& fold : folds) {
    pairs += pair_lines(fold, count, random);
    names += people_lines(fold);
  }
  write_new_file(folder / "pairs.txt", pairs);
  write_new_file(folder / "people.txt", names);
}

// View 1: 70 % of the people to develop on, the others to try on.
void write_development(const SyntheticOptions& o, const std::vector<Person>& people,
                       const std::filesystem::path& folder) {
  Random random(static_cast<std::uint64_t>(o.seed), "synthetic.lfw.development");
  const auto parts = split(people, random, {0, people.size() * 7 / 10, people.size()});
  constexpr std::int64_t official[2] = {1100, 500};
  const std::string name[2] = {"DevTrain.txt", "DevTest.txt"};
  for (int k = 0; k < 2; ++k) {
    const std::int64_t count = pairs_possible(official[k], {parts[k]});
    write_new_file(folder / ("pairs" + name[k]),
                   fmt::format("{}\n", count) + pair_lines(parts[k], count, random));
    write_new_file(folder / ("people" + name[k]), people_lines(parts[k]));
  }
}

void write_lfw_lists(const SyntheticOptions& o, const std::vector<PlannedImage>& images,
                     const std::vector<ImageTruth>&, const std::filesystem::path& folder) {
  std::vector<Person> people;
  for (const PlannedImage& image : images) {
    if (people.empty() || people.back().name != image.person) people.push_back({image.person, 0});
    ++people.back().images;
  }
  write_folds(o, people, folder);
  write_development(o, people, folder);
}

}  // namespace

SyntheticLayout lfw_layout() {
  return {"lfw", "Labeled Faces in the Wild: NAME/NAME_0001.jpg, pairs.txt in ten folds, View 1",
          plan_lfw, write_lfw_lists};
}

}  // namespace facebench::synthetic

#include "facebench/datasets/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <unordered_map>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/datasets/pack.h"
#include "facebench/core/person_names.h"
#include "facebench/io/hdf5.h"
#include "facebench/io/presence.h"
#include "facebench/metrics/all_pairs.h"
#include "facebench/metrics/similar_pairs.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Numbers people in the order of their first sample.
void add_sample(OverlapSide& side, std::unordered_map<std::string, std::int32_t>& number,
                const std::string& sample, const std::string& person) {
  const auto [at, is_new] = number.try_emplace(person, static_cast<std::int32_t>(number.size()));
  if (is_new) side.people.push_back(person);
  side.samples.push_back(sample);
  side.labels.push_back(at->second);
}

void add_embeddings(OverlapSide& side, const fs::path& path) {
  const EmbeddingSet set = read_embeddings(path);
  std::unordered_map<std::string_view, std::size_t> row;
  for (std::size_t i = 0; i < set.size(); ++i) row.emplace(set.names[i], i);
  EmbeddingSet& kept = side.embeddings;
  kept.dim = set.dim;
  kept.names = side.samples;
  kept.values.assign(side.samples.size() * static_cast<std::size_t>(set.dim), 0);
  kept.status.assign(side.samples.size(), SampleStatus::missing);
  std::size_t matched = 0;
  for (std::size_t i = 0; i < side.samples.size(); ++i) {
    const auto at = row.find(side.samples[i]);
    if (at == row.end()) continue;
    ++matched;
    kept.status[i] = set.status[at->second];
    std::ranges::copy(set.row(at->second),
                      kept.values.begin() + static_cast<std::ptrdiff_t>(i) * set.dim);
  }
  if (matched == 0)
    fail(path.string(), fmt::format("none of its names is a sample of {}", side.name),
         "The embeddings belong to other data.");
}

// The rows that can be compared, without gaps.
struct Rows {
  explicit Rows(const OverlapSide& side) {
    const EmbeddingSet& e = side.embeddings;
    for (std::size_t i = 0; i < e.size(); ++i)
      if (e.status[i] == SampleStatus::ok) take(side, i);
  }
  Rows(const OverlapSide& side, const std::vector<std::size_t>& samples) {
    for (const std::size_t i : samples)
      if (side.embeddings.status[i] == SampleStatus::ok) take(side, i);
  }

  std::vector<float> values;
  std::vector<std::size_t> sample;
  std::vector<std::int32_t> label;

 private:
  void take(const OverlapSide& side, std::size_t i) {
    const auto row = side.embeddings.row(i);
    values.insert(values.end(), row.begin(), row.end());
    sample.push_back(i);
    label.push_back(side.labels[i]);
  }
};

struct Threshold {
  double value = 0;
  std::string reason;
};

Threshold choose_threshold(const Rows& test, std::int64_t dim, std::int64_t compared,
                           double false_alarms, const Job& job) {
  const auto n = static_cast<std::int64_t>(test.label.size());
  std::map<std::int32_t, std::int64_t> images;
  for (const std::int32_t label : test.label) ++images[label];
  std::int64_t impostors = n * (n - 1) / 2;
  for (const auto& [label, count] : images) impostors -= count * (count - 1) / 2;
  if (impostors == 0)
    throw std::invalid_argument(
        "the test set has no two people with embeddings, so no threshold can be chosen from it: "
        "give one");
  const double rate = std::min(1.0, false_alarms / static_cast<double>(compared));
  AllPairsOptions options;
  // The tail holds at most a hundred thousand scores more than are needed to tell the rate.
  options.far = std::min(rate, 1e5 / static_cast<double>(impostors));
  const ScoreTail tail = all_pairs(EmbeddingRows(test.values, dim, job), test.label, options, job);
  const std::int64_t allowed = allowed_false_accepts(options.far, impostors);
  // Above the first score that must not pass.
  const double barred = tail.impostor[static_cast<std::size_t>(
      std::min<std::int64_t>(allowed, static_cast<std::int64_t>(tail.impostor.size()) - 1))];
  Threshold t;
  t.value = std::nextafter(barred, 2.0);
  t.reason =
      allowed > 0
          ? fmt::format(
                "{} of {} pairs of images of different people in the test set reach it; at that "
                "rate "
                "{:.3g} of the {} compared pairs would reach it by chance",
                allowed, impostors,
                static_cast<double>(allowed) / static_cast<double>(impostors) *
                    static_cast<double>(compared),
                compared)
          : fmt::format(
                "above the highest score of {} pairs of images of different people in the test "
                "set; "
                "by the rule of three at most 3 in {} reach it (95 %), so up to {:.3g} of the {} "
                "compared pairs",
                impostors, impostors,
                3.0 / static_cast<double>(impostors) * static_cast<double>(compared), compared);
  return t;
}

using EntryMap = std::map<std::pair<std::int32_t, std::int32_t>, OverlapEntry>;

OverlapEntry& entry_of(EntryMap& entries, std::int32_t person, std::int32_t match) {
  const auto [at, is_new] = entries.try_emplace({person, match});
  if (is_new) {
    at->second.person = person;
    at->second.match = match;
    at->second.score = kNaN;
  }
  return at->second;
}

std::vector<std::vector<std::size_t>> samples_by_person(const OverlapSide& side) {
  std::vector<std::vector<std::size_t>> result(side.people.size());
  for (std::size_t i = 0; i < side.labels.size(); ++i)
    result[static_cast<std::size_t>(side.labels[i])].push_back(i);
  return result;
}

// The two most alike images of people whose names match, as evidence for or against.
void add_nearest(EntryMap& entries, const OverlapSide& train, const OverlapSide& test) {
  const auto of_train = samples_by_person(train), of_test = samples_by_person(test);
  for (auto& [key, entry] : entries) {
    if (entry.sample >= 0) continue;
    const Rows a(train, of_train[static_cast<std::size_t>(entry.person)]);
    const Rows b(test, of_test[static_cast<std::size_t>(entry.match)]);
    if (a.sample.empty() || b.sample.empty()) continue;
    const auto pairs = similar_pairs(EmbeddingRows(a.values, train.embeddings.dim),
                                     EmbeddingRows(b.values, test.embeddings.dim), -1);
    const SimilarPair& best = pairs.front();
    entry.sample = static_cast<std::int64_t>(a.sample[static_cast<std::size_t>(best.row)]);
    entry.match_sample = static_cast<std::int64_t>(b.sample[static_cast<std::size_t>(best.column)]);
    entry.score = best.score;
  }
}

void compare_images(OverlapReport& report, EntryMap& entries, const Job& job) {
  const OverlapSide &train = report.train, &test = report.test;
  const std::int64_t dim = train.embeddings.dim;
  const Rows a(train), b(test);
  if (a.sample.empty() || b.sample.empty())
    throw std::invalid_argument("one of the two sets has no embedding that can be compared");
  if (report.options.threshold) {
    report.threshold = *report.options.threshold;
    report.threshold_reason = "given by the caller";
  } else {
    const auto compared = static_cast<std::int64_t>(a.sample.size() * b.sample.size());
    const Threshold t = choose_threshold(b, dim, compared, report.options.false_alarms, job);
    report.threshold = t.value;
    report.threshold_reason = t.reason;
  }
  const EmbeddingRows rows(a.values, dim, job), columns(b.values, dim, job);
  for (const SimilarPair& p : similar_pairs(rows, columns, report.threshold, job)) {
    const auto i = static_cast<std::size_t>(p.row), j = static_cast<std::size_t>(p.column);
    OverlapEntry& entry = entry_of(entries, a.label[i], b.label[j]);
    // Pairs come in descending order of score.
    if (++entry.similar_pairs > 1) continue;
    entry.sample = static_cast<std::int64_t>(a.sample[i]);
    entry.match_sample = static_cast<std::int64_t>(b.sample[j]);
    entry.score = p.score;
  }
}

}  // namespace

void OverlapOptions::describe(OptionsBuilder<OverlapOptions>& o) {
  o.name("OverlapOptions", "How people and images in common are looked for.");
  o.field("names", &OverlapOptions::names, "compare the people's names");
  o.field("similarity", &OverlapOptions::similarity,
          "compare every image with every image, where both sets have embeddings");
  o.field("threshold", &OverlapOptions::threshold,
          "cosine from which two images count as of one person; default: chosen by the scores of "
          "different people in the test set",
          -1, 1);
  o.field("false_alarms", &OverlapOptions::false_alarms,
          "how many pairs of images of different people may pass a chosen threshold, of all "
          "that are compared",
          0, 1e9);
}

OverlapSide read_overlap_side(const fs::path& path, const fs::path& embeddings) {
  OverlapSide side;
  side.name =
      path.filename().empty() ? path.parent_path().filename().string() : path.filename().string();
  std::unordered_map<std::string, std::int32_t> number;
  const bool archive = find_image_archive(path) != nullptr;
  if (archive || is_folder(path)) {
    const Dataset dataset = archive ? read_archive(path) : read_image_folder(path);
    side.people = dataset.label_names;
    for (const Sample& s : dataset.samples) {
      side.samples.push_back(s.id);
      side.labels.push_back(s.label);
    }
  } else if (H5Reader(path).has("/images")) {
    const Pack pack(path);
    for (std::int64_t i = 0; i < pack.size(); ++i) {
      const auto label = static_cast<std::size_t>(pack.label(i));
      // A pack made by hand may not name its people.
      add_sample(
          side, number, pack.name(i),
          label < pack.label_names().size() ? pack.label_names()[label] : fmt::format("{}", label));
    }
  } else {
    side.embeddings = read_embeddings(path);
    for (const std::string& name : side.embeddings.names) {
      const std::string folder = fs::path(name).parent_path().filename().string();
      if (folder.empty())
        fail(path.string(),
             fmt::format("sample '{}' lies in no folder that names its person", name),
             "Give the pack or the folder of the data set, and these as its embeddings.");
      add_sample(side, number, name, folder);
    }
  }
  if (!embeddings.empty()) add_embeddings(side, embeddings);
  return side;
}

void name_people(OverlapSide& side, const std::map<std::string, std::string>& table) {
  side.names = side.people;
  std::size_t matched = 0;
  for (std::string& name : side.names)
    if (const auto at = table.find(name); at != table.end()) {
      name = at->second;
      ++matched;
    }
  if (matched == 0)
    fail(
        side.name,
        fmt::format("nobody of its {} people is in the table of names", side.people.size()),
        "The table's first column holds the people as the set calls them, the second their names.");
}

std::vector<std::int32_t> OverlapReport::dropped_people() const {
  std::vector<std::int32_t> people;
  for (const OverlapEntry& e : entries)
    if (people.empty() || people.back() != e.person) people.push_back(e.person);
  return people;
}

std::int64_t OverlapReport::dropped_images() const {
  std::int64_t images = 0;
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (i == 0 || entries[i].person != entries[i - 1].person) images += entries[i].images;
  return images;
}

OverlapReport find_overlap(OverlapSide train, OverlapSide test, const OverlapOptions& options,
                           const Job& job) {
  check_options(options);
  OverlapReport report{.train = std::move(train),
                       .test = std::move(test),
                       .options = options,
                       .entries = {},
                       .threshold_reason = ""};
  const bool both = report.train.embeddings.size() > 0 && report.test.embeddings.size() > 0;
  if (both && report.train.embeddings.dim != report.test.embeddings.dim)
    throw std::invalid_argument(fmt::format("embeddings of dimension {} cannot be compared with {}",
                                            report.train.embeddings.dim,
                                            report.test.embeddings.dim));
  if (!options.names && !(options.similarity && both))
    throw std::invalid_argument(
        "nothing to compare: names are switched off, and not both sets have embeddings");
  EntryMap entries;
  if (options.similarity && both) {
    report.compared_images = true;
    compare_images(report, entries, job);
  }
  if (options.names) {
    const auto known = [](const OverlapSide& s) { return s.names.empty() ? s.people : s.names; };
    const NameComparison names = match_names(known(report.train), known(report.test));
    report.train_unnamed = names.first_unnamed;
    report.test_unnamed = names.second_unnamed;
    for (const NameMatch& m : names.matches) entry_of(entries, m.first, m.second).rule = m.rule;
  }
  if (both) add_nearest(entries, report.train, report.test);
  const auto images = samples_by_person(report.train);
  for (auto& [key, entry] : entries) {
    entry.images = static_cast<std::int64_t>(images[static_cast<std::size_t>(entry.person)].size());
    report.entries.push_back(entry);
  }
  std::ranges::stable_sort(report.entries, [](const OverlapEntry& a, const OverlapEntry& b) {
    if (a.person != b.person) return a.person < b.person;
    if (std::isnan(a.score) != std::isnan(b.score)) return std::isnan(b.score);
    return a.score > b.score;
  });
  for (OverlapSide* side : {&report.train, &report.test}) side->embeddings = {};
  return report;
}

}  // namespace facebench

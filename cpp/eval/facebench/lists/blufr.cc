// BLUFR (Liao et al., IJCB 2014): imageList (names NAME_0001.jpg), labels (a person for each), and
// for each trial the images' places in that list, from 1 on: testIndex, galIndex, probIndex. A
// track for each trial, trial1, trial2, ...: all pairs of its test images, or its probes searched
// in its gallery. Errors: variables whose lengths disagree, names and labels that group the images
// differently, a place outside of the list, that is not a whole number or that is there twice in
// one trial, a gallery or probe image that is not a test image of the trial.

#include <fmt/format.h>

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/io/file.h"
#include "facebench/io/mat5.h"
#include "facebench/io/sha256.h"
#include "facebench/lists/internal/reader_entry.h"
#include "facebench/lists/internal/sample_names.h"
#include "facebench/trials/dense_trials.h"
#include "facebench/trials/identification_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

struct BlufrOptions {
  std::string file = "blufr_lfw_config.mat";
  std::string task = "verification";

  static void describe(OptionsBuilder<BlufrOptions>& o) {
    o.name("blufr", "BLUFR's random divisions of LFW.");
    o.field("file", &BlufrOptions::file, "the MAT file of the toolkit");
    o.choice("task", &BlufrOptions::task, "what a trial is", {"verification", "identification"});
  }
};

class Config {
 public:
  explicit Config(const fs::path& path) : where_(path.string()), bytes_(read_file(path)) {
    variables_ = parse_mat5(std::as_bytes(std::span(bytes_)), where_);
  }

  std::string hash() const { return sha256_hex(bytes_); }
  std::string place(std::string_view name) const { return fmt::format("{}: {}", where_, name); }

  const MatArray& variable(const std::string& name) const {
    const auto at = variables_.find(name);
    if (at == variables_.end()) fail(where_, fmt::format("there is no variable '{}'", name));
    return at->second;
  }
  // The lists of all trials.
  const std::vector<MatArray>& trials(const std::string& name) const {
    const MatArray& array = variable(name);
    if (array.kind != MatArray::Kind::cell || array.cells.empty())
      fail(place(name), "is not a cell array with a list for each trial");
    return array.cells;
  }

 private:
  std::string where_, bytes_;
  std::map<std::string, MatArray> variables_;
};

// The image list as samples, in its order.
std::vector<std::int32_t> listed_images(const Config& config, TrialSetBuilder& builder,
                                        Blemishes& blemishes) {
  std::vector<std::string> names;
  for (const auto& row : mat_text_rows(config.variable("imageList"), config.place("imageList")))
    names.insert(names.end(), row.begin(), row.end());
  const std::vector<double>& labels = config.variable("labels").numbers;
  if (names.empty() || names.size() != labels.size())
    fail(config.place("labels"),
         fmt::format("{} labels for {} images in imageList", labels.size(), names.size()));
  std::vector<std::int32_t> samples;
  std::unordered_set<std::string> seen;
  std::map<double, std::string> person_of;
  std::unordered_map<std::string, double> label_of;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ListPlace place{config.place("imageList"), 0, fmt::format("entry {}", i + 1)};
    const std::string name = sample_name(names[i], blemishes, [&] { return place; });
    const std::size_t cut = name.rfind('_');
    if (cut == std::string::npos || cut == 0 || name.find('/') != std::string::npos)
      fail(place.text(), fmt::format("'{}' is not NAME_0001.jpg", name));
    if (!seen.insert(name).second) fail(place.text(), fmt::format("{} is there twice", name));
    const std::string person = name.substr(0, cut);
    const auto& known = person_of.try_emplace(labels[i], person).first->second;
    const double label = label_of.try_emplace(person, labels[i]).first->second;
    if (known != person || label != labels[i])
      fail(place.text(),
           known != person ? fmt::format("label {} is both {} and {}", labels[i], known, person)
                           : fmt::format("{} has the labels {} and {}", person, label, labels[i]));
    samples.push_back(builder.sample(fmt::format("{}/{}", person, name), person));
  }
  return samples;
}

// A list of places as samples.
std::vector<std::int32_t> chosen(const MatArray& list, const std::vector<std::int32_t>& images,
                                 const std::string& where) {
  std::vector<std::int32_t> samples;
  std::vector<bool> taken(images.size());
  for (const double number : list.numbers) {
    const bool inside = number >= 1 && number <= static_cast<double>(images.size());
    const auto place = inside ? static_cast<std::size_t>(number) : 0;
    if (static_cast<double>(place) != number)
      fail(where, fmt::format("{} is not a place in the list of {} images", number, images.size()));
    if (taken[place - 1]) fail(where, fmt::format("image {} is there twice", place));
    taken[place - 1] = true;
    samples.push_back(images[place - 1]);
  }
  if (samples.empty()) fail(where, "is empty");
  return samples;
}

class BlufrReader : public OptionsReader<BlufrOptions> {
 public:
  using OptionsReader::OptionsReader;
  std::vector<std::string> files() const override { return {options_.file}; }

  TrialSet read(const fs::path& lists) const override {
    const fs::path path = lists / options_.file;
    const Config config(path);
    Blemishes blemishes(lists);
    TrialSet set;
    TrialSetBuilder builder(set);
    const std::vector<std::int32_t> images = listed_images(config, builder, blemishes);
    const std::vector<MatArray>& tests = config.trials("testIndex");
    for (std::size_t t = 0; t < tests.size(); ++t)
      set.tracks.push_back(track(config, tests[t], images, t));
    set.lists.push_back({"divisions", path, config.hash(), {}});
    set.blemishes = blemishes.kinds();
    set.check();
    return set;
  }

 private:
  Track track(const Config& config, const MatArray& tests, const std::vector<std::int32_t>& images,
              std::size_t t) const {
    const auto list = [&](const std::string& name, const MatArray& array) {
      return chosen(array, images, fmt::format("{}, trial {}", config.place(name), t + 1));
    };
    const std::string name = fmt::format("trial{}", t + 1);
    DenseTrials pairs;
    pairs.rows = pairs.columns = list("testIndex", tests);
    pairs.triangle = true;
    if (options_.task == "verification") return {name, std::move(pairs)};
    const auto of_trial = [&](const std::string& variable) {
      const std::vector<MatArray>& all = config.trials(variable);
      if (t >= all.size())
        fail(config.place(variable), fmt::format("there is no list for trial {}", t + 1));
      return list(variable, all[t]);
    };
    IdentificationTrials trials;
    trials.gallery = of_trial("galIndex");
    trials.probes = of_trial("probIndex");
    const std::unordered_set<std::int32_t> test(pairs.rows.begin(), pairs.rows.end());
    for (const auto* part : {&trials.gallery, &trials.probes})
      for (const std::int32_t sample : *part)
        if (!test.contains(sample))
          fail(config.place(part == &trials.gallery ? "galIndex" : "probIndex"),
               fmt::format("trial {} has an image that is not among its test images", t + 1));
    return {name, std::move(trials)};
  }
};

}  // namespace

TrialReaderEntry blufr_reader() {
  return reader_entry<BlufrReader>(
      "blufr", "BLUFR's MAT file: random divisions of LFW, pairs or gallery and probes");
}

}  // namespace facebench

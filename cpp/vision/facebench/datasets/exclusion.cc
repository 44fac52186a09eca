#include "facebench/datasets/exclusion.h"

#include <fmt/format.h>

#include <unordered_set>

#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/core/utf8.h"

namespace facebench {

Json ExcludedImages::json(const Exclusion& exclusion) const {
  return {{"list_sha256", exclusion.sha256},
          {"people", exclusion.people.size()},
          {"samples", exclusion.samples.size()},
          {"images", images},
          {"not_there", not_there}};
}

ExcludedImages excluded_images(const Exclusion& exclusion, const std::vector<std::string>& people,
                               const std::vector<std::string>& samples,
                               const std::vector<std::int32_t>& labels) {
  std::unordered_set<std::string> known_people, known_samples;
  for (const std::string& p : people) known_people.insert(compared_name(p));
  for (const std::string& s : samples) known_samples.insert(compared_name(s));
  ExcludedImages result;
  for (const std::string& p : exclusion.people)
    if (!known_people.contains(p)) result.not_there.push_back("person " + p);
  for (const std::string& s : exclusion.samples)
    if (!known_samples.contains(s)) result.not_there.push_back("sample " + s);
  const std::size_t entries = exclusion.people.size() + exclusion.samples.size();
  if (entries > 0 && result.not_there.size() == entries)
    fail(exclusion.path.string(),
         fmt::format("none of its {} entries is in the data set; the first is {}", entries,
                     printable(result.not_there.front())),
         "The list belongs to other data.");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    const bool out =
        exclusion.covers(label < people.size() ? people[label] : std::string(), samples[i]);
    result.out.push_back(out);
    result.images += out;
  }
  return result;
}

Dataset exclude(const Dataset& dataset, const Exclusion& exclusion) {
  std::vector<std::string> samples;
  std::vector<std::int32_t> labels;
  for (const Sample& s : dataset.samples) {
    samples.push_back(s.id);
    labels.push_back(s.label);
  }
  const ExcludedImages excluded = excluded_images(exclusion, dataset.label_names, samples, labels);
  Dataset result = dataset;
  result.samples.clear();
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (!excluded.out[i]) result.samples.push_back(dataset.samples[i]);
  if (result.samples.empty())
    fail(exclusion.path.string(), "every image of the data set is left out");
  result.excluded = excluded.json(exclusion);
  return result;
}

}  // namespace facebench

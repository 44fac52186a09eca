#include "facebench/datasets/exclusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "facebench/core/compared_name.h"
#include "facebench/core/error.h"
#include "facebench/core/utf8.h"
#include "facebench/io/spelled_otherwise.h"

namespace facebench {

ExcludedImages excluded_images(const Exclusions& lists, const std::vector<std::string>& people,
                               const std::vector<std::string>& samples,
                               const std::vector<std::int32_t>& labels) {
  std::unordered_set<std::string> known_people, known_samples;
  for (const std::string& p : people) known_people.insert(compared_name(p));
  for (const std::string& s : samples) known_samples.insert(compared_name(s));
  ExcludedImages result;
  for (const Exclusion& list : lists) {
    std::vector<std::string> not_there;
    for (const std::string& p : list.people)
      if (!known_people.contains(p)) not_there.push_back("person " + p);
    for (const std::string& s : list.samples)
      if (!known_samples.contains(s)) not_there.push_back("sample " + s);
    const std::string spelled = spelled_otherwise(not_there, people, samples);
    if (list.entries() > 0 && not_there.size() == list.entries())
      fail(list.path.string(),
           fmt::format("none of its {} entries is in the data set; the first is {}", list.entries(),
                       printable(not_there.front())),
           !spelled.empty()
               ? spelled.substr(1)
               : fmt::format("The list belongs to other data. Here are people such as {}; a single "
                             "image is a line 'sample', a tab, and {}.",
                             people.empty() ? "(none)" : printable(people.front()),
                             samples.empty() ? "(none)" : printable(samples.front())));
    Json said = {{"list_sha256", list.sha256},
                 {"people", list.people.size()},
                 {"samples", list.samples.size()},
                 {"not_there", not_there}};
    if (list.keeps)
      result.json["only"] = std::move(said);
    else
      result.json.update(said);
    if (std::string note = not_there_note(list, not_there); !note.empty())
      result.notes.push_back(note + spelled);
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    const std::string person = label < people.size() ? people[label] : std::string();
    const bool out = std::ranges::any_of(lists, [&](const Exclusion& list) {
      return list.covers(person, samples[i]) != list.keeps;
    });
    result.out.push_back(out);
    result.images += out;
  }
  result.json["images"] = result.images;
  return result;
}

Dataset exclude(const Dataset& dataset, const Exclusions& lists) {
  if (lists.empty()) return dataset;
  std::vector<std::string> samples;
  std::vector<std::int32_t> labels;
  for (const Sample& s : dataset.samples) {
    samples.push_back(s.id);
    labels.push_back(s.label);
  }
  const ExcludedImages excluded = excluded_images(lists, dataset.label_names, samples, labels);
  Dataset result = dataset;
  result.samples.clear();
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (!excluded.out[i]) result.samples.push_back(dataset.samples[i]);
  if (result.samples.empty())
    fail(lists.front().path.string(), "every image of the data set is left out");
  result.excluded = excluded.json;
  result.notes.insert(result.notes.end(), excluded.notes.begin(), excluded.notes.end());
  return result;
}

}  // namespace facebench

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "facebench/trials/blemishes.h"
#include "facebench/trials/listed_trials.h"

namespace facebench {

// Numbers of templates by their ids.
using TemplateIndex = std::unordered_map<std::int64_t, std::int32_t>;

// A list of comparisons of templates, of any length: two template ids a line, and a label where
// `labels`. Without labels `trials.genuine` is empty. What a row costs is its comparison alone.
struct TemplatePairs {
  ListedTrials trials;
  TrialList list;
  std::int64_t line_of(std::size_t comparison) const;
  ListPlace at(std::size_t comparison) const {
    return {list.path.string(), line_of(comparison), ""};
  }

  // Where lines stop to be comparisons in order: comparison, its line.
  std::vector<std::pair<std::size_t, std::int64_t>> jumps;
};

struct TemplatePairsFormat {
  char separator = ' ';
  bool labels = false;
  std::string templates_in;  // what a message calls the list of templates
};

// Counts comparisons of a template with itself and repeated ones. Throws Error with file and line
// for a template that `known` lacks, a label other than 0 and 1, and an empty list.
TemplatePairs read_template_pairs(const std::filesystem::path& path,
                                  const TemplatePairsFormat& format, const TemplateIndex& known,
                                  Blemishes& blemishes);

// The people that genuine comparisons connect: for each template the lowest number among those it
// is connected with. Impostor comparisons within a person are counted; Error where they are more
// than a tenth of the impostors.
std::vector<std::int32_t> connected_templates(const TemplatePairs& pairs, std::size_t templates,
                                              Blemishes& blemishes);

}  // namespace facebench

#include "facebench/datasets/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "facebench/core/error.h"
#include "facebench/core/options.h"
#include "facebench/images/decode.h"
#include "facebench/io/machine_error.h"
#include "facebench/io/sha256.h"

namespace facebench {
namespace {

struct FileLook {
  std::optional<DatasetFinding> finding;
  std::string sha256;
  bool tagged = false;
};

FileLook look_at(const Sample& sample, const CheckOptions& options) {
  FileLook look;
  if (!sample.image.exists()) {
    look.finding = {"missing", sample.id, "no such file"};
    return look;
  }
  const auto fault = fault_in_file([&] {
    const std::string bytes = sample.image.read();
    if (bytes.empty()) {
      look.finding = {"empty", sample.id, "the file has no bytes"};
      return;
    }
    if (options.duplicates) look.sha256 = sha256_hex(bytes);
    if (!options.decode) return;
    decode_image(std::as_bytes(std::span(bytes)), {}, sample.id);
    look.tagged = exif_orientation(std::as_bytes(std::span(bytes))) != 1;
  });
  if (fault) look.finding = {"unreadable", sample.id, *fault};
  return look;
}

}  // namespace

void CheckOptions::describe(OptionsBuilder<CheckOptions>& o) {
  using C = CheckOptions;
  o.name("CheckOptions", "What is looked for in a data set.");
  o.field("decode", &C::decode, "decode every image");
  o.field("duplicates", &C::duplicates, "look for files with the same bytes");
  o.field("min_images", &C::min_images, "images that every person should have", 0, 1000000);
  o.field("listed_by_stem", &C::listed_by_stem, "names in lists match whatever their extension");
}

std::int64_t DatasetReport::count(std::string_view kind) const {
  return std::count_if(findings.begin(), findings.end(),
                       [&](const DatasetFinding& f) { return f.kind == kind; });
}

DatasetReport check_dataset(const Dataset& dataset, std::span<const std::string> listed,
                            const CheckOptions& options, const Job& job) {
  check_options(options);
  // What is there, then what is only listed.
  const Dataset named = select_samples(dataset, listed, options.listed_by_stem);
  std::vector<Sample> samples = dataset.samples;
  for (const Sample& sample : named.samples)
    if (!sample.image.exists()) samples.push_back(sample);

  std::vector<FileLook> looks(samples.size());
  {
    Stage stage(job, "check", static_cast<std::int64_t>(samples.size()), "images");
    parallel_for(
        static_cast<std::int64_t>(samples.size()), job,
        [&](std::int64_t i, int) { looks[i] = look_at(samples[i], options); }, &stage);
  }

  DatasetReport report;
  report.images = static_cast<std::int64_t>(dataset.samples.size());
  report.people = static_cast<std::int64_t>(dataset.label_names.size());
  report.listed = static_cast<std::int64_t>(named.samples.size());
  report.tagged = std::ranges::count(looks, true, &FileLook::tagged);
  std::map<std::string, std::string> first_with;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (looks[i].finding) report.findings.push_back(*looks[i].finding);
    if (looks[i].sha256.empty()) continue;
    const auto [earlier, fresh] = first_with.emplace(looks[i].sha256, samples[i].id);
    if (!fresh)
      report.findings.push_back(
          {"duplicate", samples[i].id, "the same bytes as " + earlier->second});
  }
  std::vector<std::int64_t> images_of(dataset.label_names.size(), 0);
  for (const Sample& sample : dataset.samples) ++images_of[sample.label];
  for (std::size_t i = 0; i < images_of.size(); ++i)
    if (images_of[i] < options.min_images)
      report.findings.push_back({"too_few_images", dataset.label_names[i],
                                 fmt::format("{} of {} images", images_of[i], options.min_images)});
  return report;
}

}  // namespace facebench

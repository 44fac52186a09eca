#include "facebench/pipeline/pack.h"

#include "facebench/core/options.h"
#include "facebench/datasets/dataset.h"
#include "facebench/datasets/exclusion.h"

namespace facebench {

void PackRequest::describe(OptionsBuilder<PackRequest>& o) {
  o.name("PackRequest", "From a data set to a pack.");
  o.fields_of(&PackRequest::preparation);
  o.fields_of(&PackRequest::pack);
  o.fields_of(&PackRequest::archive);
  o.field("exclude", &PackRequest::exclude,
          "a list of people and samples to leave out (data overlap, inspect)");
  o.field("only", &PackRequest::only,
          "a list of people and samples that alone stay: one person a line");
  o.field("skip_damaged", &PackRequest::skip_damaged,
          "go on past so many damaged entries of an archive, and list them", 0, 9e15);
}

namespace {

Dataset read_images(const PackRequest& request, std::string_view dataset,
                    const std::filesystem::path& root) {
  const Dataset images = read_dataset(dataset, root, request.skip_damaged, request.archive);
  return exclude(images, read_exclusions(request.exclude, request.only));
}

Preparation preparation_of(const PackRequest& request) {
  const PreparationSource sources[] = {{"caller", request.preparation}};
  return resolve_preparation(sources);
}

}  // namespace

PackSummary pack(const PackRequest& request, std::string_view dataset,
                 const std::filesystem::path& root, const std::filesystem::path& out,
                 const Job& job) {
  const Dataset images = read_images(request, dataset, root);
  const Preparation p = preparation_of(request);
  return pack_dataset(images, p.detector.get(), p.selection, p.crop, request.pack, out, job);
}

PackSummary pack(const PackRequest& request, std::string_view dataset,
                 const std::filesystem::path& root, const Shard& shard,
                 const std::filesystem::path& out, const Job& job) {
  const Dataset images = read_images(request, dataset, root);
  const Preparation p = preparation_of(request);
  return pack_shard(images, p.detector.get(), p.selection, p.crop, request.pack, shard, out, job);
}

}  // namespace facebench

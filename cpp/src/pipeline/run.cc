#include "facebench/pipeline/run.h"

#include "facebench/core/error.h"
#include "facebench/io/file.h"
#include "facebench/io/sha256.h"
#include "facebench/reports/save.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

}  // namespace

Dataset protocol_dataset(const ProtocolSpec& spec, const TrialSet& trials, const fs::path& images) {
  Dataset dataset;
  dataset.name = spec.id;
  dataset.root = images;
  dataset.label_names = trials.identity_names;
  const std::vector<fs::path> paths = image_paths(spec, trials, images);
  dataset.samples.reserve(trials.names.size());
  for (std::size_t i = 0; i < trials.names.size(); ++i)
    dataset.samples.push_back({trials.names[i], paths[i], trials.identity[i]});
  return dataset;
}

EvaluationResult run(const RunRequest& request, const fs::path& model_path, const fs::path& out,
                     const Job& job) {
  const Model model = load_model(model_path);
  Embedder embedder;
  embedder.description = model.network;
  embedder.preparation = preparation_of(model);
  embedder.inputs = {{"model", model_path, model.sha256}};
  embedder.embed = [&](const Pack& pack, const Job& j) {
    return extract(model, pack, request.extract, j);
  };
  return run(request, embedder, out, job);
}

EvaluationResult run(const RunRequest& request, const Embedder& embedder, const fs::path& out,
                     const Job& job) {
  // All that can be wrong with the request is found before the first image is opened.
  const ProtocolSpec spec = load_protocol(request.protocol);
  resolve_options(spec, request.evaluation);
  std::error_code ignored;
  if (fs::exists(out, ignored) && !fs::is_empty(out, ignored) &&
      !(request.overwrite && is_run_folder(out)))
    fail(out.string(),
         request.overwrite ? "exists and is not a run folder, so it is not replaced"
                           : "exists already",
         "Choose another folder, or ask for it to be overwritten.");
  std::vector<PreparationSource> sources = {{"caller", request.preparation},
                                            {"model", embedder.preparation}};
  sources.insert(sources.begin() + 1,
                 {"data set", preparation_of(spec, find_lists(spec, request.places), sources)});
  const Preparation preparation = resolve_preparation(sources);
  const TrialSet trials = read_trials(spec, request.places);
  const fs::path images = find_images(spec, trials, request.places);
  const Dataset dataset = protocol_dataset(spec, trials, images);

  // Large files are made beside the result and moved into it; they go away when anything fails.
  const AtomicFolder work(fs::path(out).concat(".work"), true);
  const fs::path pack_path = work.temporary() / "pack.h5";
  const PackSummary summary =
      pack_dataset(dataset, preparation.detector.get(), preparation.selection, preparation.crop,
                   request.pack, pack_path, job);
  EmbeddingSet embeddings;
  Json preparation_json;
  {
    const Pack pack(pack_path);
    embeddings = embedder.embed(pack, job);
    const Json& m = pack.manifest();
    preparation_json = {{"detector", m.at("detector")},
                        {"selection", m.at("selection")},
                        {"crop", m.at("crop")},
                        {"decode", m.at("decode")},
                        {"decided_by", preparation.decided_by},
                        {"failures", m.at("failures")}};
  }
  embeddings.manifest["images_sha256"] = summary.tree_sha256;
  const fs::path embeddings_path = work.temporary() / "embeddings.h5";
  write_embeddings(embeddings_path, embeddings);

  EvaluationResult result = evaluate(spec, trials, embeddings, request.evaluation, job);
  for (const RunInput& input : embedder.inputs) result.inputs.push_back(input);
  result.embeddings = {{"manifest", embeddings.manifest},
                       {"sha256", sha256_file(embeddings_path, job)}};

  RunInfo info;
  info.command = request.command;
  info.threads = job.threads;
  info.root = request.places.root;
  info.content = {{"preparation", preparation_json},
                  {"embedder", embedder.description},
                  {"images_sha256", summary.tree_sha256},
                  {"pack_sha256", sha256_file(pack_path, job)}};
  info.circumstance = {{"images", fs::absolute(images).generic_string()}};
  save_run(out, result, info, request.overwrite, [&](const fs::path& folder) {
    if (request.discard) return;
    fs::rename(pack_path, folder / "pack.h5");
    fs::rename(embeddings_path, folder / "embeddings.h5");
  });
  return result;
}

}  // namespace facebench

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "facebench/core/job.h"
#include "facebench/datasets/dataset.h"
#include "facebench/datasets/pack.h"
#include "facebench/embedding/batch_model.h"
#include "facebench/embedding/extractor.h"
#include "facebench/embedding/model.h"
#include "facebench/evaluation/evaluate.h"
#include "facebench/evaluation/spec.h"
#include "facebench/pipeline/preparation.h"

namespace facebench {

// From photographs to a run folder in one go: what to run.
struct RunRequest {
  std::string protocol;  // a name, or a user's own TOML file
  DataPlaces places;
  PreparationOptions preparation;  // what the caller wants otherwise than the model file says
  PackOptions pack;
  ExtractOptions extract;
  EvaluationOptions evaluation;
  // Lists (io/exclusion.h) of people and samples that are left out of the protocol, and of those
  // that alone stay.
  std::filesystem::path exclude, only;
  // For a quick look, which the result then warns of: so many comparisons, or images (the same).
  std::optional<std::int64_t> limit;
  bool discard = false;  // pack.h5 and embeddings.h5 are not kept
  // Names of images, templates and people are hashes, and no path is written; pack.h5, which holds
  // the faces, is not kept. verify computes the same hashes from the lists (trials/anonymous.h).
  bool anonymous = false;
  bool overwrite = false;  // an existing run folder is replaced
  // A folder of packs and embeddings that earlier runs made (content_cache.h); empty: none. The
  // result is the same to the byte; the circumstance of run.json says what was taken from it.
  std::filesystem::path cache;
  // Told what was taken from it: "pack", "embeddings".
  std::function<void(const std::string&)> reused;
  // Puts pages into the run folder before that one appears; may be empty.
  std::function<void(const std::filesystem::path&)> pages;
  std::string command;  // as typed, for the manifest's circumstance

  // All that decides what is done; not the protocol, the command as typed and the callbacks.
  static void describe(OptionsBuilder<RunRequest>& o);
};

// The samples that the lists name, as a data set: ids are their names, labels the identities.
// `images` is a folder, or an archive whose entries have the samples' names.
Dataset protocol_dataset(const ProtocolSpec& spec, const TrialSet& trials,
                         const std::filesystem::path& images);

// Reads the lists, detects and crops every image that they name, embeds, evaluates, and writes the
// folder `out` with run.json, scores.h5, metrics.json, curves.json and, unless discarded, pack.h5
// and embeddings.h5. The same request on the same files gives the same bytes (but for the
// circumstance in run.json), with any number of threads. How images are detected and cropped, and
// how they are embedded, is what the model says unless the request says otherwise. Throws Error,
// and nothing is written then.
Result run(const RunRequest& request, const std::filesystem::path& model,
           const std::filesystem::path& out, const Job& job = {});
Result run(const RunRequest& request, const Model& model, const std::filesystem::path& out,
           const Job& job = {});
Result run(const RunRequest& request, const BatchModel& model, const std::filesystem::path& out,
           const Job& job = {});

// The pack that run() makes of some of the images, those with these names, with a model that says
// `model` of its images: taken from `request.cache` or kept there, and written to the file `out`.
// Throws as run() does.
void pack_protocol(const RunRequest& request, const PreparationOptions& model,
                   std::span<const std::string> names, const std::filesystem::path& out,
                   const Job& job = {});

}  // namespace facebench

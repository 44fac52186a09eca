#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/options_fwd.h"
#include "facebench/datasets/image_source.h"
#include "facebench/embedding/batch_model.h"
#include "facebench/evaluation/metric.h"
#include "facebench/evaluation/spec.h"
#include "facebench/io/json.h"

namespace facebench {

struct ValidationOptions {
  std::optional<std::string> metric;
  std::optional<std::string> track;
  std::int64_t every = 1;
  std::optional<std::int64_t> steps;
  static void describe(OptionsBuilder<ValidationOptions>& o);
};

// The result of one validation.
struct ValidationValue {
  std::string track;
  std::string metric;  // the cell's name, "tar@far=0.001"
  double value = 0;
  double score = 0;                    // higher is better: the value, or minus an error rate
  std::int64_t failed_enrolments = 0;  // of what the track compares
  std::optional<Interval> interval;    // of the value, at 95 %
};

// A protocol, the images of its lists, and the metric that scores a model.
class Validation {
 public:
  // `images` are crops of the size that the model takes, their names those of the lists; content
  // that decides the numbers is described by `images_hash` (a pack's tree_sha256; may be empty).
  // Throws std::invalid_argument for wrong options, and Error where not one of the lists' names is
  // among the images', or one is there twice.
  Validation(ProtocolSpec spec, TrialSet trials, std::shared_ptr<const ImageSource> images,
             std::string images_hash, const ValidationOptions& options = {});

  std::int64_t every() const { return options_.every; }
  std::optional<std::int64_t> steps() const { return options_.steps; }

  // Embeds the images that the lists name, evaluates the protocol (intervals of 200 draws), and
  // picks the number: the metric asked for or the track's first, of the track asked for, else of
  // the mean over tracks where the protocol has one, else of the first track. Throws
  // std::invalid_argument for a track or metric that the protocol does not have (did you mean),
  // Error for data that do not fit, or where the number is undefined.
  ValidationValue operator()(const BatchModel& model, const Job& job = {}) const;

  // What decides its numbers.
  Json description() const;

 private:
  std::vector<std::int64_t> listed_rows() const;

  ProtocolSpec spec_;
  TrialSet trials_;
  std::shared_ptr<const ImageSource> images_;
  std::string images_hash_;
  ValidationOptions options_;
  std::vector<std::int64_t> rows_;  // of the images that the lists name
};

// A protocol by name or TOML file, its lists looked for as evaluating does, its images in a pack.
Validation open_validation(const std::string& protocol, const DataPlaces& places,
                           const std::filesystem::path& pack,
                           const ValidationOptions& options = {});

}  // namespace facebench

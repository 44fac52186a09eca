#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "facebench/io/json.h"
#include "facebench/training/internal/training_checks.h"

namespace facebench {

// log.jsonl: one JSON object a line, each with the `iteration` it was written after. Every line is
// flushed, so that a killed process leaves whole lines but for the last.
class TrainingLog {
 public:
  // Opens the file for a training that goes on from `iteration`: whole lines up to there are kept,
  // later steps are made and written again.
  TrainingLog(const std::filesystem::path& path, std::int64_t iteration);
  // Throws Error where the disk is full.
  void write(const Json& line);
  // The iteration of the last validation in it; -1: there is none.
  std::int64_t validated() const { return validated_; }
  // What its lines say of the losses of steps.
  const TrainingCourse& course() const { return course_; }

 private:
  void note(const Json& line);

  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::int64_t validated_ = -1;
  TrainingCourse course_{.ever_a_loss = false};
};

}  // namespace facebench

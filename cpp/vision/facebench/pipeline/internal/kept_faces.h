#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "facebench/detection/detector.h"

namespace facebench {

// A detector whose answers are kept in a file, image by image, and taken from there when the same
// images are asked for again: a run that was stopped does not detect twice. Whatever ended the
// process, what the file holds as whole lines is right.
class KeptFaces final : public Detector {
 public:
  // `file` belongs to this detector and these images. Throws Error where it cannot be written.
  KeptFaces(const Detector& detector, const std::filesystem::path& file);

  void check_samples(std::span<const std::string> sample_ids) const override {
    detector_.check_samples(sample_ids);
  }
  int callers(const Job& job) const override { return detector_.callers(job); }
  Json description() const override { return detector_.description(); }

 private:
  std::vector<Face> find(const Image& image, std::string_view sample_id) const override;

  const Detector& detector_;
  std::filesystem::path path_;
  std::map<std::string, std::vector<Face>, std::less<>> known_;  // when the file was opened
  mutable std::mutex writing_;
  mutable std::ofstream file_;
};

}  // namespace facebench

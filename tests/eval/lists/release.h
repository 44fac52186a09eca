#pragma once

// For the tests of readers on a miniature of what a data set's authors distribute: its folders, its
// names of files, its spelling, and the blemishes that are known of it. What the layout is was read
// in public programs that read the release, at least two for each data set; the tests name them as
// repository: path.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "facebench/evaluation/check_data.h"
#include "io/helpers.h"
#include "lists/list_texts.h"

namespace facebench {

// A release in a folder of its own: files by their paths, and images, which are never opened.
class Release {
 public:
  explicit Release(const std::string& protocol) : spec_(load_protocol(protocol)) {}

  // Not write_file(): to wait for the disk after each of hundreds of files takes most of the time.
  void file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path, std::ios::binary) << text;
  }
  void image(const std::string& path) { file(path, "not opened"); }

  TrialSet read(const std::string& root = ".") const {
    return read_trials(spec_, {folder_ / root});
  }
  DataCheck check(const std::string& root = ".") const {
    return check_data(spec_, {folder_ / root});
  }
  const ProtocolSpec& spec() const { return spec_; }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  ProtocolSpec spec_;
};

// The blemishes as "kind count", and the places of a kind as "file:line what".
inline std::vector<std::string> kinds(const std::vector<FoundBlemishes>& found) {
  std::vector<std::string> result;
  for (const FoundBlemishes& f : found)
    result.push_back(fmt::format("{} {}", f.rule().name, f.count));
  return result;
}

inline std::vector<std::string> places(const std::vector<FoundBlemishes>& found, BlemishKind kind) {
  std::vector<std::string> result;
  for (const FoundBlemishes& f : found)
    if (f.kind == kind)
      for (const Blemish& b : f.first)
        result.push_back(fmt::format("{}:{} {}", b.file, b.line, b.what));
  return result;
}

using Texts = std::vector<std::string>;

}  // namespace facebench

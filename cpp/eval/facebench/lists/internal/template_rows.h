#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "facebench/trials/blemishes.h"
#include "facebench/trials/trials.h"

// NIST's CSV files of templates (IJB-A, IJB-B, IJB-C): a row is one image of a template, with
// columns TEMPLATE_ID and SUBJECT_ID, one for the file and one for the medium. Others are not
// looked at.
namespace facebench {

struct TemplateRow {
  std::string template_id, subject, file;
  std::int32_t medium = 0;
  std::optional<float> score;  // of the face's detection, where the release gives it
};

// What a release calls the two columns whose names differ; the first that is there is taken.
struct TemplateColumns {
  std::vector<std::string_view> file, medium;
};

// The rows of one file; the file is added to set.lists as `role`. Throws Error with file and line
// for a template of two subjects, a number out of range and an empty list.
std::vector<TemplateRow> read_template_rows(const std::filesystem::path& path, std::string role,
                                            const TemplateColumns& columns, TrialSet& set,
                                            Blemishes& blemishes);

// One file of templates; `prefix` keeps the templates of different files apart.
struct TemplateRows {
  std::string prefix;
  std::vector<TemplateRow> rows;
};

// Number of each template by prefix + TEMPLATE_ID.
using TemplateNumbers = std::unordered_map<std::string, std::int32_t>;

// Adds the templates of all lists in order of first appearance. A sample is a file; where a file
// shows several of the subjects it is FILE#SUBJECT_ID, and a note says so.
TemplateNumbers add_templates(const std::vector<TemplateRows>& lists, TrialSet& set);

}  // namespace facebench

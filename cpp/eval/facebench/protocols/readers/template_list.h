#pragma once

#include <memory>

#include "facebench/protocols/reader.h"
#include "facebench/protocols/readers/sample_names.h"

namespace facebench {

struct TemplateListOptions {
  std::string file;
  std::string track;
  std::int64_t size = 1;
  std::vector<std::string> blocks;
  std::string identity = "folder";
  static void describe(OptionsBuilder<TemplateListOptions>& o) {
    o.name("template_list", "A list of templates.");
    o.field("file", &TemplateListOptions::file, "the list").required = true;
    o.field("track", &TemplateListOptions::track, "name of the track").required = true;
    o.field("size", &TemplateListOptions::size, "images of a template", 1, 100'000).required = true;
    o.field("blocks", &TemplateListOptions::blocks,
            "the templates of a subject in the order of the list, GROUP/1 or GROUP/2")
        .required = true;
    o.choice("identity", &TemplateListOptions::identity, "how a name tells who it is",
             identity_rules().names());
  }
};

// VGGFace2's template lists: one image `SUBJECT/FILE` a line, for each subject the same number of
// blocks of `size` images in a row; a block is a template. `blocks` names the templates in the
// order of the list as "GROUP/1" or "GROUP/2". Every group has both, and the matrix that results
// compares template 1 (rows) with template 2 (columns). Source: the data set's README (Cao et al.,
// FG 2018).
std::unique_ptr<TrialReader> make_template_list_reader(const TomlTable& table);

}  // namespace facebench

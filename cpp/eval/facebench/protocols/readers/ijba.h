#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

struct IjbaOptions {
  std::string folder;
  std::vector<std::int64_t> splits{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  static void describe(OptionsBuilder<IjbaOptions>& o) {
    o.name("ijba", "IJB-A's splits.");
    o.field("folder", &IjbaOptions::folder, "the folder that holds the splits' folders");
    o.field("splits", &IjbaOptions::splits, "the splits to measure", 1, 999);
  }
};

// The CSV files of IJB-A: each row is one image or frame of a template, with columns TEMPLATE_ID,
// SUBJECT_ID, FILE, MEDIA_ID (others are not looked at). A sample is a FILE; where a file shows
// several of the subjects it is FILE#SUBJECT_ID. Source: Klare et al., CVPR 2015.
//
// Splits that are not there are noted; at least one must be.
//
// 1:1 verification, one track a split: templates out of verify_metadata_K.csv, and
// verify_comparisons_K.csv without header, two template numbers a line, genuine where the subjects
// are the same. The folder is "IJB-A_11_sets" unless the table says otherwise.
std::unique_ptr<TrialReader> make_ijba_11_reader(const TomlTable& table);

// 1:N identification, one track a split: search_gallery_K.csv and search_probe_K.csv. The
// folder is "IJB-A_1N_sets" unless the table says otherwise.
std::unique_ptr<TrialReader> make_ijba_1n_reader(const TomlTable& table);

}  // namespace facebench

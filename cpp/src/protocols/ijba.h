#pragma once

#include <memory>

#include "facebench/protocols/reader.h"

namespace facebench {

// The CSV files of IJB-A: each row is one image or frame of a template, with columns TEMPLATE_ID,
// SUBJECT_ID, FILE, MEDIA_ID (others are not looked at). A sample is a FILE; where a file shows
// several of the subjects it is FILE#SUBJECT_ID. Source: Klare et al., CVPR 2015.
//
// Splits that are not there are noted; at least one must be.
//
// 1:1 verification, one track a split: templates out of verify_metadata_K.csv, and
// verify_comparisons_K.csv without header, two template numbers a line, genuine where the subjects
// are the same. Keys: folder ("IJB-A_11_sets"), splits ([1, ..., 10]).
std::unique_ptr<TrialReader> make_ijba_11_reader(const TomlTable& table);

// 1:N identification, one track a split: search_gallery_K.csv and search_probe_K.csv. Keys: folder
// ("IJB-A_1N_sets"), splits.
std::unique_ptr<TrialReader> make_ijba_1n_reader(const TomlTable& table);

}  // namespace facebench

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "facebench/protocols/reader.h"

namespace facebench {

struct IjbOptions {
  std::string prefix;
  std::vector<std::string> galleries;
  bool pooled = false;
  static void describe(OptionsBuilder<IjbOptions>& o) {
    o.name("ijb", "IJB-B's and IJB-C's lists.");
    o.field("prefix", &IjbOptions::prefix, "what names of files begin with: ijbb, ijbc").required =
        true;
    o.field("galleries", &IjbOptions::galleries, "the galleries as files name them: G1, G2")
        .required = true;
    o.field("pooled", &IjbOptions::pooled,
            "all galleries are one, which holds a mate of every probe (1:N alone)");
  }
};

// IJB-B and IJB-C in either packaging; which it is, files tell that are there.
//
// As InsightFace packs them (folder meta/; text, single blanks, no header), recognised by
// P_face_tid_mid.txt (image, template, medium). P_name_5pts_score.txt (image, five points, score of
// the detection) has the same images row by row; rows out of step are an Error with both lines.
// P_template_pair_label.txt: two templates and 1 or 0. Source: insightface,
// recognition/_evaluation_/ijb/ijb_evals.py.
//
// As NIST gave them out (folder protocols/; CSV): a row of P_1N_gallery_G1.csv, P_1N_gallery_G2.csv
// and P_1N_probe_mixed.csv is an image of a template, with TEMPLATE_ID, SUBJECT_ID, FILENAME (or
// FILE) and SIGHTING_ID (or MEDIA_ID), which is the medium; P_11_G1_G2_matches.csv has two
// templates a line without header. A file with several subjects is FILE#SUBJECT_ID. No detector
// scores. Source: bob.db.ijbc, query.py.
//
// 1:1 verification, one track "verification". People are the subjects; in InsightFace's packaging
// what genuine comparisons connect.
std::unique_ptr<TrialReader> make_ijb_11_reader(const TomlTable& table);

// 1:N identification of the mixed probes, a track for each gallery, by its name; or, pooled, one
// track "G1+G2". InsightFace's packaging has the CSV files too, and of them TEMPLATE_ID and
// SUBJECT_ID are read.
std::unique_ptr<TrialReader> make_ijb_1n_reader(const TomlTable& table);

}  // namespace facebench

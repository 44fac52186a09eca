#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/registry.h"

namespace facebench {

// How the embeddings of several samples become one. The choice changes published results by more
// than the systems they compare differ, so each way has a name.
struct TemplateFusion {
  std::string name;
  std::string doc;
  std::string source;
  // Each sample's embedding is brought to unit length first; else samples with a longer embedding
  // (usually those of better quality) count more.
  bool unit_samples = false;
  // What is done within a medium before the media are added up: nothing (media are not looked at),
  // the mean, or the sum brought to unit length.
  enum class Medium : std::uint8_t { ignored, mean, unit_sum } medium = Medium::ignored;
  // Each sample is multiplied by the score of its face's detection, which the lists give.
  bool detector_scores = false;
  // What a published script does with the mirrored image, by the words of the extractor's option
  // `flip`: "sum" or "none"; "" = this fusion says nothing about it. Embeddings have it or not, so
  // it is a condition and not a step here.
  std::string flip;
};
// The switches by themselves, and scripts that people name by theirs ("eval_ijbc").
const Table<TemplateFusion>& template_fusions();

// The switches in words: "norms kept", "times the detector score", "mean within a medium, sum over
// the media", and "flip sum" where the fusion says something about it.
std::vector<std::string> fusion_switches(const TemplateFusion& fusion);

// Scripts for IJB-B and IJB-C print their switches as a label such as N1D1F1: norm, detector score,
// flip. The letter N means the opposite in two families, so a label needs its script.
struct IjbScript {
  std::string name;
  std::string doc;
  bool n1_keeps_norms = true;  // else N1 brings each sample to unit length
};
const Table<IjbScript>& ijb_scripts();

// What a label means: one of template_fusions(), and what the embeddings must have as `flip`.
struct IjbLabel {
  std::string fusion;
  std::string flip;
};
// Throws std::invalid_argument for another form than N[01]D[01]F[012] and an unknown script. F2
// (mirrored embeddings appended, their halves added) is F1 by another name.
IjbLabel ijb_label(std::string_view label, std::string_view script);

// The fused embedding, of unit length. `samples` is (n, dim) row-major, n >= 1; `media` has the
// medium of each, `scores` the score of its face's detection, >= 0, which a fusion by them needs
// and others do not look at. Sums are taken in double, in the order given (media by first
// appearance). Throws std::invalid_argument where sizes disagree, where an embedding is zero or not
// finite, where the scores are missing, and where the samples cancel out.
std::vector<double> fuse_template(const TemplateFusion& fusion, std::span<const float> samples,
                                  std::span<const std::int32_t> media,
                                  std::span<const float> scores = {});

}  // namespace facebench

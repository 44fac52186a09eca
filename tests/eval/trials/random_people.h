#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "facebench/core/random.h"
#include "facebench/evaluation/spec.h"
#include "facebench/io/embeddings.h"
#include "facebench/trials/trials.h"

namespace facebench {

// Images of people ("p3/1.jpg"), sample by sample of person by person, whose embeddings are normal
// around a point for each person.
struct RandomPeople {
  int people, images, dim;
  std::uint64_t person_seed, image_seed;
  double noise;  // of an image, where people lie 1 apart

  void fill(TrialSet& trials, EmbeddingSet& embeddings) const {
    TrialSetBuilder builder(trials);
    embeddings.dim = dim;
    for (int p = 0; p < people; ++p)
      for (int s = 0; s < images; ++s) {
        const std::string who = "p" + std::to_string(p);
        const std::string name = who + "/" + std::to_string(s) + ".jpg";
        builder.sample(name, who);
        embeddings.names.push_back(name);
        embeddings.status.push_back(SampleStatus::ok);
        Random around(image_seed, "image", {std::uint64_t(p), std::uint64_t(s)});
        Random person(person_seed, "person", {std::uint64_t(p)});
        for (int k = 0; k < dim; ++k)
          embeddings.values.push_back(
              static_cast<float>(person.normal() + noise * around.normal()));
      }
  }
};

inline void fail_sample(EmbeddingSet& embeddings, std::size_t i) {
  embeddings.status[i] = SampleStatus::no_face;
  std::fill_n(embeddings.values.begin() + static_cast<std::ptrdiff_t>(i) * embeddings.dim,
              embeddings.dim, 0.0f);
}

// A protocol without lists, for trials made by hand; `rest` goes on in its table [evaluation].
inline ProtocolSpec protocol_by_hand(const std::string& rest) {
  return parse_protocol(R"(
id = "by_hand"
version = 1
title = "By hand"
[data]
images = ["."]
lists = ["."]
match = "exact"
[reader]
name = "lfw_pairs"
[evaluation]
convention = "exact"
interval = "dyadic"
failed_enrolments = "lowest_score"
)" + rest,
                        "by_hand.toml");
}

}  // namespace facebench

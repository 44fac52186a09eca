#include "facebench/evaluation/evaluation_options.h"

#include "facebench/core/options.h"

namespace facebench {

void EvaluationOptions::describe(OptionsBuilder<EvaluationOptions>& o) {
  o.name("EvaluationOptions", "How a protocol is evaluated.");
  o.field("convention", &EvaluationOptions::convention,
          "how the numbers are computed (see: facebench list conventions); default: the "
          "protocol's");
  o.field("accuracy_convention", &EvaluationOptions::accuracy_convention,
          "how the accuracy is computed; default: as the convention says");
  o.field("tar_at_far_convention", &EvaluationOptions::tar_at_far_convention,
          "how a TAR at a FAR is computed; default: as the convention says");
  o.field("identification_convention", &EvaluationOptions::identification_convention,
          "how a DIR at an FPIR is computed; default: as the convention says");
  o.field("rank_ties", &EvaluationOptions::rank_ties,
          "the rank of a mate with the same score as other people: pessimistic, optimistic, "
          "expected; default: the protocol's, else pessimistic");
  o.field("failed_enrolments", &EvaluationOptions::failed_enrolments,
          "what a failed enrolment scores; default: the protocol's");
  o.field("interval", &EvaluationOptions::interval,
          "how confidence intervals are made; default: the protocol's");
  o.field("fusion", &EvaluationOptions::fusion,
          "how the embeddings of a template become one (see: facebench list fusions); default: the "
          "protocol's");
  o.field("match", &EvaluationOptions::match,
          "how the names of embeddings are those of the lists: exact, path_stem (without endings), "
          "suffix (theirs end with ours), stem (the file name alone); default: the protocol's");
  o.field("replicates", &EvaluationOptions::replicates, "bootstrap replicates", 20, 10'000'000);
  o.field("level", &EvaluationOptions::level, "level of the intervals", 0.5, 0.9999);
  o.field("seed", &EvaluationOptions::seed, "seed of the bootstrap", 0, 9e15);
  o.field("stored_scores", &EvaluationOptions::stored_scores,
          "comparisons of a track up to which all scores are kept; of more, the genuine and the "
          "highest impostor ones and a histogram (every image with every other), or the outcome "
          "of each search",
          1, 1'000'000'000);
  o.field("strict", &EvaluationOptions::strict,
          "any failed enrolment and any blemish of the lists is an error");
  o.field("backend", &EvaluationOptions::backend,
          "what stands between embeddings and scores: steps (pca=128,lda=64,plda; see: facebench "
          "list backends) or a .backend file; default: the cosine");
  o.field("train", &EvaluationOptions::train,
          "what the back end is fitted to: an .h5 file of embeddings named PERSON/IMAGE; default: "
          "the other folds of the list, without the people of the fold");
  o.field("allow_overlap", &EvaluationOptions::allow_overlap,
          "people who are tested may be among those of train or cohort; the report says so");
  o.field("normalise", &EvaluationOptions::normalise,
          "scores against those with a cohort: z-norm, t-norm, s-norm, or s-norm:top=200 "
          "(adaptive)");
  o.field("cohort", &EvaluationOptions::cohort,
          "the cohort: an .h5 file of embeddings named PERSON/IMAGE; default: what the back end is "
          "fitted to");
}

}  // namespace facebench

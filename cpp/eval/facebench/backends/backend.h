#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "facebench/core/job.h"
#include "facebench/core/matrix.h"
#include "facebench/core/registry.h"

// What stands between embeddings and their score: a chain of steps that are fitted to embeddings of
// known people. Doubles throughout.
namespace facebench {

// A kind of step. `takes` are the settings that it has: "value" (what stands behind '='),
// "shrinkage", "iterations".
struct BackendKind {
  std::string name, doc, source;
  std::vector<std::string> takes;
  std::string value;    // what the value means
  bool scores = false;  // it gives the score, so it stands last
  bool people = false;  // it needs to know who is on each image
};
const Table<BackendKind>& backend_kinds();

// One step as it is asked for.
struct BackendStep {
  std::string name;
  double value = 0;  // pca, lda: dimensions (pca below 1: share of the variance); plda: rank;
                     // 0: as many as there are
  std::string form;  // whiten: "zca" or "pca"
  // Unset: Ledoit-Wolf's where images less people (whiten: less one) are fewer than dimensions,
  // else 0. -1: Ledoit-Wolf's.
  std::optional<double> shrinkage;
  int iterations = 0;  // 0: the step's default
};

// "pca=128,lda=64,plda": steps by commas, settings of a step by colons ("plda=32:shrinkage=0.1").
// Without a scoring step the last is cosine. Throws std::invalid_argument with "did you mean".
std::vector<BackendStep> parse_backend(std::string_view spec);
std::string backend_text(std::span<const BackendStep> steps);

struct FittedStep {
  BackendStep asked;
  Eigen::VectorXd mean;     // (D)
  RowMatrix<double> basis;  // (K, D): basis (x - mean); empty: all D as they are
  bool unit = false;        // rows are brought to length 1 after it
  double shrinkage = 0;     // that was used
};

// Rows after all steps, and the part of a score that is of one side alone.
struct BackendSide {
  RowMatrix<double> rows;
  Eigen::VectorXd own;
};

struct Backend {
  std::string spec;               // backend_text()
  std::vector<FittedStep> steps;  // the last one scores
  // score(a, b) = constant + sum_k (cross a b + square (a a + b b) / 2), after the last step.
  double constant = 0;
  Eigen::VectorXd cross, square;
  // What it was fitted to. The hash is of rows and people.
  std::string training_sha256;
  std::int64_t people = 0, images = 0;
  std::vector<std::string> people_names;  // where they were given; sorted
  std::vector<std::string> notes;  // what was done beside what was asked for, a sentence each

  std::int64_t dim() const;
  // (N, D) to (N, K): all steps before the one that scores.
  RowMatrix<double> transform(const MatrixRef<double>& rows, const Job& job = {}) const;
  // Of row i of both, symmetric in them. plda and joint_bayesian: natural-logarithm likelihood
  // ratios; cosine in [-1, 1]; mahalanobis: minus the squared distance. All throw
  // std::invalid_argument for another number of dimensions or rows, and for a row that holds NaN or
  // an infinity.
  std::vector<double> score(const MatrixRef<double>& a, const MatrixRef<double>& b,
                            const Job& job = {}) const;
  // The same in two steps, where a row is in many scores.
  BackendSide side(const MatrixRef<double>& rows, const Job& job = {}) const;
  double score(const BackendSide& a, std::int64_t row_of_a, const BackendSide& b,
               std::int64_t row_of_b) const;
  // Of every row of a with every row of b.
  RowMatrix<double> score_all(const MatrixRef<double>& a, const MatrixRef<double>& b,
                              const Job& job = {}) const;
  // Of rows [begin, begin + count) of a with all of b: (count, rows of b).
  RowMatrix<double> score_all(const BackendSide& a, std::int64_t begin, std::int64_t count,
                              const BackendSide& b) const;
};

// `person`: a number for each row, the same for the same person; empty where no step needs it. The
// same bits for any number of threads, on any instruction set, wherever the arrays lie. Throws
// std::invalid_argument for rows or people that do not fit the steps, and Error where the data give
// no answer (a direction without spread). `names`: what the people are called, kept so that it can
// be seen who was trained on.
Backend fit_backend(std::string_view spec, const MatrixRef<double>& rows,
                    std::span<const std::int32_t> person, const Job& job = {},
                    std::vector<std::string> names = {});

// A `.backend` file: HDF5. read_backend throws Error for a file that is damaged, or was changed.
void write_backend(const std::filesystem::path& path, const Backend& backend);
Backend read_backend(const std::filesystem::path& path);
// SHA-256 of everything that decides a score.
std::string backend_sha256(const Backend& backend);

}  // namespace facebench

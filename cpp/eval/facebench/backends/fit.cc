#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_map>

#include "facebench/backends/backend.h"
#include "facebench/backends/internal/apply.h"
#include "facebench/backends/internal/people_sums.h"
#include "facebench/core/error.h"
#include "facebench/io/sha256.h"

namespace facebench {
namespace {

[[noreturn]] void refuse(const BackendStep& step, const std::string& why) {
  throw std::invalid_argument(fmt::format("back end {}: {}", step.name, why));
}

// Fits one step after the other to what the steps before it make of the rows.
struct Fit {
  Backend& backend;
  Matrix rows;
  std::vector<std::int32_t> person;  // in [0, people)
  std::int64_t people = 0;
  const Job& job;

  PeopleSums sums(bool of_people) const {
    return of_people ? people_sums(rows, person, people, job) : people_sums(rows, {}, 1, job);
  }

  double shrinkage(const BackendStep& step, const PeopleSums& s) const {
    const auto groups = static_cast<std::int64_t>(s.counts.size());
    const bool few = s.images - groups < s.within.rows();
    if (step.shrinkage && *step.shrinkage >= 0) return *step.shrinkage;
    if (!step.shrinkage && !few) return 0;
    const double weight = ledoit_wolf(s.within, s.fourth, s.images);
    if (!step.shrinkage)
      backend.notes.push_back(fmt::format(
          "{}: {} images of {} {} for {} dimensions: the covariance is shrunk by {:.3g} "
          "(Ledoit-Wolf); shrinkage=NUMBER or pca=N before it decides otherwise.",
          step.name, s.images, groups, groups == 1 ? "group" : "people", s.within.rows(), weight));
    return weight;
  }

  // The covariance within people: images weigh alike.
  Matrix covariance(const BackendStep& step, const PeopleSums& s, FittedStep& fitted) const {
    fitted.shrinkage = shrinkage(step, s);
    return shrunk(s.within / static_cast<double>(s.images), fitted.shrinkage);
  }

  // Rows W with W cov W' = I: the inverse of the covariance's Cholesky factor.
  static Matrix whitening(const Matrix& cov) {
    return solve_lower(cholesky(cov, "covariance"), Matrix::Identity(cov.rows(), cov.cols()));
  }

  void pca(const BackendStep& step, FittedStep& fitted) const {
    const std::int64_t n = rows.rows(), d = rows.cols();
    Eigenvectors found;
    if (n > d) {
      found = eigenvectors(scatter(rows, fitted.mean.transpose(), {}, job) /
                           static_cast<double>(n - 1));
    } else {  // of the images' inner products: the same values other than 0
      const Matrix centred = rows.rowwise() - fitted.mean.transpose();
      found = eigenvectors(product_transposed(centred, centred) / static_cast<double>(n - 1));
      found.vectors = product(found.vectors, centred);
      for (Eigen::Index i = 0; i < found.vectors.rows(); ++i) {
        Eigen::Index largest = 0;
        found.vectors.row(i).cwiseAbs().maxCoeff(&largest);
        const double norm = std::max(found.vectors.row(i).norm(), 1e-300);
        found.vectors.row(i) /= found.vectors(i, largest) < 0 ? -norm : norm;
      }
    }
    const double least = found.values[0] * 1e-12;
    std::int64_t most = 0;
    while (most < std::min(n - 1, d) && found.values[most] > least) ++most;
    if (most == 0) refuse(step, "all rows are the same");
    std::int64_t keep = most;
    if (step.value >= 1) {
      keep = static_cast<std::int64_t>(step.value);
      if (keep > most)
        refuse(step, fmt::format("{} dimensions are asked for, {} images of {} numbers have {}",
                                 keep, n, d, most));
    } else if (step.value > 0) {
      const double all = found.values.head(most).sum();
      double sum = 0;
      for (keep = 0; keep < most && sum < step.value * all; ++keep) sum += found.values[keep];
    }
    fitted.basis = found.vectors.topRows(keep);
  }

  void lda(const BackendStep& step, FittedStep& fitted) const {
    const PeopleSums s = sums(true);
    const Matrix white = whitening(covariance(step, s, fitted));
    const Vector weight =
        Eigen::Map<const Vector>(s.counts.data(), static_cast<Eigen::Index>(s.counts.size())) /
        static_cast<double>(s.images);
    Matrix between = product(Matrix(s.means.transpose() * weight.asDiagonal()), s.means);
    between = product_transposed(product(white, between), white);
    const std::int64_t most = std::min<std::int64_t>(people - 1, rows.cols());
    const auto keep = step.value > 0 ? static_cast<std::int64_t>(step.value) : most;
    if (keep > most)
      refuse(step, fmt::format("{} dimensions are asked for, {} people of {} numbers give {}", keep,
                               people, rows.cols(), most));
    fitted.basis = product(Matrix(eigenvectors(between).vectors.topRows(keep)), white);
  }

  void whiten(const BackendStep& step, FittedStep& fitted) const {
    const Eigenvectors found = eigenvectors(covariance(step, sums(false), fitted));
    if (!(found.values[found.values.size() - 1] > 1e-14 * found.values[0]))
      fail("back end whiten", "some direction has no spread",
           "Put pca=N of fewer dimensions before it, or give shrinkage=lw.");
    fitted.basis = found.values.cwiseSqrt().cwiseInverse().asDiagonal() * found.vectors;
    if (step.form == "zca") fitted.basis = product(found.vectors.transpose(), fitted.basis);
  }

  // The axes in which both covariances are diagonal, and the ratio there.
  void ratio(const TwoCovariances& c, FittedStep& fitted) const {
    const Matrix lower = cholesky(c.within, "covariance within people");
    Matrix white = solve_lower(lower, solve_lower(lower, c.between).transpose());
    white = (0.5 * (white + white.transpose())).eval();
    const Eigenvectors found = eigenvectors(white);
    const double least = 1e-12 * std::max(1.0, found.values[0]);
    Eigen::Index keep = 0;
    while (keep < found.values.size() && found.values[keep] > least) ++keep;
    if (keep == 0)
      fail("back end " + fitted.asked.name, "people do not differ in any direction",
           "See that the names of people go with the rows.");
    fitted.basis = solve_transposed(lower, found.vectors.topRows(keep).transpose()).transpose();
    const auto v = found.values.head(keep).array();
    backend.constant = ((1 + v).log() - 0.5 * (1 + 2 * v).log()).sum();
    backend.cross = v / (1 + 2 * v);
    backend.square = -v.square() / ((1 + v) * (1 + 2 * v));
  }

  void likelihood(const BackendStep& step, FittedStep& fitted) const {
    const PeopleSums s = sums(true);
    fitted.shrinkage = shrinkage(step, s);
    if (step.name == "joint_bayesian") {
      const int iterations = step.iterations > 0 ? step.iterations : 20;
      return ratio(fit_joint_bayesian(s, fitted.shrinkage, iterations, job), fitted);
    }
    const int most = step.iterations > 0 ? step.iterations : 200;
    const TwoCovariances c =
        fit_plda(s, static_cast<std::int64_t>(step.value), fitted.shrinkage, most, job);
    if (c.iterations == most && step.iterations == 0)
      backend.notes.push_back(
          fmt::format("plda: the likelihood still rose after {} iterations; "
                      "iterations=N asks for more.",
                      most));
    ratio(c, fitted);
  }

  void add(const BackendStep& step) {
    FittedStep fitted{step};
    fitted.mean = Vector::Zero(rows.cols());
    const bool centred = step.name != "unit" && step.name != "cosine";
    if (centred) {
      for (Eigen::Index i = 0; i < rows.rows(); ++i) fitted.mean += rows.row(i).transpose();
      fitted.mean /= static_cast<double>(rows.rows());
    }
    fitted.unit = !centred;
    if (step.name == "pca") pca(step, fitted);
    if (step.name == "lda") lda(step, fitted);
    if (step.name == "whiten") whiten(step, fitted);
    if (step.name == "wccn" || step.name == "mahalanobis")
      fitted.basis = whitening(covariance(step, sums(true), fitted));
    if (step.name == "plda" || step.name == "joint_bayesian") likelihood(step, fitted);
    const Eigen::Index kept = fitted.basis.size() ? fitted.basis.rows() : rows.cols();
    if (step.name == "cosine") backend.cross = Vector::Ones(kept);
    if (step.name == "cosine") backend.square = Vector::Zero(kept);
    if (step.name == "mahalanobis") backend.cross = Vector::Constant(kept, 2);
    if (step.name == "mahalanobis") backend.square = Vector::Constant(kept, -2);
    if (!backend_kinds().at(step.name).scores) rows = apply_step(fitted, rows, job);
    backend.steps.push_back(std::move(fitted));
  }
};

void number_people(Fit& fit, std::span<const std::int32_t> person) {
  std::unordered_map<std::int32_t, std::int32_t> numbers;
  for (const std::int32_t p : person)
    fit.person.push_back(
        numbers.try_emplace(p, static_cast<std::int32_t>(numbers.size())).first->second);
  fit.people = static_cast<std::int64_t>(numbers.size());
}

}  // namespace

Backend fit_backend(std::string_view spec, const MatrixRef<double>& rows,
                    std::span<const std::int32_t> person, const Job& job,
                    std::vector<std::string> names) {
  const std::vector<BackendStep> steps = parse_backend(spec);
  Backend backend;
  backend.spec = backend_text(steps);
  check_rows(rows, -1, "the training set");
  Fit fit{backend, rows, {}, 0, job};
  if (!person.empty() && static_cast<Eigen::Index>(person.size()) != rows.rows())
    throw std::invalid_argument(
        fmt::format("{} labels for {} rows of the training set", person.size(), rows.rows()));
  number_people(fit, person);
  backend.images = rows.rows();
  backend.people = fit.people;
  std::ranges::sort(names);
  backend.people_names = std::move(names);
  if (rows.rows() < 2) throw std::invalid_argument("a back end is fitted to two rows or more");
  for (const BackendStep& step : steps) {
    if (!backend_kinds().at(step.name).people) continue;
    if (person.empty()) refuse(step, "needs labels, which say who is on each row");
    if (fit.people < 2) refuse(step, "needs two people or more, all rows are of one");
    if (fit.people == rows.rows())
      refuse(step, fmt::format("needs people with two images or more; each of the {} has one",
                               fit.people));
  }
  Sha256 hash;
  hash.update(fmt::format("{} {}\n", rows.rows(), rows.cols()));
  hash.update(std::as_bytes(std::span(fit.rows.data(), static_cast<std::size_t>(fit.rows.size()))));
  hash.update(std::as_bytes(std::span(fit.person)));
  backend.training_sha256 = hash.hex();
  for (const BackendStep& step : steps) fit.add(step);
  return backend;
}

}  // namespace facebench

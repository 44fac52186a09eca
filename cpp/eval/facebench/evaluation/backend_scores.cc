#include "facebench/evaluation/backend_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "facebench/backends/backend.h"
#include "facebench/backends/score_normalisation.h"
#include "facebench/core/error.h"
#include "facebench/core/person_names.h"
#include "facebench/evaluation/internal/given_scores.h"
#include "facebench/io/sha256.h"
#include "facebench/io/text.h"
#include "facebench/trials/listed_trials.h"

namespace facebench {
namespace {

namespace fs = std::filesystem;

// Rows of known people.
struct People {
  RowMatrix<double> rows;
  std::vector<std::int32_t> person;  // index into `names`
  std::vector<std::string> names;
};

void append(std::vector<std::string>& out, std::string text) {
  if (std::ranges::find(out, text) == out.end()) out.push_back(std::move(text));
}

// A file of embeddings, whose names say who is on them, as folders do.
People read_people(const fs::path& path, const EmbeddingSet& tested) {
  const EmbeddingSet set = read_embeddings(path);
  const std::string where = path.string();
  if (set.dim != tested.dim)
    fail(where,
         fmt::format("has embeddings of {} numbers, those evaluated have {}", set.dim, tested.dim),
         "Embed both with the same model.");
  for (const char* hash : {"/model_sha256", "/model/sha256"}) {
    const std::string a = text_at(set.manifest, hash), b = text_at(tested.manifest, hash);
    if (!a.empty() && !b.empty() && a != b)
      fail(where, "has embeddings of another model than those evaluated (another SHA-256)",
           "Embed both with the same model.");
  }
  People people;
  std::map<std::string, std::int32_t> numbers;
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set.status[i] != SampleStatus::ok) continue;
    const std::string person = fs::path(set.names[i]).parent_path().filename().string();
    if (person.empty())
      fail(where, fmt::format("'{}' does not say who it is", set.names[i]),
           "Name its rows PERSON/IMAGE.");
    const auto [entry, added] =
        numbers.try_emplace(person, static_cast<std::int32_t>(people.names.size()));
    if (added) people.names.push_back(person);
    people.person.push_back(entry->second);
    used.push_back(i);
  }
  if (used.empty()) fail(where, "holds no embedding that was made");
  people.rows.resize(static_cast<Eigen::Index>(used.size()), set.dim);
  for (std::size_t i = 0; i < used.size(); ++i)
    people.rows.row(static_cast<Eigen::Index>(i)) =
        MatrixView<float>(set.row(used[i]).data(), 1, set.dim).cast<double>();
  return people;
}

Json training_json(const Backend& b) {
  return {{"sha256", b.training_sha256}, {"people", b.people}, {"images", b.images}};
}

std::string sha256_of(const RowMatrix<double>& rows) {
  Sha256 hash;
  hash.update(fmt::format("{} {}\n", rows.rows(), rows.cols()));
  hash.update(std::as_bytes(std::span(rows.data(), static_cast<std::size_t>(rows.size()))));
  return hash.hex();
}

class Scoring {
 public:
  Scoring(const ScoredTrials& scored, const EmbeddingSet& embeddings, const UnitEmbeddings& units,
          const Job& job)
      : scored_(scored),
        trials_(scored.trials),
        options_(scored.options),
        embeddings_(embeddings),
        units_(units),
        job_(job),
        chain_(options_.backend.value_or("cosine")),
        from_file_(chain_.ends_with(".backend")) {
    if (options_.normalise) normalisation_ = parse_normalisation(*options_.normalise);
    if (!from_file_) steps_ = parse_backend(chain_);
    if (from_file_ && !options_.train.empty())
      throw std::invalid_argument(
          "train: a .backend file was fitted already; leave one of both out");
    if (!options_.cohort.empty() && !normalisation_)
      throw std::invalid_argument("cohort: is of a score normalisation; say which (normalise)");
    if (from_file_ && normalisation_ && options_.cohort.empty())
      throw std::invalid_argument("normalise: with a .backend file give a cohort");
    read_rows();
  }

  BackendScores run(std::span<const Storage> storage) {
    if (!options_.cohort.empty()) {
      cohort_ = read_people(options_.cohort, embeddings_);
      result_.inputs.push_back({"cohort", options_.cohort, sha256_file(options_.cohort, job_)});
      refuse_tested(cohort_->names, options_.cohort.string(), "the cohort");
    }
    std::optional<Backend> backend = fitted_for_all();
    check_unit(backend ? backend->steps.front().asked.name : steps_.front().name);
    const std::string last = backend ? backend->steps.back().asked.name : steps_.back().name;
    result_.score = normalisation_ ? normalisation_text(*normalisation_) : last;
    if (normalisation_) {
      result_.content["normalise"] = normalisation_text(*normalisation_);
      result_.notes.push_back(fmt::format(
          "Scores are normalised ({}) by those with {}.", normalisation_text(*normalisation_),
          cohort_ ? fmt::format("a cohort of {} images of {} people", cohort_->rows.rows(),
                                cohort_->names.size())
                  : "what the back end was fitted to"));
      if (cohort_)
        result_.content["cohort"] = {{"sha256", sha256_of(cohort_->rows)},
                                     {"people", cohort_->names.size()},
                                     {"images", cohort_->rows.rows()}};
    }
    if (backend && last == "cosine" && !normalisation_) {
      const UnitEmbeddings changed = transformed(*backend);
      for (std::size_t t = 0; t < trials_.tracks.size(); ++t)
        result_.scores.push_back(trials_.tracks[t].trials->score(changed, storage[t], job_));
      return std::move(result_);
    }
    for (std::size_t t = 0; t < trials_.tracks.size(); ++t) {
      const Track& track = trials_.tracks[t];
      if (storage[t].what == Storage::What::centred)
        throw std::invalid_argument(fmt::format(
            "the rule '{}' of the accuracy subtracts the mean of the embeddings, which a back end "
            "does itself: take another (accuracy_convention)",
            options_.accuracy_convention.value_or("")));
      if (storage[t].what != Storage::What::all)
        throw std::invalid_argument(fmt::format(
            "track {} keeps a part of its scores, and this back end scores each comparison by "
            "itself: end the chain in the cosine, or raise stored_scores above {}",
            track.name, track.trials->slots()));
      result_.scores.push_back(
          given_scores(*track.trials, failed_units(units_.status),
                       backend ? scores_of(track, *backend, training_) : by_folds(track), 0));
    }
    return std::move(result_);
  }

 private:
  // The units as a back end takes them: as the embeddings are, templates as they were fused.
  void read_rows() {
    const auto units = static_cast<Eigen::Index>(units_.size());
    rows_.resize(units, units_.dim);
    if (trials_.templates.size()) {
      rows_ = MatrixView<float>(units_.values.data(), units, units_.dim).cast<double>();
      return;
    }
    const std::vector<std::int64_t> row_of =
        match_names(trials_.names, embeddings_.names, options_.match.value_or(scored_.spec.match));
    for (Eigen::Index u = 0; u < units; ++u) {
      if (units_.failed(static_cast<std::int32_t>(u))) {
        rows_.row(u).setZero();
        continue;
      }
      const auto row =
          embeddings_.row(static_cast<std::size_t>(row_of[static_cast<std::size_t>(u)]));
      rows_.row(u) = MatrixView<float>(row.data(), 1, units_.dim).cast<double>();
    }
  }

  void check_unit(const std::string& first) const {
    if (trials_.templates.size() && first != "unit" && first != "cosine")
      throw std::invalid_argument(fmt::format(
          "back end {}: templates are fused to rows of length 1, so the chain begins with 'unit'",
          chain_));
  }

  std::set<std::int32_t> tested_people() const {
    std::set<std::int32_t> people;
    for (const Track& track : trials_.tracks)
      for (const std::int32_t unit : track.trials->units())
        people.insert(trials_.unit_identity(unit));
    return people;
  }

  // Throws where some of these people are tested; with allow_overlap the report says so.
  void refuse_tested(const std::vector<std::string>& names, const std::string& where,
                     const std::string& what) {
    std::vector<std::string> tested;
    for (const std::int32_t p : tested_people())
      tested.push_back(trials_.identity_names[static_cast<std::size_t>(p)]);
    const std::set<std::string> known(tested.begin(), tested.end());
    const NameComparison compared = match_names(names, tested);
    std::set<std::string> both;
    for (const NameMatch& match : compared.matches)
      both.insert(names[static_cast<std::size_t>(match.first)]);
    // Identifiers say nothing but that they are the same.
    for (const std::string& name : names)
      if (known.contains(name)) both.insert(name);
    if (compared.first_unnamed > 0 && both.empty())
      append(result_.notes,
             fmt::format("{} of the {} people of {} are called by identifiers, which were compared "
                         "letter by letter with those tested.",
                         compared.first_unnamed, names.size(), what));
    if (both.empty()) return;
    const std::vector<std::string> list(both.begin(), both.end());
    const std::string found = fmt::format("{} of the {} people of {} are tested ({})", list.size(),
                                          names.size(), what, first_names(list, 5));
    if (!options_.allow_overlap)
      fail(where, found,
           "Take them out, or say allow_overlap (--allow-overlap): the numbers then flatter.");
    result_.warnings.push_back(found + ", as was allowed: the numbers flatter.");
    result_.content["overlap"].push_back({{"of", what}, {"people", list}});
  }

  void note_all(const Backend& backend, const std::string& where) {
    for (const std::string& note : backend.notes)
      append(result_.notes, fmt::format("Back end{}: {}", where, note));
  }

  // The one back end of all tracks; none where each fold has its own.
  std::optional<Backend> fitted_for_all() {
    const bool needs_none = !from_file_ && steps_.size() == 1 && (steps_[0].name == "cosine") &&
                            (cohort_ || !normalisation_);
    if (from_file_) {
      const fs::path path = chain_;
      Backend backend = read_backend(path);
      if (backend.dim() != units_.dim)
        fail(path.string(), fmt::format("was fitted to rows of {} numbers, the embeddings have {}",
                                        backend.dim(), units_.dim));
      result_.inputs.push_back({"backend", path, sha256_file(path, job_)});
      if (backend.people_names.empty())
        result_.warnings.push_back(
            "The back end's file does not name the people it was fitted to: whether some of them "
            "are tested was not checked.");
      else
        refuse_tested(backend.people_names, path.string(), "the back end's training set");
      describe(backend, "file");
      return backend;
    }
    if (needs_none) {
      // Fitted to nothing: the two rows say how long they are.
      Backend backend = fit_backend(chain_, RowMatrix<double>::Identity(2, units_.dim), {}, job_);
      result_.content["spec"] = backend.spec;
      return backend;
    }
    if (options_.train.empty()) {
      result_.content["spec"] = backend_text(steps_);
      result_.content["trained_on"] = "other folds";
      return std::nullopt;
    }
    People people = read_people(options_.train, embeddings_);
    result_.inputs.push_back({"train", options_.train, sha256_file(options_.train, job_)});
    refuse_tested(people.names, options_.train.string(), "the training set");
    Backend backend = fit_backend(chain_, people.rows, people.person, job_, people.names);
    describe(backend, "training set");
    note_all(backend, "");
    training_ = std::move(people.rows);
    return backend;
  }

  void describe(const Backend& backend, const char* trained_on) {
    result_.content["spec"] = backend.spec;
    result_.content["trained_on"] = trained_on;
    result_.content["sha256"] = backend_sha256(backend);
    result_.content["training"] = training_json(backend);
    result_.notes.push_back(fmt::format("Back end {}: fitted to {} images of {} people ({}).",
                                        backend.spec, backend.images, backend.people,
                                        from_file_ ? "a .backend file" : "a training set"));
  }

  UnitEmbeddings transformed(const Backend& backend) const {
    UnitEmbeddings changed = units_;
    const RowMatrix<double> rows = backend.side(rows_, job_).rows;
    changed.dim = rows.cols();
    changed.values.assign(static_cast<std::size_t>(rows.size()), 0);
    for (Eigen::Index u = 0; u < rows.rows(); ++u)
      if (!units_.failed(static_cast<std::int32_t>(u)))
        for (Eigen::Index k = 0; k < rows.cols(); ++k)
          changed.values[static_cast<std::size_t>(u * rows.cols() + k)] =
              static_cast<float>(rows(u, k));
    return changed;
  }

  // Of all scores of a track, 0 where nothing is compared or a side failed; `fold`: of it alone.
  std::vector<double> scores_of(const Track& track, const Backend& backend,
                                const RowMatrix<double>& training,
                                std::optional<std::int32_t> fold = {}) const {
    constexpr std::int64_t at_once = 1 << 14;
    const std::int64_t slots = track.trials->slots();
    const BackendSide units = backend.side(rows_, job_);
    std::optional<CohortScores> cohort;
    if (normalisation_)
      cohort = cohort_scores(backend, units, backend.side(cohort_ ? cohort_->rows : training, job_),
                             normalisation_->top, job_);
    const ListedTrials* list = track.trials->list();
    std::vector<double> scores(static_cast<std::size_t>(slots), 0);
    parallel_for((slots + at_once - 1) / at_once, job_, [&](std::int64_t block, int) {
      for (std::int64_t k = block * at_once; k < std::min(slots, (block + 1) * at_once); ++k) {
        if (fold && list->fold[static_cast<std::size_t>(k)] != *fold) continue;
        const auto sides = track.trials->comparison_at(k);
        if (!sides || units_.failed(sides->first) || units_.failed(sides->second)) continue;
        double score = backend.score(units, sides->first, units, sides->second);
        if (cohort)
          score = normalised(*normalisation_, score, *cohort, sides->first, *cohort, sides->second);
        scores[static_cast<std::size_t>(k)] = score;
      }
    });
    return scores;
  }

  std::vector<double> by_folds(const Track& track) {
    const ListedTrials* list = track.trials->list();
    if (!list || list->fold.empty())
      throw std::invalid_argument(fmt::format(
          "back end {}: track {} has no folds to be fitted to; give embeddings of other "
          "people (train, --train), or a .backend file",
          chain_, track.name));
    if (trials_.templates.size())
      throw std::invalid_argument(
          fmt::format("back end {}: track {} compares templates, which are not trained on; give "
                      "embeddings of other people (train, --train), or a .backend file",
                      chain_, track.name));
    std::vector<double> all(list->comparisons.size(), 0);
    Json& folds = result_.content["folds"][track.name] = Json::array();
    std::size_t most_left_out = 0;
    for (std::int32_t fold = 0; fold < list->fold_count(); ++fold) {
      std::set<std::int32_t> tested, other;
      std::set<std::int32_t> units;
      for (std::size_t k = 0; k < list->fold.size(); ++k)
        for (const std::int32_t u : {list->comparisons[k].first, list->comparisons[k].second})
          if (list->fold[k] == fold)
            tested.insert(trials_.unit_identity(u));
          else if (!units_.failed(u))
            units.insert(u);
      const std::size_t named = units.size();
      std::erase_if(units,
                    [&](std::int32_t u) { return tested.contains(trials_.unit_identity(u)); });
      most_left_out = std::max(most_left_out, named - units.size());
      if (units.empty())
        throw std::invalid_argument(
            fmt::format("back end {}: everybody of fold {} of track {} is in the other folds too, "
                        "so nothing is "
                        "left to fit it to; give embeddings of other people (train, --train)",
                        chain_, fold + 1, track.name));
      RowMatrix<double> rows(static_cast<Eigen::Index>(units.size()), units_.dim);
      std::vector<std::int32_t> person;
      for (const std::int32_t u : units) {
        rows.row(static_cast<Eigen::Index>(person.size())) = rows_.row(u);
        person.push_back(trials_.unit_identity(u));
      }
      const Backend backend = fit_backend(chain_, rows, person, job_);
      const std::vector<double> scores = scores_of(track, backend, rows, fold);
      for (std::size_t k = 0; k < all.size(); ++k)
        if (list->fold[k] == fold) all[k] = scores[k];
      folds.push_back({{"sha256", backend_sha256(backend)},
                       {"training", training_json(backend)},
                       {"left_out", named - units.size()}});
      if (fold == 0) note_all(backend, " of fold 1");
    }
    append(
        result_.notes,
        fmt::format("Back end {}: each of the {} folds of track {} is scored by one that was "
                    "fitted to the images and people of the others (LFW calls that unrestricted), "
                    "without anyone of the fold{}.",
                    chain_, list->fold_count(), track.name,
                    most_left_out == 0
                        ? ", who is in no other"
                        : fmt::format(": that left out up to {} images a fold", most_left_out)));
    return all;
  }

  const ScoredTrials& scored_;
  const TrialSet& trials_;
  const EvaluationOptions& options_;
  const EmbeddingSet& embeddings_;
  const UnitEmbeddings& units_;
  const Job& job_;
  std::string chain_;
  bool from_file_;
  std::vector<BackendStep> steps_;
  std::optional<Normalisation> normalisation_;
  RowMatrix<double> rows_;
  RowMatrix<double> training_;
  std::optional<People> cohort_;
  BackendScores result_;
};

}  // namespace

BackendScores backend_scores(const ScoredTrials& scored, const EmbeddingSet& embeddings,
                             const UnitEmbeddings& units, std::span<const Storage> storage,
                             const Job& job) {
  return Scoring(scored, embeddings, units, job).run(storage);
}

}  // namespace facebench

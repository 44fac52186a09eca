#include "facebench/analysis/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "facebench/analysis/internal/shortened.h"
#include "facebench/io/toml.h"

namespace facebench {
namespace {

constexpr std::size_t kEvidence = 120;  // bytes of a value that are shown

// Something that manifests record: a label for people and where it stands in the content, the first
// place that exists. Runs that were made from images keep more than those made from embeddings.
struct Recorded {
  const char* kind;
  const char* label;
  std::vector<const char*> places;
};
const std::vector<Recorded>& recorded() {
  static const std::vector<Recorded> all = {
      {"data", "the protocol", {"/protocol/id"}},
      {"data", "the reader of the lists", {"/protocol/reader"}},
      {"data", "what the reader was told", {"/protocol/reader_options"}},
      {"images", "the photographs", {"/images_sha256", "/embeddings/manifest/images_sha256"}},
      {"images", "detection", {"/preparation/detector"}},
      {"images", "the choice of the face", {"/preparation/selection"}},
      {"images", "the crop", {"/preparation/crop"}},
      {"images", "decoding", {"/preparation/decode"}},
      {"images", "the crops themselves (pack)", {"/pack_sha256"}},
      {"model", "the weights", {"/embeddings/manifest/model_sha256"}},
      {"model", "the model's description", {"/embeddings/manifest/model", "/embedder"}},
      {"model", "how embeddings are extracted", {"/embeddings/manifest/extract"}},
      {"model", "torch", {"/embeddings/manifest/torch"}},
      {"model", "torch's instruction sets", {"/embeddings/manifest/torch_isa"}},
      {"model", "the embeddings", {"/embeddings/sha256"}},
      {"model", "facebench", {"/facebench"}},
      {"model", "the compiler", {"/compiler"}},
      {"model", "the instruction set", {"/isa"}},
      {"back end", "the normalisation of scores", {"/backend/normalise"}},
      {"back end", "what the back end was fitted to", {"/backend/training", "/backend/trained_on"}},
      {"back end", "the fitted back end", {"/backend/sha256", "/backend/folds"}},
      {"back end", "the cohort", {"/backend/cohort"}},
      {"convention", "the convention", {"/options/convention"}},
      {"convention", "the rule of the accuracy", {"/options/accuracy_convention"}},
      {"convention", "the rule of the TAR at a FAR", {"/options/tar_at_far_convention"}},
      {"convention", "the rule of the DIR at an FPIR", {"/options/identification_convention"}},
      {"convention", "the rank of equal scores", {"/options/rank_ties"}},
      {"convention", "the treatment of failed enrolments", {"/options/failed_enrolments"}},
      {"convention", "how templates are fused", {"/options/fusion"}},
      {"intervals", "how intervals are made", {"/options/interval"}},
      {"intervals", "the level of intervals", {"/options/level"}},
      {"intervals", "bootstrap replicates", {"/options/replicates"}},
      {"intervals", "the seed of the bootstrap", {"/options/seed"}},
  };
  return all;
}

// The tables of a protocol's TOML that decide numbers, and as what.
const std::vector<std::pair<const char*, const char*>>& spec_parts() {
  static const std::vector<std::pair<const char*, const char*>> parts = {
      {"data", "data"},
      {"reader", "data"},
      {"evaluation", "convention"},
      {"metrics", "convention"}};
  return parts;
}

// Where two objects differ, only those keys, else the whole values. A key that one of them lacks
// was not recorded there, and is not known to differ.
std::pair<Json, Json> only_differences(const Json& a, const Json& b) {
  if (!a.is_object() || !b.is_object()) return {a, b};
  Json x = Json::object(), y = Json::object();
  for (const auto& [key, left] : a.items()) {
    if (!b.contains(key) || left == b[key]) continue;
    auto [own, other] = only_differences(left, b[key]);
    if (own == other) continue;
    x[key] = std::move(own);
    y[key] = std::move(other);
  }
  return {x, y};
}

Json at(const Json& content, const std::vector<const char*>& places) {
  for (const char* place : places) {
    const Json::json_pointer pointer{std::string(place)};
    if (content.contains(pointer) && !content.at(pointer).is_null()) return content.at(pointer);
  }
  return nullptr;
}

// role -> SHA-256 of the inputs.
std::map<std::string, Json> inputs_of(const Json& content) {
  std::map<std::string, Json> result;
  for (const Json& input : content["inputs"])
    if (const std::string role = text_at(input, "/role"); !role.empty())
      result[role].push_back(input.value("sha256", Json()));
  return result;
}

const char* kind_of_input(const std::string& role) {
  if (role == "backend" || role == "train" || role == "cohort") return "back end";
  return role == "model" || role == "embeddings" || role == "scores" ? "model" : "data";
}

// The text added to a difference that does not matter.
std::string with_reason(const std::string& label, const std::string& kind, bool matters) {
  const std::string head = fmt::format("{} {}", label, label.ends_with('s') ? "differ" : "differs");
  if (matters || kind == "convention") return head;
  if (kind == "data") return head + ", but the comparisons are the same";
  if (kind == "intervals") return head + ": of the error bars only";
  return head + ", but the scores are the same to the bit";
}

Json track_names(const RunScores& s) {
  Json names = Json::array();
  for (const Track& t : s.trials.tracks) names.push_back(t.name);
  return names;
}

std::map<std::string, std::string> failures_of(const RunScores& s) {
  std::map<std::string, std::string> failed;
  for (std::size_t i = 0; i < s.status.size(); ++i)
    if (s.status[i] != SampleStatus::ok)
      failed[s.trials.names[i]] = sample_status_name(s.status[i]);
  return failed;
}

void add_failures(const RunScores& a, const RunScores& b, bool matters,
                  std::vector<Difference>& out) {
  const auto x = failures_of(a), y = failures_of(b);
  if (x == y) return;
  const auto only = [](const auto& in, const auto& other) {
    std::string first;
    std::int64_t n = 0;
    for (const auto& [name, status] : in) {
      const auto there = other.find(name);
      if (there != other.end() && there->second == status) continue;
      if (n++ == 0) first = fmt::format("{} ({})", name, status);
    }
    return n == 0 ? std::string() : fmt::format("; {} of them only here, first {}", n, first);
  };
  out.push_back({"images", matters, "failed enrolments differ",
                 fmt::format("{} failed{}", x.size(), only(x, y)),
                 fmt::format("{} failed{}", y.size(), only(y, x))});
}

}  // namespace

const Table<DifferenceKind>& difference_kinds() {
  static const Table<DifferenceKind> table(
      "kind of difference",
      {{"data", "the lists and what they compare"},
       {"images", "photographs, detection, crop, failed enrolments"},
       {"model", "weights, extraction, embeddings and the software that ran them"},
       {"back end", "what stands between embeddings and scores, and what it was fitted to"},
       {"convention", "how numbers are made of scores"},
       {"intervals", "how error bars are made; the numbers are not touched"},
       {"undecided", "told from chance by itself, and not with all numbers together"},
       {"chance", "the difference cannot be told from chance"}});
  return table;
}

TrialAgreement trial_agreement(const RunScores& a, const RunScores& b,
                               std::span<const TrackPairs> pairs) {
  TrialAgreement t;
  t.comparisons = pairs.size() == a.trials.tracks.size() &&
                  pairs.size() == b.trials.tracks.size() &&
                  std::ranges::all_of(pairs, &TrackPairs::same);
  t.scores = t.comparisons && std::ranges::all_of(pairs, &TrackPairs::same_scores) &&
             failures_of(a) == failures_of(b);
  return t;
}

std::vector<Difference> run_differences(const Run& a, const Run& b, const RunScores& scores_a,
                                        const RunScores& scores_b,
                                        std::span<const TrackPairs> pairs) {
  const TrialAgreement agreement = trial_agreement(scores_a, scores_b, pairs);
  const Json &x = a.manifest.content, &y = b.manifest.content;
  const auto matters = [&](std::string_view kind) {
    if (kind == "data") return !agreement.comparisons;
    if (kind == "intervals") return false;
    return kind == "convention" || !agreement.scores;
  };
  std::vector<Difference> differences;
  const auto add = [&](const std::string& kind, const std::string& label, const Json& left,
                       const Json& right) {
    if (left.is_null() || right.is_null()) return;  // not recorded, so not known to differ
    const auto [x, y] = only_differences(left, right);
    if (x != y)
      differences.push_back({kind, matters(kind), with_reason(label, kind, matters(kind)),
                             shortened(x, kEvidence), shortened(y, kEvidence)});
  };
  for (const Recorded& r : recorded()) add(r.kind, r.label, at(x, r.places), at(y, r.places));
  // A run that names no back end has none; where there is one, it says what the scores are.
  if (x.contains("backend") || y.contains("backend"))
    add("back end", "the back end", x.value(Json::json_pointer("/backend/spec"), Json("none")),
        y.value(Json::json_pointer("/backend/spec"), Json("none")));
  else
    add("model", "what the scores are", at(x, {"/score"}), at(y, {"/score"}));
  auto left = inputs_of(x), right = inputs_of(y);
  for (const auto& [role, hashes] : right) left.try_emplace(role, nullptr);
  for (const auto& [role, hashes] : left)
    add(kind_of_input(role),
        fmt::format("the {} {}", kind_of_input(role) == std::string("data") ? "list" : "file",
                    role),
        hashes, right.contains(role) ? right[role] : Json());
  add_failures(scores_a, scores_b, matters("images"), differences);
  if (scores_a.spec.sha256 != scores_b.spec.sha256) {
    const Json p = parse_toml(scores_a.spec.text, "a").json();
    const Json q = parse_toml(scores_b.spec.text, "b").json();
    for (const auto& [part, kind] : spec_parts())
      add(kind, fmt::format("[{}] of the protocol", part), p.value(part, Json()),
          q.value(part, Json()));
  }
  for (const TrackPairs& p : pairs)
    if (!p.same)
      differences.push_back(
          {"data", true,
           fmt::format("track {} compares something else; {} comparisons are the same", p.track,
                       p.common),
           fmt::format("{} only here", p.only_a), fmt::format("{} only here", p.only_b)});
  add("data", "the tracks", track_names(scores_a), track_names(scores_b));
  if (!agreement.scores && std::ranges::none_of(differences, &Difference::matters))
    differences.push_back(
        {"model", true, "the scores differ, and what made them is not recorded", "", ""});
  const auto order = difference_kinds().names();
  std::ranges::stable_sort(differences, {}, [&](const Difference& d) {
    return std::ranges::find(order, d.kind) - order.begin();
  });
  return differences;
}

}  // namespace facebench

#include "facebench/evaluation/evaluate.h"

#include "arrays.h"
#include "common.h"
#include "facebench/core/compared_name.h"
#include "facebench/evaluation/check_data.h"
#include "facebench/evaluation/spec.h"
#include "facebench/evaluation/synthetic_ijb.h"
#include "facebench/lists/internal/class_words.h"
#include "facebench/runs/run_folder.h"
#include "facebench/runs/score_columns.h"
#include "facebench/runs/score_files.h"
#include "facebench/trials/scoring.h"
#include "facebench/trials/without.h"
#include "json.h"
#include "modules.h"
#include "tables.h"

namespace facebench {
namespace {

std::vector<SampleStatus> statuses(const std::vector<int>& numbers) {
  std::vector<SampleStatus> result;
  for (const int n : numbers) result.push_back(sample_status_of(n));
  return result;
}

void bind_evaluation(py::module_& m) {
  m.def("protocol_names", &protocol_names);
  m.def("load_protocol", &load_protocol, py::arg("name_or_path"));
  m.def(
      "parse_protocol",
      [](const std::string& text, const std::string& file) { return parse_protocol(text, file); },
      py::arg("text"), py::arg("file"));
  m.def(
      "read_trials",
      [](const ProtocolSpec& s, const std::filesystem::path& root,
         const std::filesystem::path& lists) {
        return read_trials(s, {root, {}, lists});
      },
      py::arg("protocol"), py::arg("root"), py::arg("lists"));
  m.def("refuse_blemishes", &refuse_blemishes, py::arg("trials"), py::arg("protocol"));
  m.def(
      "check_data",
      [](const ProtocolSpec& s, const std::filesystem::path& root,
         const std::filesystem::path& images, const std::filesystem::path& lists) {
        const DataCheck check = check_data(s, {root, images, lists});
        py::dict d = json_to_python(data_check_json(check));
        py::list sentences;
        for (const FoundBlemishes& kind : check.blemishes) sentences.append(blemish_sentence(kind));
        return py::make_tuple(d, sentences);
      },
      py::arg("protocol"), py::arg("root"), py::arg("images"), py::arg("lists"));
  m.def(
      "find_images",
      [](const ProtocolSpec& s, const TrialSet& t, const std::filesystem::path& root,
         const std::filesystem::path& images) {
        return find_images(s, t, {root, images, {}});
      },
      py::arg("protocol"), py::arg("trials"), py::arg("root"), py::arg("images"));
  m.def(
      "without",
      [](const TrialSet& t, const std::filesystem::path& exclude,
         const std::filesystem::path& only) { return without(t, read_exclusions(exclude, only)); },
      py::arg("trials"), py::arg("exclude"), py::arg("only"));
  m.def("limited", &limited, py::arg("trials"), py::arg("limit"));
  m.def(
      "evaluate_embeddings",
      [](const ProtocolSpec& s, TrialSet t, const EmbeddingSet& e, EvaluationOptions o,
         bool allow_missing, int threads, const py::object& progress) {
        o.allow_missing = allow_missing;
        return with_job(threads, progress, [&](const Job& job) {
          return evaluate(under(s, std::move(t)), e, o, job);
        });
      },
      py::arg("protocol"), py::arg("trials"), py::arg("embeddings"), py::arg("options"),
      py::arg("allow_missing"), py::arg("threads"), py::arg("progress"));
  m.def(
      "evaluate_file",
      [](const ProtocolSpec& s, TrialSet t, const std::filesystem::path& path,
         const std::vector<std::filesystem::path>& shards, EvaluationOptions o, bool allow_missing,
         int threads, const py::object& progress) {
        o.allow_missing = allow_missing;
        return with_job(threads, progress, [&](const Job& job) {
          return evaluate(under(s, std::move(t)), read_embeddings(path), o, job, shards);
        });
      },
      py::arg("protocol"), py::arg("trials"), py::arg("path"), py::arg("shards"),
      py::arg("options"), py::arg("allow_missing"), py::arg("threads"), py::arg("progress"));
  m.def(
      "write_tail_shard",
      [](const ProtocolSpec& s, TrialSet t, const std::filesystem::path& path,
         const std::string& shard, const std::filesystem::path& out, EvaluationOptions o,
         bool allow_missing, int threads, const py::object& progress) {
        o.allow_missing = allow_missing;
        with_job(threads, progress, [&](const Job& job) {
          write_tail_shard(under(s, std::move(t)), read_embeddings(path), parse_shard(shard), out,
                           o, job);
        });
      },
      py::arg("protocol"), py::arg("trials"), py::arg("path"), py::arg("shard"), py::arg("out"),
      py::arg("options"), py::arg("allow_missing"), py::arg("threads"), py::arg("progress"));
  m.def(
      "evaluate_scores",
      [](const ProtocolSpec& s, TrialSet t, const py::object& scores,
         const std::vector<int>& status, const EvaluationOptions& o, int threads,
         const py::object& progress) {
        const std::vector<double> values = numbers(scores, "scores");
        const auto samples = statuses(status);
        return with_job(threads, progress, [&](const Job& job) {
          return evaluate_scores(under(s, std::move(t)), values, samples, o, job);
        });
      },
      py::arg("protocol"), py::arg("trials"), py::arg("scores"), py::arg("status"),
      py::arg("options"), py::arg("threads"), py::arg("progress"));
  m.def(
      "read_result",
      [](const std::filesystem::path& folder, int threads) {
        return with_job(threads, py::none(),
                        [&](const Job& job) { return read_result(folder, job); });
      },
      py::arg("folder"), py::arg("threads") = 0);
  m.def("read_scores_csv", &read_scores_csv, py::arg("path"), py::arg("trials"));
  m.def(
      "read_scored_list",
      [](const std::vector<std::filesystem::path>& files, const std::string& form,
         const std::vector<std::string>& columns) {
        ScoredList list = read_scored_list(files, form, columns);
        return py::make_tuple(std::move(list.trials), copy_of(list.scores), list.turned);
      },
      py::arg("files"), py::arg("form"), py::arg("columns"));
  m.def(
      "scored_list",
      [](const std::vector<double>& scores, const std::vector<std::uint8_t>& genuine,
         const std::vector<std::string>& first, const std::vector<std::string>& second) {
        ScoredList list = scored_list(scores, genuine, first, second);
        return py::make_tuple(std::move(list.trials), copy_of(list.scores));
      },
      py::arg("scores"), py::arg("genuine"), py::arg("first"), py::arg("second"));
  m.def(
      "trials_of_people",
      [](const ProtocolSpec& s, const std::vector<std::string>& names,
         const std::vector<std::string>& people) { return s.reader->of_people(names, people); },
      py::arg("protocol"), py::arg("names"), py::arg("people"));
  m.def(
      "score_columns",
      [](const std::vector<std::string>& header) -> py::object {
        const auto found = named_score_columns(header);
        if (!found) return py::none();
        return py::make_tuple(found->first, found->second, found->score);
      },
      py::arg("header"));
  m.def("class_of_label", &class_of_label, py::arg("cell"));
  m.def("names_distances", &names_distances, py::arg("name"));
  m.def("compared_name", &compared_name, py::arg("name"));
  m.def(
      "match_sample_names",
      [](const std::vector<std::string>& listed, const std::vector<std::string>& known,
         const std::string& matching) { return match_names(listed, known, matching); },
      py::arg("listed"), py::arg("known"), py::arg("matching"));
  m.def(
      "missing_names_advice",
      [](const std::vector<std::string>& listed, const std::vector<std::string>& known,
         const std::string& matching) { return missing_names_advice(listed, known, matching); },
      py::arg("listed"), py::arg("known"), py::arg("matching"));
}

void bind_synthetic_ijb(py::module_& m) {
  bind_options<SyntheticIjbOptions>(m);
  m.def(
      "write_synthetic_ijb",
      [](const SyntheticIjbOptions& options, const std::filesystem::path& folder, int threads,
         const py::object& progress) {
        const SyntheticIjbSummary s = with_job(threads, progress, [&](const Job& job) {
          return write_synthetic_ijb(options, folder, job);
        });
        py::dict d;
        d["folder"] = s.folder.string();
        d["templates"] = s.templates;
        d["faces"] = s.faces;
        d["comparisons"] = s.comparisons;
        return d;
      },
      py::arg("options"), py::arg("folder"), py::arg("threads") = 0,
      py::arg("progress") = py::none());
}

}  // namespace

void bind_runs(py::module_& m) {
  bind_options<EvaluationOptions>(m);
  bind_trials(m);
  bind_result(m);
  bind_evaluation(m);
  bind_protocol_tables(m);
  bind_synthetic_ijb(m);
  bind_pickled_result(m);
}

}  // namespace facebench

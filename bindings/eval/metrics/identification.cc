#include "facebench/metrics/identification.h"

#include "metrics/embedding_rows.h"
#include "metrics/metrics.h"
#include "tables.h"

namespace facebench {
namespace {

std::shared_ptr<Searches> make_searches(const py::object& similarity,
                                        const py::object& probe_identity,
                                        const py::object& gallery_identity, int threads,
                                        const py::object& progress) {
  const py::array matrix = as_array(similarity, "similarity", 2);
  const auto probes = whole_numbers<std::int32_t>(probe_identity, "probe_identity");
  const auto gallery = whole_numbers<std::int32_t>(gallery_identity, "gallery_identity");
  if (matrix.shape(0) != static_cast<py::ssize_t>(probes.size()) ||
      matrix.shape(1) != static_cast<py::ssize_t>(gallery.size()))
    throw py::value_error(fmt::format("similarity is {} x {} for {} probes and {} gallery entries",
                                      matrix.shape(0), matrix.shape(1), probes.size(),
                                      gallery.size()));
  const auto build = [&]<class T>(T) {
    const auto rows = dense<T>(matrix);
    const std::span<const T> view(rows.data(), static_cast<std::size_t>(rows.size()));
    return with_job(threads, progress, [&](const Job& job) {
      return std::make_shared<Searches>(view, probes, gallery, job);
    });
  };
  return matrix.dtype().is(py::dtype::of<float>()) ? build(float{}) : build(double{});
}

py::list rules() {
  const auto rank = [](const IdentificationConvention& c) {
    return c.rank < 0 ? std::nullopt : std::optional(c.rank);
  };
  return table_list(identification_conventions(), "source", &IdentificationConvention::source,
                    "needs_non_mated", &IdentificationConvention::needs_non_mated, "rank", rank);
}

void bind_results(py::module_& m) {
  ResultClass<Cmc>(m, "Cmc", "Closed-set identification: the cumulative match characteristic.")
      .field("rate", &Cmc::rate, "rate[k - 1]: share of mated probes whose mate has rank <= k")
      .field("mated", &Cmc::mated, "probes with a mate in the gallery")
      .field("non_mated", &Cmc::non_mated, "probes left out, having none")
      .field("gallery", &Cmc::gallery, "people in the gallery")
      .field("tied", &Cmc::tied, "mated probes whose rank depends on the rule for ties")
      .field("ties", &Cmc::ties, "name in rank_ties()");
  ResultClass<IdentificationCurve> curve(
      m, "IdentificationCurve",
      "Open-set identification at every threshold that matters, as exact counts.");
  curve
      .field("threshold", &IdentificationCurve::threshold,
             "answer score >= threshold; descending, first inf")
      .field("identified", &IdentificationCurve::identified, "mated probes identified")
      .field("false_positives", &IdentificationCurve::false_positives,
             "non-mated probes with an answer")
      .field("mated", &IdentificationCurve::mated, "mated probes")
      .field("non_mated", &IdentificationCurve::non_mated, "non-mated probes")
      .field("rank", &IdentificationCurve::rank, "worst rank that counts; 0 = any");
  curve.cls()
      .def_property_readonly(
          "dir", [](const IdentificationCurve& c) { return to_numpy(c.dir()); },
          "detection and identification rate at each point")
      .def_property_readonly(
          "fpir", [](const IdentificationCurve& c) { return to_numpy(c.fpir()); },
          "false positive identification rate at each point")
      .def("__len__", &IdentificationCurve::size);
  ResultClass<DirAtFpir>(m, "DirAtFpir",
                         "A detection and identification rate at a false positive identification "
                         "rate, with the counts behind it.")
      .field("value", &DirAtFpir::value, "DIR in [0, 1]")
      .field("fnir", &DirAtFpir::fnir, "1 - DIR")
      .field("fpir_target", &DirAtFpir::fpir_target, "the FPIR asked for")
      .field("fpir_achieved", &DirAtFpir::fpir_achieved,
             "the FPIR that the threshold gives; NaN without non-mated probes")
      .field("false_positives", &DirAtFpir::false_positives, "non-mated probes with an answer")
      .field("expected_false_positives", &DirAtFpir::expected_false_positives,
             "fpir_target * non_mated")
      .field("reliable", &DirAtFpir::reliable, "at least 10 false positives expected")
      .field("threshold", &DirAtFpir::threshold, "in the score's unit")
      .field("identified", &DirAtFpir::identified, "mated probes identified")
      .field("mated", &DirAtFpir::mated, "mated probes")
      .field("non_mated", &DirAtFpir::non_mated, "non-mated probes")
      .field("rank", &DirAtFpir::rank, "worst rank that counts; 0 = any")
      .field("convention", &DirAtFpir::convention, "name in identification_conventions()");
}

void bind_identification_rates(py::module_& m) {
  m.def(
      "cmc",
      [](const Searches& s, const std::string& ties, const py::object& weights) {
        const auto w = whole_numbers<Weight>(weights, "weights");
        const WithoutGil without_gil;
        return cmc(s, ties, w);
      },
      py::arg("searches"), py::arg("ties") = "pessimistic", py::arg("weights") = py::none(),
      "Closed-set identification: the share of mated probes whose mate has rank <= k.\n\n"
      "ties: what rank a mate with the same score as others gets, a name in rank_ties().\n"
      "weights: one a probe.\n\n"
      ">>> from facebench.metrics import Searches, cmc\n"
      ">>> s = Searches([[0.9, 0.2], [0.4, 0.3]], [1, 2], [1, 2])\n"
      ">>> cmc(s).rate.tolist()\n"
      "[0.5, 1.0]");
  m.def(
      "rank_rate",
      [](const Searches& s, std::int64_t rank, const std::string& ties, const py::object& weights) {
        const auto w = whole_numbers<Weight>(weights, "weights");
        return rank_rate(s, rank, ties, w);
      },
      py::arg("searches"), py::arg("rank"), py::arg("ties") = "pessimistic",
      py::arg("weights") = py::none(),
      "The identification rate at one rank, cmc(...).rate[rank - 1].\n\n"
      ">>> from facebench.metrics import Searches, rank_rate\n"
      ">>> rank_rate(Searches([[0.9, 0.2], [0.4, 0.3]], [1, 2], [1, 2]), rank=1)\n"
      "0.5");
  m.def(
      "identification_curve",
      [](const Searches& s, std::int64_t rank, const py::object& weights) {
        const auto w = whole_numbers<Weight>(weights, "weights");
        const WithoutGil without_gil;
        return identification_curve(s, rank, w);
      },
      py::arg("searches"), py::arg("rank") = 1, py::arg("weights") = py::none(),
      "DIR and FPIR at every threshold. rank: the worst that counts, 0 = any.\n\n"
      ">>> from facebench._eval import identification_curve\n"
      ">>> from facebench.metrics import Searches\n"
      ">>> s = Searches([[0.9, 0.2], [0.4, 0.3]], [1, 7], [1, 2])\n"
      ">>> curve = identification_curve(s)\n"
      ">>> curve.dir.tolist(), curve.fpir.tolist()\n"
      "([0.0, 1.0, 1.0], [0.0, 0.0, 1.0])");
  m.def(
      "dir_at_fpir",
      [](const Searches& s, double fpir, std::int64_t rank, const std::string& convention,
         const py::object& weights) {
        const auto w = whole_numbers<Weight>(weights, "weights");
        const WithoutGil without_gil;
        return dir_at_fpir(s, fpir, rank, convention, w);
      },
      py::arg("searches"), py::arg("fpir"), py::arg("rank") = 1, py::arg("convention") = "exact",
      py::arg("weights") = py::none(),
      "Detection and identification rate at a false positive identification rate.\n\n"
      "The non-mated probes set the threshold; by default the FPIR never exceeds its target. "
      "rank:\n"
      "the worst rank of the mate that counts, 0 = any. weights: one a probe.\n\n"
      ">>> from facebench.metrics import Searches, dir_at_fpir\n"
      ">>> s = Searches([[0.9, 0.2], [0.4, 0.3]], [1, 7], [1, 2])\n"
      ">>> cell = dir_at_fpir(s, fpir=0.1)\n"
      ">>> cell.value, cell.fnir, cell.false_positives, cell.reliable\n"
      "(1.0, 0.0, 0, False)");
  using Shared = std::shared_ptr<Searches>;
  m.def(
      "rank_rate_statistic",
      [](const Shared& s, std::int64_t rank, const std::string& ties) {
        return rank_rate_statistic(s, rank, ties);
      },
      py::arg("searches").none(false), py::arg("rank"), py::arg("ties") = "pessimistic",
      "The identification rate at a rank, for vertex_bootstrap(statistic, identity, identity)\n"
      "with the probes' identities: people are drawn among the probes, the gallery stays.");
  m.def(
      "dir_at_fpir_statistic",
      [](const Shared& s, double fpir, std::int64_t rank, const std::string& convention) {
        return dir_at_fpir_statistic(s, fpir, rank, convention);
      },
      py::arg("searches").none(false), py::arg("fpir"), py::arg("rank") = 1,
      py::arg("convention") = "exact",
      "The DIR at an FPIR, threshold chosen again in each replicate; see rank_rate_statistic.");
}

}  // namespace

void bind_identification(py::module_& m) {
  bind_results(m);
  py::class_<Searches, std::shared_ptr<Searches>>(
      m, "Searches",
      "Searches of probes in a gallery, ranked once, for several metrics and for the bootstrap.\n\n"
      "similarity: probes x gallery entries, finite, higher = more alike. probe_identity,\n"
      "gallery_identity: whole numbers. Candidates are people: one with several gallery entries\n"
      "scores as the highest of them. A probe whose identity is not in the gallery is "
      "non-mated.\n\n"
      ">>> from facebench.metrics import Searches\n"
      ">>> Searches([[0.9, 0.2], [0.4, 0.3]], probe_identity=[1, 7], gallery_identity=[1, 2])\n"
      "Searches(mated=1, non_mated=1, gallery=2)")
      .def(py::init(&make_searches), py::arg("similarity"), py::arg("probe_identity"),
           py::arg("gallery_identity"), py::kw_only(), py::arg("threads") = 0,
           py::arg("progress") = py::none())
      .def("__len__", &Searches::size)
      .def_property_readonly("mated", &Searches::mated)
      .def_property_readonly("non_mated", &Searches::non_mated)
      .def_property_readonly("gallery", &Searches::gallery)
      .def("__repr__", [](const Searches& s) {
        return fmt::format("Searches(mated={}, non_mated={}, gallery={})", s.mated(), s.non_mated(),
                           s.gallery());
      });

  m.def(
      "search_embeddings",
      [](const py::object& probes, const py::object& probe_identity, const py::object& gallery,
         const py::object& gallery_identity, int threads, const py::object& progress) {
        const FloatRows p = float_rows(probes, "probes");
        const FloatRows g = float_rows(gallery, "gallery");
        const auto who = whole_array<std::int32_t>(probe_identity, "probe_identity");
        const auto whom = whole_array<std::int32_t>(gallery_identity, "gallery_identity");
        return with_job(threads, progress, [&](const Job& job) {
          return std::make_shared<Searches>(search_embeddings(
              embedding_rows(p, job), view(who), embedding_rows(g, job), view(whom), job));
        });
      },
      py::arg("probes"), py::arg("probe_identity"), py::arg("gallery"), py::arg("gallery_identity"),
      py::kw_only(), py::arg("threads") = 0, py::arg("progress") = py::none(),
      "Searches every probe in the gallery by cosine (rounded to float32 once), in memory that\n"
      "does not grow with the number of scores.\n\n"
      "probes, gallery: embeddings, as for listed_pair_scores. The rest as for Searches, which "
      "this\n"
      "gives: the same as of the stored scores.\n\n"
      ">>> from facebench.metrics import rank_rate, search_embeddings\n"
      ">>> found = search_embeddings([[1, 0.2], [0, 1]], [1, 7], [[1, 0], [0.5, 1]], [1, 2])\n"
      ">>> found, rank_rate(found, rank=1)\n"
      "(Searches(mated=1, non_mated=1, gallery=2), 1.0)");
  m.def(
      "rank_ties", [] { return table_list(rank_ties(), "source", &RankTies::source); },
      "The rules for tied ranks: name, doc, source.\n\n"
      ">>> from facebench._eval import rank_ties\n"
      ">>> [r['name'] for r in rank_ties()]\n"
      "['pessimistic', 'optimistic', 'expected']");
  m.def("identification_conventions", &rules,
        "The known conventions: name, doc, source, needs_non_mated, rank (None: the caller's).\n\n"
        ">>> from facebench.metrics import identification_conventions\n"
        ">>> [c['name'] for c in identification_conventions()]\n"
        "['exact', 'ijb_1n', 'ijb_evals']");
  bind_identification_rates(m);
}

}  // namespace facebench

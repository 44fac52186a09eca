#include "facebench/metrics/all_pairs.h"

#include "facebench/metrics/listed_pairs.h"
#include "facebench/metrics/tar_at_fars.h"
#include "metrics/embedding_rows.h"
#include "metrics/metrics.h"

namespace facebench {
namespace {

py::list cells(const py::object& scores, const py::object& labels, const py::object& fars,
               int threads, const py::object& progress) {
  const py::array array = as_array(scores, "scores");
  const auto l = whole_array<std::uint8_t>(labels, "labels");
  const std::vector<double> f = numbers(fars, "fars");
  const auto measure = [&](const auto& typed) {
    return with_job(threads, progress,
                    [&](const Job& job) { return tar_at_fars(view(typed), view(l), f, job); });
  };
  if (py::isinstance<py::array_t<float, py::array::c_style>>(array))
    return py::cast(measure(dense<float>(array)));
  return py::cast(measure(dense<double>(array)));
}

void bind_lists(py::module_& m) {
  m.def(
      "listed_pair_scores",
      [](const py::object& rows, const py::object& first, const py::object& second,
         const py::object& columns, int threads, const py::object& progress) {
        const FloatRows r = float_rows(rows, "rows");
        const FloatRows c = columns.is_none() ? r : float_rows(columns, "columns");
        const auto a = whole_array<std::int32_t>(first, "first");
        const auto b = whole_array<std::int32_t>(second, "second");
        // Not set to zero: the workers touch the pages.
        py::array_t<double> scores(a.size());
        const std::span<double> out(scores.mutable_data(), static_cast<std::size_t>(a.size()));
        with_job(threads, progress, [&](const Job& job) {
          const EmbeddingRows left = embedding_rows(r, job), right = embedding_rows(c, job);
          listed_pair_scores(left, right, view(a), view(b), out, job);
        });
        return scores;
      },
      py::arg("rows"), py::arg("first"), py::arg("second"), py::arg("columns") = py::none(),
      py::kw_only(), py::arg("threads") = 0, py::arg("progress") = py::none(),
      "The cosine of row first[i] with row second[i] (of columns, where given), in double.\n\n"
      "rows, columns: (N, D) embeddings, float32 (others are converted), of any length. Numpy,\n"
      "torch (CPU), DLPack. The same bits on every processor and for any number of threads.\n"
      "ValueError or IndexError for wrong use, facebench.Error for a vector without direction.\n\n"
      ">>> from facebench.metrics import listed_pair_scores\n"
      ">>> listed_pair_scores([[2, 0], [0, 3], [1, 1]], [0, 0], [1, 2]).round(3).tolist()\n"
      "[0.0, 0.707]");
  m.def(
      "dense_scores",
      [](const py::object& rows, const py::object& columns, int threads,
         const py::object& progress) {
        const FloatRows r = float_rows(rows, "rows");
        const FloatRows c = columns.is_none() ? r : float_rows(columns, "columns");
        py::array_t<float> scores({r.shape(0), c.shape(0)});
        const std::span<float> out(scores.mutable_data(), static_cast<std::size_t>(scores.size()));
        with_job(threads, progress, [&](const Job& job) {
          const EmbeddingRows left = embedding_rows(r, job), right = embedding_rows(c, job);
          dense_scores(left, right, out, job);
        });
        return scores;
      },
      py::arg("rows"), py::arg("columns") = py::none(), py::kw_only(), py::arg("threads") = 0,
      py::arg("progress") = py::none(),
      "The cosine of every row with every column: (N, M) float32, the cosine in double rounded "
      "once.\n\n"
      "Arguments as for listed_pair_scores; without columns every row with every row.\n\n"
      ">>> from facebench.metrics import dense_scores\n"
      ">>> dense_scores([[2, 0], [0, 3]], [[0, 1]]).tolist()\n"
      "[[0.0], [1.0]]");
  m.def("tar_at_fars", &cells, py::arg("scores"), py::arg("labels"), py::arg("fars"), py::kw_only(),
        py::arg("threads") = 0, py::arg("progress") = py::none(),
        "tar_at_far(scores, labels, far) for several FARs (convention exact) without sorting:\n"
        "for tens of millions of comparisons. float32 and float64 scores are not copied.\n\n"
        ">>> from facebench.metrics import tar_at_fars\n"
        ">>> [cell.value for cell in tar_at_fars([0.9, 0.8, 0.7, 0.1], [1, 0, 1, 0], [0.1, 0.5])]\n"
        "[0.5, 1.0]");
}

// Calls score(sides..., job): rows and identities, of one side or of two.
template <class Score>
auto of_all_pairs(const py::object& rows, const py::object& identities, const py::object& columns,
                  const py::object& column_identities, int threads, const py::object& progress,
                  const Score& score) {
  if (columns.is_none() != column_identities.is_none())
    throw py::value_error("columns and column_identities go together");
  const FloatRows r = float_rows(rows, "rows");
  const auto who = whole_array<std::int32_t>(identities, "identities");
  if (columns.is_none())
    return with_job(threads, progress,
                    [&](const Job& job) { return score(job, embedding_rows(r, job), view(who)); });
  const FloatRows c = float_rows(columns, "columns");
  const auto whom = whole_array<std::int32_t>(column_identities, "column_identities");
  return with_job(threads, progress, [&](const Job& job) {
    return score(job, embedding_rows(r, job), view(who), embedding_rows(c, job), view(whom));
  });
}

}  // namespace

void bind_all_pairs(py::module_& m) {
  bind_lists(m);
  bind_options<AllPairsOptions>(m);
  ResultClass<ScoreTail>(m, "ScoreTail",
                         "What is kept of the scores of more comparisons than can be stored.")
      .field("genuine", &ScoreTail::genuine, "every genuine score, descending")
      .field("impostor", &ScoreTail::impostor, "the highest impostor scores, descending")
      .field("genuine_row", &ScoreTail::genuine_row, "row of each genuine score")
      .field("genuine_column", &ScoreTail::genuine_column, "column of each genuine score")
      .field("impostor_row", &ScoreTail::impostor_row,
             "row of each impostor score above the lowest kept one")
      .field("impostor_column", &ScoreTail::impostor_column, "column of each of them")
      .field("impostor_reach", &ScoreTail::impostor_reach,
             "impostor comparisons at or above the lowest of them")
      .field("impostor_count", &ScoreTail::impostor_count, "impostor comparisons in all")
      .field("histogram", &ScoreTail::histogram, "of all comparisons, where bins were asked for")
      .field("histogram_blur", &ScoreTail::histogram_blur,
             "how far below the tail an impostor may be counted from its score");
  m.def(
      "tar_at_far", [](const ScoreTail& tail, double far) { return tar_at_far(tail, far); },
      py::arg("tail"), py::arg("far"));
  ResultClass<AllPairsShard>(
      m, "AllPairsShard", "What one of several processes finds of all pairs; see merge_all_pairs.")
      .field("number", &AllPairsShard::number, "which shard this is, from 1")
      .field("count", &AllPairsShard::count, "of how many")
      .field("isa", &AllPairsShard::isa, "the instruction set that scored it")
      .field("wanted", &AllPairsShard::wanted, "impostor scores of the tail of all")
      .field("bound", &AllPairsShard::bound, "each higher impostor score is in the tail")
      .field("tail", &AllPairsShard::tail, "of this shard");
  m.def(
      "all_pairs",
      [](const py::object& rows, const py::object& identities, const py::object& columns,
         const py::object& column_identities, const AllPairsOptions& options, int threads,
         const py::object& progress) {
        return of_all_pairs(rows, identities, columns, column_identities, threads, progress,
                            [&](const Job& job, const auto&... sides) {
                              return all_pairs(sides..., options, job);
                            });
      },
      py::arg("rows"), py::arg("identities"), py::arg("columns") = py::none(),
      py::arg("column_identities") = py::none(), py::kw_only(),
      py::arg("options") = AllPairsOptions{}, py::arg("threads") = 0,
      py::arg("progress") = py::none(),
      "Scores every row with every column (or every two rows) by cosine without storing the\n"
      "scores, and keeps what the TAR at a FAR takes, exactly as if all had been scored in double\n"
      "and sorted. A comparison is genuine where the identities are equal.\n\n"
      "rows, columns: as for listed_pair_scores. options: AllPairsOptions(far, bins). Bounded\n"
      "memory (at most 1 GB beside the embeddings at 1e10 comparisons); Ctrl-C stops it.\n\n"
      ">>> from facebench.metrics import AllPairsOptions, all_pairs, tar_at_far\n"
      ">>> people = [[1, 0], [0.9, 0.1], [0, 1], [0.3, 1]]\n"
      ">>> tail = all_pairs(people, [7, 7, 8, 8], options=AllPairsOptions(far=0.25))\n"
      ">>> tar_at_far(tail, 0.25).value, tail.impostor_count\n"
      "(1.0, 4)");
  m.def(
      "all_pairs_shard",
      [](const py::object& rows, const py::object& identities, const py::object& columns,
         const py::object& column_identities, const std::string& shard,
         const AllPairsOptions& options, int threads, const py::object& progress) {
        const Shard part = parse_shard(shard);
        return of_all_pairs(rows, identities, columns, column_identities, threads, progress,
                            [&](const Job& job, const auto&... sides) {
                              return all_pairs_shard(sides..., part, options, job);
                            });
      },
      py::arg("rows"), py::arg("identities"), py::arg("columns") = py::none(),
      py::arg("column_identities") = py::none(), py::kw_only(), py::arg("shard"),
      py::arg("options") = AllPairsOptions{}, py::arg("threads") = 0,
      py::arg("progress") = py::none());
  m.def(
      "merge_all_pairs",
      [](const std::vector<AllPairsShard>& shards) { return merge_all_pairs(shards); },
      py::arg("shards"));
}

}  // namespace facebench

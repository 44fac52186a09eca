#include "facebench/datasets/sample_measures.h"

#include "common.h"
#include "modules.h"
#include "tables.h"

namespace facebench {

void bind_sample_measures(py::module_& m) {
  m.def("sample_measures", [] { return table_docs(sample_measures()); });
  m.def(
      "measure_samples",
      [](const Pack& pack, const std::string& measure, int threads) {
        std::vector<double> values = with_job(threads, py::none(), [&](const Job& job) {
          return measure_samples(pack, measure, job);
        });
        return to_numpy(std::move(values));
      },
      py::arg("pack"), py::arg("measure"), py::arg("threads") = 0,
      "A quality of each sample of a pack (see sample_measures), NaN where the sample failed.\n\n"
      ">>> from facebench.datasets import sample_measures\n"
      ">>> list(sample_measures())\n"
      "['box_size', 'eye_distance', 'sharpness', 'frontality']");
}

}  // namespace facebench

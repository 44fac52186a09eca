#include "modules.h"

// Everything that needs neither torch nor OpenCV, lowest floor first.
PYBIND11_MODULE(_eval, m) {
  m.doc() = "facebench: protocols and metrics";
  facebench::bind_core(m);
  facebench::bind_io(m);
  facebench::bind_metrics(m);
  facebench::bind_backends(m);
  facebench::bind_runs(m);
  facebench::bind_analysis(m);
  facebench::bind_claims(m);
  facebench::finish_module(m);
}

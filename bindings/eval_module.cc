#include "modules.h"

// Everything that needs neither torch nor OpenCV, lowest floor first.
PYBIND11_MODULE(_eval, m) {
  m.doc() = "facebench: protocols and metrics";
  facebench::bind_core(m);
#ifdef FACEBENCH_BIND_IO
  facebench::bind_io(m);
#endif
#ifdef FACEBENCH_BIND_METRICS
  facebench::bind_metrics(m);
#endif
#ifdef FACEBENCH_BIND_PROTOCOLS
  facebench::bind_protocols(m);
#endif
#ifdef FACEBENCH_BIND_REPORTS
  facebench::bind_reports(m);
#endif
  facebench::finish_module(m);
}

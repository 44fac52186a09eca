#include "modules.h"

// Everything else. _eval is imported first, whose types these functions take and return. torch is
// not: only what gives tensors needs it (facebench/_library.py).
PYBIND11_MODULE(_full, m) {
  m.doc() = "facebench: images, detection, datasets, networks, training";
  pybind11::module_::import("facebench._eval");
  m.attr("torch_version") = FACEBENCH_TORCH_VERSION;
  facebench::bind_images(m);
  facebench::bind_detection(m);
  facebench::bind_crops(m);
  facebench::bind_datasets(m);
  facebench::bind_nn(m);
  facebench::bind_losses(m);
  facebench::bind_embedding(m);
  facebench::bind_training(m);
  facebench::bind_pipeline(m);
  facebench::bind_timing(m);
  facebench::bind_synthetic(m);
  facebench::finish_module(m);
}

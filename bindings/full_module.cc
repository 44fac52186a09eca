#include "modules.h"

// Everything else. torch is imported first, so that its libraries and type casters are loaded, then
// _eval, whose types these functions take and return.
PYBIND11_MODULE(_full, m) {
  m.doc() = "facebench: images, detection, datasets, networks, training";
  pybind11::module_::import("torch");
  pybind11::module_::import("facebench._eval");
  m.attr("torch_version") = FACEBENCH_TORCH_VERSION;
#ifdef FACEBENCH_BIND_IMAGES
  facebench::bind_images(m);
#endif
#ifdef FACEBENCH_BIND_DETECTION
  facebench::bind_detection(m);
#endif
#ifdef FACEBENCH_BIND_CROPS
  facebench::bind_crops(m);
#endif
#ifdef FACEBENCH_BIND_DATASETS
  facebench::bind_datasets(m);
#endif
#ifdef FACEBENCH_BIND_NN
  facebench::bind_nn(m);
#endif
#ifdef FACEBENCH_BIND_LOSSES
  facebench::bind_losses(m);
#endif
#ifdef FACEBENCH_BIND_EMBEDDING
  facebench::bind_embedding(m);
#endif
#ifdef FACEBENCH_BIND_TRAINING
  facebench::bind_training(m);
#endif
#ifdef FACEBENCH_BIND_TIMING
  facebench::bind_timing(m);
#endif
#ifdef FACEBENCH_BIND_PIPELINE
  facebench::bind_pipeline(m);
#endif
  facebench::finish_module(m);
}
